"""The reader: a script in, the place of every placeholder out."""

from __future__ import annotations

from amplihack.recipes.placeholders import Placeholder, find_placeholders
from amplihack.recipes.templates.bash.commands import Commands
from amplihack.recipes.templates.bash.cursor import Findings
from amplihack.recipes.templates.bash.places import Mark, Place, Quoting
from amplihack.recipes.templates.bash.roles import heredoc_language

_BACKTICK_ESCAPES = "$`\\"


class Reader(Commands):
    def backquoted(self, *, in_double: bool) -> None:
        """Bash takes the backslashes out of `...` first and then reads what is left as a script."""
        opened = self.pos
        self.pos += 1
        closing = self.find("`", escapes=True)
        if closing < 0:
            raise self.unclosed("the backtick", opened)
        inner = self.unescaped(closing, _BACKTICK_ESCAPES + '"' * in_double)
        inner.commands("", 0)
        self.pos = closing + 1

    def unescaped(self, closing: int, escapes: str) -> Reader:
        """A reader for the text from here to `closing`, that knows where each character came from."""
        opened, text = self.pos - 1, self.text
        pieces: list[str] = []
        origin: list[int] = []
        placeholders: dict[int, Placeholder] = {}
        while self.pos < closing:
            start, length = self.pos, 1
            if found := self.here():
                placeholders[len(origin)] = found
                length = self.length_of(found)
            elif text[start] == "\\" and text[start + 1] in escapes and not self.placeholders.get(start + 1):
                self.pos += 1
            pieces.append(text[self.pos : self.pos + length])
            origin += self.origin[start : start + length]
            self.pos += length
        origin.append(self.origin[closing])
        around = (self, opened)
        return Reader("".join(pieces), placeholders, origin, findings=self.findings, around=around)


def find_places(script: str) -> tuple[Place, ...]:
    """Where every placeholder stands, in the order of the script. Raises TemplateError if the quoting
    never closes; a script without placeholders is not read at all."""
    placeholders = {found.start: found for found in find_placeholders(script)}
    if not placeholders:
        return ()
    findings = Findings()
    reader = Reader(script, placeholders, range(len(script) + 1), findings=findings)
    reader.commands("", 0)
    marks = sorted(findings.marks, key=lambda mark: mark.start)
    return tuple(_settled(mark, findings) for mark in marks)


def _settled(mark: Mark, findings: Findings) -> Place:
    if mark.array and mark.array not in findings.associative:
        mark.numeric = True
    if mark.quoting is Quoting.ARITHMETIC and not mark.array:
        mark.numeric = True
    if mark.variable in findings.integers:
        mark.numeric = True
    if mark.command and mark.heredoc:
        mark.language = heredoc_language(mark.command)
    return mark.settled()
