"""Read words: everything up to an unquoted blank or operator.

word       = [assignment] { quoted | expansion | pattern | "<(" list ")" | text }
assignment = name [subscript] ("=" | "+=") ["(" { word | subscript "=" word } ")"]
pattern    = ("@" | "?" | "*" | "+" | "!") "(" ... ")"
"""

from __future__ import annotations

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.constant_code import read_prompt
from amplihack.recipes.templates.bash.cursor import BLANKS, Cursor
from amplihack.recipes.templates.bash.expansions import quoted_or_plain, subscript, substitution
from amplihack.recipes.templates.bash.heredocs import newline
from amplihack.recipes.templates.bash.number_guards import Guard, Sink
from amplihack.recipes.templates.bash.places import Output, Quoting, Word, assign
from amplihack.recipes.templates.bash.variable_attributes import PROMPTS

_PLAIN = pattern(r"""[^ \t\n;&|<>()\\'"$`{]+""")
_SIMPLE = pattern(r"""[^ \t\n;&|<>()\\'"$`{=\[#]+(?=[ \t\n;&|]|\Z)""")  # most words, read at once
_NAME = pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_NO_BLANKS = pattern(r"\[(?:\{\{[^{}\n]*+\}\}|[^\s\]])++\]\+?=")
_EQUALS = pattern(r"\+?=")
_SPLIT_NAME = pattern(r"(?:\\\n)+[A-Za-z0-9_+=\[]")
_COMMENT = pattern(r"[^\n]*")
_METACHARACTERS = " \t\n;&|<>()"


def word(c: Cursor, *, assignable: bool = False, argument: bool = False) -> Word:
    """Read the word at this position.

    `assignable` says that bash would take `a=b` for an assignment here; `argument` says that it would be an
    argument of `declare` or a similar builtin.
    """
    if simple := _SIMPLE.match(c.text, c.pos, c.end):
        start, c.pos = c.pos, simple.end()
        return Word(simple.group(), [], c.origin[start], c.origin[c.pos])
    start, first, is_list = c.pos, c.count(), False
    assigns = _assignment(c, start, argument=argument) if assignable else ""
    value, equals = c.count(), c.pos
    if assigns and c.peek() == "(":
        is_list = True
        c.script.variables.saw_array(assigns)
        _list(c, assigns)
    while c.pos < c.end and _piece(c, start):
        pass
    found = finished(c, start, first, assigns, is_list=is_list)
    if assigns:
        assign(c.since(value), assigns)
        c.script.hold_name(assigns, found.plain.partition("=")[2])
        is_read = assigns in PROMPTS and read_prompt(c, found)
        c.script.flow.assign(assigns, found.text, is_read=is_read)
        for mark in found.marks:
            if isinstance(mark, Output):
                printed = c.text[mark.position : mark.position + mark.length]
                c.script.flow.print_into(assigns, printed)
        if not is_list:
            c.script.flow.received.append((assigns, c.sink(equals, value, Guard.NUMBER)))
            if c.text[equals - 2 : equals] == "+=":  # an integer is calculated with what it held before
                sink = Sink(c.origin[equals], assigns, Guard.NUMBER, "", c.script.quoted)
                c.script.flow.received.append((assigns, sink))
    return found


def finished(c: Cursor, start: int, first: int, assigns: str = "", *, is_list: bool = False) -> Word:
    """Return the text between `start` and here as a word, with the marks from number `first` on."""
    text = c.text_since(start, first)
    return Word(text, c.since(first), c.origin[start], c.origin[c.pos], assigns, is_list)


def _assignment(c: Cursor, start: int, *, argument: bool) -> str:
    """Move past `name=`, `name+=` or `name[...]=` and return the name; empty if there is none."""
    name = _NAME.match(c.text, start, c.end)
    if not name:
        return ""
    c.pos = name.end()
    if c.peek() == "\\" and _SPLIT_NAME.match(c.text, c.pos, c.end):
        # Refused instead of supported: nobody writes this, and a wrong reading would be unsafe.
        raise c.unreadable("a line is continued in the middle of a name", "write the name in one piece")
    first, sinks = c.count(), len(c.script.sinks)
    subscripted = c.peek() == "[" and (not argument or _NO_BLANKS.match(c.text, c.pos, c.end) is not None)
    if subscripted:
        subscript(c, name.group())
    if c.skip(_EQUALS):
        if subscripted:
            c.script.variables.saw_array(name.group())
        return name.group()
    _no_subscript(c, first, sinks)
    return ""


def _no_subscript(c: Cursor, first: int, sinks: int) -> None:
    """Undo a subscript that turned out to be a set of characters in a pattern."""
    c.script.sinks[sinks:] = [sink for sink in c.script.sinks[sinks:] if not sink.array]
    for mark in c.since(first):
        mark.array = ""
        if mark.quoting is Quoting.ARITHMETIC:
            mark.quoting = Quoting.BARE


def _piece(c: Cursor, start: int) -> bool:
    """Read one piece of a word, or return False at its end."""
    c.skip(_PLAIN)
    char = c.peek()
    if char in ("<", ">") and c.ahead(2)[1:] == "(":
        first = c.count()
        substitution(c, c.pos, Quoting.BARE)
        for mark in c.since(first):
            mark.feeds = True
    elif char == "(" and c.pos > start and c.text[c.pos - 1] in "@?*+!":
        _extended_glob(c)
    elif not char or char in _METACHARACTERS:
        return False
    else:
        quoted_or_plain(c, char)
    return True


def _extended_glob(c: Cursor) -> None:
    """Read `@(a|b)` and similar patterns: blanks and bars belong to the pattern."""
    opened = c.pos
    c.pos += 1
    with c.deeper():
        while c.pos < c.end:
            char = c.peek()
            if char == ")":
                c.pos += 1
                return
            if char == "(":
                _extended_glob(c)
            else:
                quoted_or_plain(c, char)
    raise c.unclosed("the pattern's parenthesis", opened)


def _list(c: Cursor, name: str) -> None:
    """Read `( words )` after `name=`. An element may begin with its own `[subscript]=`."""
    opened = c.pos
    elements: list[Word] = []
    c.script.lists.setdefault(name, []).append(elements)
    c.pos += 1
    with c.deeper():
        while c.pos < c.end:
            c.skip(BLANKS)
            char = c.peek()
            if char == ")":
                c.pos += 1
                return
            if char == "\n":
                newline(c)
            elif char == "#":
                comment(c)
            elif char == "[":
                _element(c, name)
            elif char and char in ";&|<>(" and c.ahead(2) not in ("<(", ">("):
                c.pos += 1
            elif char:
                elements.append(word(c))
                c.script.gives(elements[-1], name)
    raise c.unclosed("the array", opened)


def _element(c: Cursor, name: str) -> None:
    first, sinks = c.count(), len(c.script.sinks)
    subscript(c, name)
    if not _EQUALS.match(c.text, c.pos, c.end):
        _no_subscript(c, first, sinks)
        c.script.gives(word(c), name)
        return
    start, value = c.pos, c.count()
    word(c)
    text = c.text_since(start, value)
    equals = _EQUALS.match(text)
    offset = start + (equals.end() if equals else 0)
    c.script.flow.received.append((name, c.sink(offset, value, Guard.NUMBER)))


def comment(c: Cursor) -> None:
    found = _COMMENT.match(c.text, c.pos, c.end)
    c.take_all(Quoting.COMMENT, found.end() if found else c.end)
