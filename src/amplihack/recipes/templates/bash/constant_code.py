"""Read code of the script itself that a command gets in quotes: `eval '...'`, `trap '...'`, `bash -c '...'`,
`bash <<< '...'`, `alias x='...'`.

Nothing in it is a value, but it may calculate with variables that hold one.
"""

from __future__ import annotations

import re
from contextlib import suppress

from amplihack.errors import TemplateError
from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.cursor import Cursor
from amplihack.recipes.templates.bash.places import Word

_ALIAS = pattern(r"[A-Za-z_]\w*=")
_SINGLE = pattern(r"'([^']*)'")
_DOUBLE = pattern(r'"((?:[^"\\$`]|\\.)*)"')
_ESCAPED = pattern(r'\\([\\$`"])|.', re.DOTALL)


def read_code(c: Cursor, word: Word, *, own: bool) -> None:
    """Read a constant word as a script. `own` means that this shell runs it, and no other."""
    before = _ALIAS.match(word.text)
    text = word.text[before.end() :] if before else word.text
    single, double = _SINGLE.fullmatch(text), _DOUBLE.fullmatch(text)
    if word.marks or c.around or word.is_continued or not (single or double):
        return
    quoted = c.script.quoted
    c.script.starts_shells |= not own
    c.script.quoted = quoted or bool(double)
    _read(c, text[1:-1], word.start + len(word.text) - len(text) + 1, escapes=bool(double))
    c.script.quoted = quoted


def read_body(c: Cursor, start: int, end: int) -> None:
    """Read the body of a quoted heredoc that another shell runs."""
    if not c.around:
        c.script.starts_shells = True
        _read(c, c.text[start:end], c.origin[start], escapes=False)


def _read(c: Cursor, text: str, offset: int, *, escapes: bool) -> None:
    origin = list(range(offset, offset + len(text) + 1))
    if escapes:
        pieces = list(_ESCAPED.finditer(text))
        text = "".join(piece[1] or piece[0] for piece in pieces)
        origin = [offset + piece.start() for piece in pieces] + origin[-1:]
    script = c.script
    outer = (script.frame, script.functions, script.heredocs, script.depth)
    with suppress(TemplateError), script.variables.apart():  # told by the shell that runs it
        c.grammar.commands(Cursor(text, {}, origin, script, c.grammar), "", 0)
    script.frame, script.functions, script.heredocs, script.depth = outer
