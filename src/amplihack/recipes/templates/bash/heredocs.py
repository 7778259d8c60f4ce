"""Read heredocs: the delimiter after `<<`, and the body that begins after the next newline.

heredoc = ("<<" | "<<-") delimiter ... newline { line } delimiter newline
"""

from __future__ import annotations

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.constant_code import read_body
from amplihack.recipes.templates.bash.cursor import BLANKS, Cursor, Waiting
from amplihack.recipes.templates.bash.expansions import heredoc_text
from amplihack.recipes.templates.bash.places import Heredoc, Place, Quoting, Refusal, SimpleCommand, refuse
from amplihack.recipes.templates.bash.programs import input_language
from amplihack.recipes.templates.bash.value_flow import INPUT
from amplihack.records import Record

_PLAIN = pattern(r"""[^ \t\n;&|<>()\\'"`${]+""")


class Ending(Record):
    """Where a body ends, where its closing delimiter is, and where the script continues."""

    body: int
    closing: tuple[int, int]
    rest: int


def open_heredoc(c: Cursor, command: SimpleCommand) -> None:
    start, strips = c.pos, c.ahead(3) == "<<-"
    c.advance(3 if strips else 2)
    operator = (start, c.pos)
    c.skip(BLANKS)
    start, first = c.pos, c.count()
    delimiter, quoted = _delimiter(c)
    if not c.since(first):  # else it is refused: there is no telling where the body would end
        command.is_fed = True
        c.waiting.append(Waiting(operator, (start, c.pos), delimiter, quoted, strips, command))


def _delimiter(c: Cursor) -> tuple[str, bool]:
    """Read the delimiter. Return it without quotes, and whether it had any; nothing expands in it."""
    pieces: list[str] = []
    quoted = False
    while c.pos < c.end:
        char = c.peek()
        if c.text.startswith("\\\n", c.pos, c.end):
            c.pos += 2
        elif char in ("'", '"', "\\"):
            pieces.append(_quoted_delimiter(c, char))
            quoted = True
        elif c.here():
            c.take(Quoting.BARE).refusal = Refusal.DELIMITER
        elif found := _PLAIN.match(c.text, c.pos, c.end):
            pieces.append(found.group())
            c.pos = found.end()
        elif char == "`" or c.ahead(2) in ("$(", "${"):
            raise c.unreadable(
                "the delimiter of a heredoc is an expansion", "write a fixed word, such as EOF"
            )
        elif char in "${":
            pieces.append("" if c.ahead(2) in ("$'", '$"') else char)
            c.pos += 1
        else:
            break
    return "".join(pieces), quoted


def _quoted_delimiter(c: Cursor, quote: str) -> str:
    opened, first = c.pos, c.count()
    closing = c.pos + 1 if quote == "\\" else c.text.find(quote, c.pos + 1, c.end)
    if closing < 0:
        raise c.unclosed("the heredoc delimiter's quote", opened)
    c.take_all(Quoting.BARE, min(closing + 1, c.end))
    refuse(c.since(first), Refusal.DELIMITER)
    text = c.text[opened + 1 : c.pos]
    return text if quote == "\\" else text[:-1]


def newline(c: Cursor) -> None:
    """Read a newline that ends a line of commands. The bodies of opened heredocs follow it, in order."""
    c.pos += 1
    if c.waiting:
        waiting, c.waiting = c.waiting, []
        for heredoc in waiting:
            _body(c, heredoc)


def _body(c: Cursor, waiting: Waiting) -> None:
    start, first = c.pos, c.count()
    ending = _ending(c, waiting)
    outer, c.end = c.end, ending.body
    if waiting.quoted:
        c.take_all(Quoting.QUOTED_HEREDOC, ending.body)
        waiting.command.texts.append(c.text[start : ending.body])
    else:
        c.script.heredocs += 1
        heredoc_text(c)
        c.script.heredocs -= 1
        c.script.flow.assign(INPUT, c.text[start : ending.body])
        body = (c.origin[start], c.text[start : ending.body])
        waiting.command.bodies.append(body)
        c.script.fill_from(waiting.command, *body)
    c.pos, c.end = ending.rest, outer
    marks = c.since(first)
    if waiting.command.words and input_language(waiting.command) == "bash":
        if marks:
            c.script.flow.run(c.text[start : ending.body])
        else:
            read_body(c, start, ending.body, quoted=waiting.quoted)
    if not marks:
        return
    heredoc = Heredoc(
        operator=_span(c, waiting.operator),
        word=_span(c, waiting.word),
        body=_span(c, (start, ending.body)),
        closing=_span(c, ending.closing),
        delimiter=waiting.delimiter,
        quoted=waiting.quoted,
        strips_tabs=waiting.strips_tabs,
        nested=c.closer == ")",
        within=c.script.heredocs > 0,
    )
    for mark in marks:
        mark.feeds = mark.is_input = True
        for place in mark.places:
            place.command = place.command or waiting.command
        if isinstance(mark, Place):
            mark.heredoc = heredoc
            if waiting.quoted and c.backticks:
                mark.refusal = Refusal.BACKTICKS


def _span(c: Cursor, span: tuple[int, int]) -> tuple[int, int]:
    return c.origin[span[0]], c.origin[span[1]]


def _ending(c: Cursor, waiting: Waiting) -> Ending:
    """Find the line that is the delimiter. What stands in another heredoc was joined with that one's lines.

    Inside `$(...)` bash also accepts a line that begins with the delimiter and holds a `)`.
    """
    position = c.pos
    while position < c.end:
        line, after = _logical_line(c, position, joins=not waiting.quoted or c.script.heredocs > 0)
        bare = line.lstrip("\t") if waiting.strips_tabs else line
        opening = position + len(line) - len(bare)
        closing = (opening, opening + len(waiting.delimiter))
        if bare == waiting.delimiter:
            return Ending(position, closing, after)
        rest = bare.removeprefix(waiting.delimiter)
        if c.closer == ")" and rest != bare and ")" in rest:
            return Ending(position, closing, closing[1])
        position = after
    raise c.unclosed(f"the heredoc {waiting.delimiter}", waiting.operator[0])


def _logical_line(c: Cursor, position: int, *, joins: bool) -> tuple[str, int]:
    """Return the line without its newline, and where the next begins. A final backslash joins lines."""
    pieces: list[str] = []
    while True:
        newline = c.text.find("\n", position, c.end)
        line = c.text[position : c.end if newline < 0 else newline]
        position = c.end if newline < 0 else newline + 1
        backslashes = len(line) - len(line.rstrip("\\"))
        if newline < 0 or not joins or backslashes % 2 == 0:
            return "".join([*pieces, line]), position
        pieces.append(line[:-1])
