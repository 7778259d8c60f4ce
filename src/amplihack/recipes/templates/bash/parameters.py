"""Read parameter expansions.

parameter = "${" ["!"] ["#"] name [subscript] [operation] "}"
operation = (":-" | "=" | ":?" ...) word | ":" arithmetic | ("#" | "%" | "^" ...) pattern
          | "/" pattern ["/" word]
"""

from __future__ import annotations

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.cursor import Cursor
from amplihack.recipes.templates.bash.expansions import double, expandable, single, subscript
from amplihack.recipes.templates.bash.number_guards import Guard, Sink
from amplihack.recipes.templates.bash.places import Quoting, Refusal, assign, hold, refuse
from amplihack.recipes.templates.bash.value_flow import ARGUMENTS, identifiers

_HEAD = pattern(r"!?#?(?P<name>[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[-@*#?$!])?")
_LISTS_NAMES = pattern(r"[@*]\}")  # `${!x@}`
_NAME_REST = pattern(r"[A-Za-z0-9_]+")
_DEFAULT = pattern(r":?[-=?+]")
_PATTERN = pattern(r"##?|%%?|\^\^?|,,?|~~?")
_REPLACE = pattern(r"//?")
_OPERAND_RUN = pattern(r"""[^}/\\'"$`{]+""")


def parameter(c: Cursor, quoting: Quoting) -> None:
    opened = c.pos
    c.advance(2)
    with c.deeper():
        name = _name(c)
        start, first = c.pos, c.count()
        if subscripted := c.peek() == "[":
            subscript(c, name)
        _note_evaluated(c, opened, name, c.text_since(start, first))
        _operation(c, name, quoting, subscripted=subscripted, indirect=c.text.startswith("${!", opened))
        first = c.count()
        while c.peek() != "}":
            if c.pos >= c.end:
                raise c.unclosed("the ${", opened)
            _operand_step(c, Quoting.BARE)
        refuse(c.since(first), Refusal.NAME)  # as in `${x@{{v}}}`: bash takes no operator from a value
        c.pos += 1
        c.script.ends[c.origin[opened]] = c.origin[c.pos - 1] + 1


def _note_evaluated(c: Cursor, opened: int, name: str, index: str) -> None:
    """Note `${!x}`, which takes a text for a name, and `${x@P}`, which expands one."""
    prompts, indirect = c.text.startswith("@P}", c.pos), c.text.startswith("${!", opened)
    if index in ("[@]", "[*]") or _LISTS_NAMES.match(c.text, c.pos, c.end):
        indirect = False  # these are names of variables, or keys
    if not name or not (prompts or indirect):
        return
    flow = c.script.flow
    (flow.evaluated if prompts else flow.taken).add(ARGUMENTS if name.isdigit() or name in "@*" else name)
    if any(sign in index for sign in "\0\1`"):  # it cannot be written a second time, for a guard
        c.script.flow.blind = True
        return
    proven = c.script.variables.proven_in(name + index)
    for guard, text in ((Guard.NAME, name + index), (Guard.TEXT, "!" * indirect + name + index)):
        if indirect if guard is Guard.NAME else prompts:
            sink = Sink(c.origin[opened], f"${{{text}}}", guard, "", c.script.quoted, proven)
            c.script.sinks.append(sink)


def _name(c: Cursor) -> str:
    """Read the name. A placeholder can neither be the name nor a part of it."""
    head = _HEAD.match(c.text, c.pos, c.end)
    c.pos = head.end() if head else c.pos
    while c.here():
        c.take(Quoting.BARE).refusal = Refusal.NAME
        c.skip(_NAME_REST)
    return (head and head["name"]) or ""


def _operation(c: Cursor, name: str, quoting: Quoting, *, subscripted: bool, indirect: bool) -> None:
    """Read the operator and its words, up to the closing brace.

    A pattern or replacement in quotes is literal even where the whole `${...}` is in double quotes.
    """
    first = c.count()
    if c.skip(_DEFAULT):
        assigned, start = c.text[c.pos - 1] == "=", c.pos
        _operand(c, quoting)
        if assigned:
            text = c.text_since(start, first)
            assign(c.since(first), name)
            c.script.flow.assign(name, text)
            if indirect:  # it is assigned to a variable that only the run knows, as through a nameref
                c.script.flow.unknown = True
                c.script.variables.references.add(name)
            if subscripted:
                c.script.variables.saw_array(name)
            c.script.flow.received.append((name, c.sink(start, first, Guard.NUMBER)))
        if quoting is Quoting.ARITHMETIC:
            hold(c.since(first))
    elif c.peek() == ":":
        start = c.pos
        _operand(c, Quoting.ARITHMETIC)
        c.evaluates(start + 1, first, Guard.NUMBER)
        c.script.flow.evaluated.update(identifiers(c.text[start : c.pos]))
        hold(c.since(first))
    elif c.skip(_PATTERN):
        _pattern(c)
    elif c.skip(_REPLACE):
        _pattern(c, until="/")
        first = c.count()
        _operand(c, quoting if quoting is Quoting.ARITHMETIC else Quoting.BARE)
        if quoting is Quoting.ARITHMETIC:
            hold(c.since(first))


def _pattern(c: Cursor, *, until: str = "") -> None:
    first = c.count()
    _operand(c, Quoting.BARE, until=until)
    for mark in c.since(first):
        mark.inert = True


def _operand(c: Cursor, quoting: Quoting, *, until: str = "") -> None:
    while c.pos < c.end:
        c.skip(_OPERAND_RUN)
        char = c.peek()
        if char and char in until + "}":
            c.pos += char == until
            break
        _operand_step(c, quoting)


def _operand_step(c: Cursor, quoting: Quoting) -> None:
    char = c.peek()
    if char == "'" and quoting is Quoting.BARE:
        single(c)
    elif char == "'":
        _literal_single(c, quoting)
    elif char == '"':
        double(c)
    else:
        expandable(c, quoting)


def _literal_single(c: Cursor, quoting: Quoting) -> None:
    """Read `'...'` in `"${v:-'...'}"`: bash pairs these quotes but keeps them as characters."""
    opened = c.pos
    c.pos += 1
    closing = c.find("'")
    if closing < 0:
        raise c.unclosed("the single quote", opened)
    outer, c.end = c.end, closing
    while c.pos < c.end:
        expandable(c, quoting)
    c.pos, c.end = closing + 1, outer
