"""Tell scripts that start no program: they need only the variables that they mention.

    script  = command { (newline | ";" | "&&" | "||") command }
    command = (echo | true | false | : | pwd | exit | printf FORMAT) { argument or redirection }

An argument is made of plain characters, texts in quotes and `$NAME`, in which bash finds nothing to run.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from amplihack.patterns import pattern
from amplihack.recipes.templates.scripts import PREPARED

_VALUE = r"\$(?:[A-Za-z_][A-Za-z0-9_]*+|\{[A-Za-z_][A-Za-z0-9_]*+\})"
_DOUBLE = rf'"(?:[^"\\$`]|\\.|{_VALUE})*+"'
_SINGLE = r"'[^']*+'"
_ARGUMENT = rf"(?:[A-Za-z0-9_./:,@%+=^~*?>-]|(?<=>)&(?=[0-9])|{_VALUE}|{_DOUBLE}|{_SINGLE})++"
# A format is no option: `printf -v` calculates with its argument.
_FORMAT = r"""[ \t]++(?=["'][^"'$-]|[A-Za-z%])"""
_COMMAND = rf"(?:(?:echo|true|false|:|pwd|exit)(?![^ \t\n;&|])|printf{_FORMAT})(?:[ \t]*+{_ARGUMENT})*+"
# A command is named once: compiling it twice takes longer than telling a hundred scripts.
_BEFORE = r"(?:\A\s*+|(?!\A)(?:\n++|;|&&|\|\|)[ \t\n]*+)"
_SCRIPT = pattern(rf"(?:{_BEFORE}{_COMMAND}[ \t]*+)++;?+\s*+")
_START_UP = ("BASH_ENV", "BASH_FUNC_", "BASHOPTS", "SHELLOPTS")


@lru_cache(maxsize=PREPARED)  # the rounds of a loop run one script
def starts_no_program(source: str) -> bool:
    """Tell whether bash does all of a script by itself. In doubt it does not.

    Nor does it where it writes a time, for which it looks for TZ as a program would.
    """
    return "%(" not in source and _SCRIPT.fullmatch(source) is not None


def changes_bash(names: Iterable[str]) -> bool:
    """Tell whether one of these variables lets bash run something of its own, whatever the script."""
    return any(name.startswith(_START_UP) for name in names)
