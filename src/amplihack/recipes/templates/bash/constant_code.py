"""Read code of the script itself that a command gets in quotes: `eval '...'`, `trap '...'`, `bash -c '...'`,
`bash <<< '...'`, `alias x='...'`.

Nothing in it is a value, but it may calculate with variables that hold one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress

from amplihack.errors import TemplateError
from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.cursor import Cursor, Script
from amplihack.recipes.templates.bash.expansions import heredoc_text
from amplihack.recipes.templates.bash.places import Word

_ALIAS = pattern(r"[A-Za-z_]\w*=")
_SINGLE = pattern(r"'([^']*)'")
_DOUBLE = pattern(r'"((?:[^"\\$`]|\\.)*)"')
_MIXED = pattern(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)  # with expansions in it
_PIECE = pattern(r"""\\(?P<escaped>[\\$`"])|\$\{[^{}]*\}|\$(?:\w+|[@*#?!$-])|[\0\1]""")
_CONSTANT = pattern(r"(?:[^\\$`]|\\.)*", re.DOTALL)
_ESCAPED_IN_HEREDOC = pattern(r"\\([\\$`])|.", re.DOTALL)
_ESCAPED = pattern(r'\\([\\$`"])|.', re.DOTALL)


def read_code(c: Cursor, word: Word, *, own: bool) -> bool:
    """Read a word as a script, if it is a constant; tell whether it is.

    `own` means that this shell runs it, and no other.
    """
    before = _ALIAS.match(word.text)
    text = word.text[before.end() :] if before else word.text
    single, double = _SINGLE.fullmatch(text), _DOUBLE.fullmatch(text)
    if word.marks or c.around or word.is_continued or not (single or double):
        return False
    quoted = c.script.quoted
    c.script.starts_shells |= not own
    c.script.quoted = quoted or bool(double)
    _read(c, text[1:-1], word.start + len(word.text) - len(text) + 1, escapes=_ESCAPED if double else None)
    c.script.quoted = quoted
    return True


def read_body(c: Cursor, start: int, end: int, *, quoted: bool) -> None:
    """Read the body of a heredoc that another shell runs."""
    text = c.text[start:end]
    if c.around or not (quoted or _CONSTANT.fullmatch(text)):
        c.script.flow.run(text)
        return
    c.script.starts_shells = True
    outer, c.script.quoted = c.script.quoted, c.script.quoted or not quoted
    _read(c, text, c.origin[start], escapes=None if quoted else _ESCAPED_IN_HEREDOC)
    c.script.quoted = outer


def read_prompt(c: Cursor, word: Word) -> bool:
    """Read a constant that bash expands before it shows a command, as in `PS4='+ $(( n )) '`.

    Tell whether it is one.
    """
    constant = _SINGLE.search(word.text)
    if word.marks or c.around or word.is_continued or not constant or constant.end() != len(word.text):
        return False
    _read(c, constant[1], word.start + constant.start(1), escapes=None, grammar=_prompt)
    return True


def _prompt(c: Cursor, _: str, __: int) -> None:
    heredoc_text(c)


def calculates_with(c: Cursor, word: Word) -> set[str] | None:
    """Return the variables that code calculates with or takes for names, apart from what is mixed into it.

    None if it cannot be read: the mixture may be anything.
    """
    double = _MIXED.fullmatch(word.text)
    if not double:
        return None
    code = _PIECE.sub(lambda found: found["escaped"] or "_", double[1])
    script = Script()
    try:
        c.grammar.commands(Cursor(code, {}, range(len(code) + 1), script, c.grammar), "", 0)
    except TemplateError:
        return None
    return script.flow.evaluated | script.flow.unread | script.flow.taken


def _read(
    c: Cursor,
    text: str,
    offset: int,
    *,
    escapes: re.Pattern[str] | None,
    grammar: Callable[[Cursor, str, int], None] | None = None,
) -> None:
    origin = list(range(offset, offset + len(text) + 1))
    if escapes:
        pieces = list(escapes.finditer(text))
        text = "".join(piece[1] or piece[0] for piece in pieces)
        origin = [offset + piece.start() for piece in pieces] + origin[-1:]
    script = c.script
    outer = (script.frame, script.functions, script.heredocs, script.depth)
    with suppress(TemplateError), script.variables.apart():  # told by the shell that runs it
        (grammar or c.grammar.commands)(Cursor(text, {}, origin, script, c.grammar), "", 0)
    script.frame, script.functions, script.heredocs, script.depth = outer
