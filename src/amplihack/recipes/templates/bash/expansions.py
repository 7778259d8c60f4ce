"""Read quotes and expansions: everything that can stand inside a word.

    quoted       = "'" text "'" | "$'" text "'" | '"' { expansion | text } '"'
    expansion    = "$(" list ")" | "`" list "`" | "${" parameter "}"
                 | "$((" arithmetic "))" | "$[" arithmetic "]"
    subscript    = "[" { quoted | expansion | text } "]"

Each function stands at the opening of its construct and ends behind the closing.
"""

from __future__ import annotations

from amplihack.patterns import pattern
from amplihack.recipes.placeholders import Placeholder
from amplihack.recipes.templates.bash.cursor import Cursor
from amplihack.recipes.templates.bash.number_guards import Guard
from amplihack.recipes.templates.bash.parentheses import is_arithmetic
from amplihack.recipes.templates.bash.places import Quoting, hold
from amplihack.recipes.templates.bash.value_flow import identifiers

_DOUBLE_RUN = pattern(r"""[^"\\$`{]+""")
_HEREDOC_RUN = pattern(r"[^\\$`{]+")
_ARITHMETIC_RUN = pattern(r"[^()\[\]\\$`{;]+")
_SUBSCRIPT = pattern(r"(\$\{[!#]?\w+)\[[^\[\]]*\]")
_BACKTICK_ESCAPES = "$`\\"


def single(c: Cursor) -> None:
    opened = c.pos
    c.pos += 1
    closing = c.find("'")
    if closing < 0:
        raise c.unclosed("the single quote", opened)
    c.take_all(Quoting.SINGLE, closing)
    c.pos += 1


def ansi(c: Cursor) -> None:
    opened = c.pos
    c.advance(2)
    while c.pos < c.end:
        char = c.text[c.pos]
        if char == "'":
            c.pos += 1
            return
        if char == "\\":
            backslash(c, Quoting.ANSI)
        elif c.here():
            c.take(Quoting.ANSI)
        else:
            c.pos += 1
    raise c.unclosed("the $' quote", opened)


def double(c: Cursor) -> None:
    opened = c.pos
    c.pos += 1
    with c.deeper():
        while c.pos < c.end:
            c.skip(_DOUBLE_RUN)
            if c.peek() == '"':
                c.pos += 1
                return
            expandable(c, Quoting.DOUBLE)
    raise c.unclosed("the double quote", opened)


def translated(c: Cursor) -> None:
    """Read `$"..."`. With a value inside, no translation can exist, so the `$` is removed."""
    dollar_sign, first = c.pos, c.count()
    c.advance(1)
    double(c)
    if c.count() > first:
        c.edit(dollar_sign, dollar_sign + 1, "")


def quoted_or_plain(c: Cursor, char: str) -> None:
    """Read one piece of a word in which blanks and operators have no meaning."""
    if char == "'":
        single(c)
    elif char == '"':
        double(c)
    elif char == "$" and c.ahead(2) == '$"':
        translated(c)
    else:
        expandable(c, Quoting.BARE)


def heredoc_text(c: Cursor) -> None:
    """Read the body of an unquoted heredoc: it has expansions, but no quotes."""
    with c.deeper():
        while c.pos < c.end:
            c.skip(_HEREDOC_RUN)
            expandable(c, Quoting.HEREDOC)


def expandable(c: Cursor, quoting: Quoting) -> None:
    """Read one step of text in which only backslash, `$` and backtick are special."""
    char = c.peek()
    if char == "\\":
        backslash(c, quoting)
    elif char == "$":
        dollar(c, quoting)
    elif char == "`":
        backquoted(c, quoting)
    elif char == "{" and c.here():
        c.take(quoting)
    else:
        c.pos += 1


def backslash(c: Cursor, quoting: Quoting) -> None:
    """Read a backslash and what it escapes; before a placeholder it is an ordinary character."""
    c.pos += 1
    if c.here():
        c.take(quoting, escaped=True)
    elif c.pos < c.end:
        c.pos += 1


def dollar(c: Cursor, quoting: Quoting) -> None:
    opened, following = c.pos, c.ahead(3)
    if following == "$((" and is_arithmetic(c, skipping=1):
        c.advance(3)
        arithmetic(c, "))", "the $((", opened)
    elif following.startswith("$("):
        substitution(c, opened, quoting)
    elif following.startswith("${"):
        c.grammar.parameter(c, quoting)
    elif following.startswith("$["):
        c.advance(2)
        arithmetic(c, "]", "the $[", opened)
    elif following.startswith("$'") and quoting is Quoting.BARE:
        ansi(c)
    else:
        c.advance(2 if following.startswith("$$") else 1)  # `$${` is a number and a brace


def substitution(c: Cursor, opened: int, quoting: Quoting) -> None:
    """Read `$(...)`, `<(...)` or `>(...)`: a list of commands."""
    first = c.count()
    c.advance(2)
    inside = c.pos
    c.grammar.commands(c, ")", opened)
    c.take_output(opened, (inside, c.pos - 1), first, quoting)


def backquoted(c: Cursor, quoting: Quoting) -> None:
    """Read backticks: bash removes the backslashes, then reads the rest as a script."""
    opened, first = c.pos, c.count()
    c.pos += 1
    closing = c.find("`", escapes=True)
    if closing < 0:
        raise c.unclosed("the backtick", opened)
    inner = _unescaped(c, closing, _BACKTICK_ESCAPES + '"' * (quoting is Quoting.DOUBLE))
    inner.grammar.commands(inner, "", 0)
    c.pos = closing + 1
    c.take_output(opened, (opened + 1, closing), first, quoting)


def _unescaped(c: Cursor, closing: int, escapes: str) -> Cursor:
    """Return a cursor for the text from here to `closing` that maps each character to its origin."""
    opened, text = c.pos - 1, c.text
    pieces: list[str] = []
    origin: list[int] = []
    placeholders: dict[int, Placeholder] = {}
    while c.pos < closing:
        start, length = c.pos, 1
        if found := c.here():
            placeholders[len(origin)] = found
            length = found.end - found.start
        elif text[start] == "\\" and text[start + 1] in escapes and not c.placeholders.get(start + 1):
            c.pos += 1
        pieces.append(text[c.pos : c.pos + length])
        origin += c.origin[start : start + length]
        c.pos += length
    origin.append(c.origin[closing])
    return Cursor("".join(pieces), placeholders, origin, c.script, c.grammar, around=(c, opened))


def arithmetic(c: Cursor, closer: str, construct: str, opened: int) -> None:
    """Read an expression up to its closer, with balanced parentheses, or brackets in `$[...]`."""
    nested, opener, first, start = 0, "[" if closer == "]" else "(", c.count(), c.pos
    part = (start, first)  # `for ((a; b; c))` has three, each evaluated by itself
    with c.deeper():
        while c.pos < c.end:
            c.skip(_ARITHMETIC_RUN)
            char = c.peek()
            if not nested and char == closer[0] and c.ahead(len(closer)) == closer:
                c.evaluates(*part, Guard.NUMBER)
                c.advance(len(closer))
                hold(c.since(first))
                # Subscripts in `${...}` are evaluated or not where they stand.
                expression = _SUBSCRIPT.sub(r"\1", c.text[start : c.pos])
                c.script.flow.count(expression)
                c.script.variables.saw_elements(expression)
                c.script.flow.evaluated.update(identifiers(expression))
                return
            if char == ";":
                c.evaluates(*part, Guard.NUMBER)
                part = (c.pos + 1, c.count())
            nested += (char == opener) - (char == closer[0])
            expandable(c, Quoting.ARITHMETIC)
    raise c.unclosed(construct, opened)


def subscript(c: Cursor, array: str) -> None:
    """Read `[...]` after an array's name: arithmetic, or a key if the array is associative."""
    opened, first, nested = c.pos, c.count(), 0
    c.pos += 1
    with c.deeper():
        while c.pos < c.end:
            char = c.peek()
            if char == "]" and not nested:
                c.pos += 1
                break
            nested += (char == "[") - (char == "]")
            if char in ("'", '"'):
                quoted_or_plain(c, char)
            else:
                expandable(c, Quoting.ARITHMETIC)
        else:
            raise c.unclosed("the subscript", opened)
    key = c.script.variables.is_proven(array)
    c.evaluates(opened + 1, first, Guard.NUMBER, array, key=key)
    if not key:
        c.script.flow.evaluated.update(identifiers(c.text[opened : c.pos]))
    for mark in c.since(first):
        if not mark.array and not mark.inert:
            mark.array, mark.key = array, key
