"""Find the word that a shell takes for its program where more options stand before it.

bash -c -e X      bash -ce X      bash -c -- X      bash -co pipefail X
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from amplihack.recipes.templates.bash.places import Word
from amplihack.recipes.templates.bash.program_tables import OPTIONS_BEFORE_FILE

_LETTERS = "[abcefhiklmnoprstuvxBCDEHIOPT]*"  # the options of shells
_HAS_PROGRAM = f"-{_LETTERS}c{_LETTERS}"


def shell_program(arguments: Sequence[Word]) -> list[Word]:
    """Return the first operand if one of the options before it is `-c`, alone or among other letters."""
    has_program = skips = False
    for at, word in enumerate(arguments):
        text = word.plain
        if skips:
            skips = False
        elif text in ("--", "-"):
            return list(arguments[at + 1 : at + 2]) if has_program else []
        elif text.startswith(("-", "+")):
            has_program |= re.fullmatch(_HAS_PROGRAM, text) is not None
            skips = re.fullmatch(OPTIONS_BEFORE_FILE["bash"], text) is not None
        else:
            return [word] if has_program else []
    return []
