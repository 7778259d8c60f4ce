"""Heredocs: the delimiter after `<<`, and the body that begins behind the next newline."""

from __future__ import annotations

import re
from dataclasses import dataclass

from amplihack.recipes.templates.bash.places import Command, Heredoc, Quoting, Refusal
from amplihack.recipes.templates.bash.words import BLANKS, Words

_PLAIN = re.compile(r"""[^ \t\n;&|<>()\\'"${]+""")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A heredoc whose body has not come yet."""

    operator: tuple[int, int]
    word: tuple[int, int]
    delimiter: str
    quoted: bool
    command: Command


@dataclass(frozen=True, slots=True)
class Ending:
    """Where a body ends, where its closing delimiter lies, and where the script goes on."""

    body: int
    closing: tuple[int, int]
    rest: int


class Heredocs(Words):
    waiting: tuple[Waiting, ...] = ()
    closer: str = ""

    def open_heredoc(self, command: Command) -> None:
        start = self.pos
        self.pos += 3 if self.peek(3) == "<<-" else 2
        operator = (start, self.pos)
        self.skip(BLANKS)
        start = self.pos
        first = len(self.findings.marks)
        delimiter, quoted = self.delimiter()
        if self.since(first):
            return  # refused: there is no telling where the body would end
        waiting = Waiting(operator, (start, self.pos), delimiter, quoted, command)
        self.waiting = (*self.waiting, waiting)

    def delimiter(self) -> tuple[str, bool]:
        """The delimiter without its quotes, and whether it had any; nothing is expanded in it."""
        pieces: list[str] = []
        quoted = False
        while self.pos < self.end:
            char = self.peek()
            if char in ("'", '"', "\\"):
                pieces.append(self.quoted_delimiter(char))
                quoted = True
            elif self.here():
                self.take(Quoting.BARE).refusal = Refusal.DELIMITER
            elif found := _PLAIN.match(self.text, self.pos, self.end):
                pieces.append(found.group())
                self.pos = found.end()
            elif char in "${":
                pieces.append("" if self.peek(2) in ("$'", '$"') else char)
                self.pos += 1
            else:
                break
        return "".join(pieces), quoted

    def quoted_delimiter(self, quote: str) -> str:
        opened = self.pos
        closing = self.pos + 1 if quote == "\\" else self.text.find(quote, self.pos + 1, self.end)
        if closing < 0:
            raise self.unclosed("the heredoc delimiter's quote", opened)
        first = len(self.findings.marks)
        self.take_all(Quoting.BARE, min(closing + 1, self.end))
        for mark in self.since(first):
            mark.refusal = Refusal.DELIMITER
        text = self.text[opened + 1 : self.pos]
        return text.replace("\n", "") if quote == "\\" else text[:-1]

    def newline(self) -> None:
        """A newline that ends a line of commands: the bodies that were announced follow, in order."""
        self.pos += 1
        waiting, self.waiting = self.waiting, ()
        for heredoc in waiting:
            self.body(heredoc)

    def body(self, waiting: Waiting) -> None:
        start, first = self.pos, len(self.findings.marks)
        ending = self.ending(waiting)
        outer, self.end = self.end, ending.body
        if waiting.quoted:
            self.take_all(Quoting.QUOTED_HEREDOC, ending.body)
        else:
            self.heredoc_text()
        self.pos, self.end = ending.rest, outer
        heredoc = Heredoc(
            operator=self.span(waiting.operator),
            word=self.span(waiting.word),
            body=self.span((start, ending.body)),
            closing=self.span(ending.closing),
            delimiter=waiting.delimiter,
            quoted=waiting.quoted,
            strips_tabs=waiting.operator[1] - waiting.operator[0] == 3,
            nested=self.closer == ")",
        )
        for mark in self.since(first):
            mark.heredoc, mark.command = heredoc, waiting.command
            if waiting.quoted and self.backticks:
                mark.refusal = Refusal.BACKTICKS

    def span(self, span: tuple[int, int]) -> tuple[int, int]:
        return self.origin[span[0]], self.origin[span[1]]

    def ending(self, waiting: Waiting) -> Ending:
        """The line that is the delimiter; inside `$(...)` bash also takes one that begins with it
        and holds a `)`."""
        strips = waiting.operator[1] - waiting.operator[0] == 3
        position = self.pos
        while position < self.end:
            line, after = self.logical_line(position, joins=not waiting.quoted)
            bare = line.lstrip("\t") if strips else line
            opening = position + len(line) - len(bare)
            closing = (opening, opening + len(waiting.delimiter))
            if bare == waiting.delimiter:
                return Ending(position, closing, after)
            rest = bare.removeprefix(waiting.delimiter)
            if self.closer == ")" and rest != bare and ")" in rest:
                return Ending(position, closing, closing[1])
            position = after
        raise self.unclosed(f"the heredoc {waiting.delimiter}", waiting.operator[0])

    def logical_line(self, position: int, *, joins: bool) -> tuple[str, int]:
        """The line without its newline and where the next begins; a last backslash joins two lines."""
        pieces: list[str] = []
        while True:
            newline = self.text.find("\n", position, self.end)
            line = self.text[position : self.end if newline < 0 else newline]
            position = self.end if newline < 0 else newline + 1
            backslashes = len(line) - len(line.rstrip("\\"))
            if newline < 0 or not joins or backslashes % 2 == 0:
                return "".join([*pieces, line]), position
            pieces.append(line[:-1])
