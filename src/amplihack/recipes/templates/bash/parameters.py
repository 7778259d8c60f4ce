"""`${...}`: a name, perhaps a subscript, perhaps an operator and the words it works on."""

from __future__ import annotations

import re

from amplihack.recipes.templates.bash.expansions import Expansions
from amplihack.recipes.templates.bash.places import Quoting, Refusal

_HEAD = re.compile(r"!?#?(?P<name>[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[-@*#?$!])?")
_DEFAULT = re.compile(r":?[-=?+]")
_PATTERN = re.compile(r"##?|%%?|\^\^?|,,?")
_REPLACE = re.compile(r"//?")
_OPERAND_RUN = re.compile(r"""[^}/\\'"$`{]+""")


class Parameters(Expansions):
    def parameter(self, quoting: Quoting) -> None:
        opened = self.pos
        self.pos += 2
        with self.deeper():
            name = self.parameter_name()
            if self.peek() == "[":
                self.subscript(name)
            self.operation(name, quoting)
            while self.peek() != "}":
                if self.pos >= self.end:
                    raise self.unclosed("the ${", opened)
                self.operand_step(Quoting.BARE)
            self.pos += 1

    def parameter_name(self) -> str:
        """The name, which a placeholder can neither be nor be a part of."""
        head = _HEAD.match(self.text, self.pos, self.end)
        self.pos = head.end() if head else self.pos
        while self.here():
            self.take(Quoting.BARE).refusal = Refusal.NAME
            self.skip(re.compile(r"[A-Za-z0-9_]+"))
        return (head and head.group("name")) or ""

    def operation(self, name: str, quoting: Quoting) -> None:
        """The operator and its words, up to the closing brace.

        A pattern or replacement in quotes is literal even where the whole `${...}` is in double quotes.
        """
        if self.matches(_DEFAULT):
            assigned = name if self.text[self.pos - 1] == "=" else ""
            self.operand(quoting, variable=assigned)
        elif self.peek() == ":":
            self.operand(Quoting.ARITHMETIC)
        elif self.matches(_PATTERN):
            self.operand(Quoting.BARE)
        elif self.matches(_REPLACE):
            self.operand(Quoting.BARE, until="/")
            self.operand(quoting if quoting is Quoting.ARITHMETIC else Quoting.BARE)

    def matches(self, pattern: re.Pattern[str]) -> bool:
        start = self.pos
        self.skip(pattern)
        return self.pos > start

    def operand(self, quoting: Quoting, *, until: str = "", variable: str = "") -> None:
        first = len(self.findings.marks)
        while self.pos < self.end:
            self.skip(_OPERAND_RUN)
            char = self.peek()
            if char and char in until + "}":
                self.pos += char == until
                break
            self.operand_step(quoting)
        for mark in self.since(first):
            mark.variable = mark.variable or variable

    def operand_step(self, quoting: Quoting) -> None:
        char = self.peek()
        if char == "'" and quoting is Quoting.BARE:
            self.single()
        elif char == "'":
            self.literal_single(quoting)
        elif char == '"':
            self.double()
        else:
            self.expandable(quoting)

    def literal_single(self, quoting: Quoting) -> None:
        """`"${v:-'...'}"`: bash pairs these quotes, yet they are ordinary characters of the text."""
        opened = self.pos
        self.pos += 1
        closing = self.find("'")
        if closing < 0:
            raise self.unclosed("the single quote", opened)
        outer, self.end = self.end, closing
        while self.pos < self.end:
            self.expandable(quoting)
        self.pos, self.end = closing + 1, outer
