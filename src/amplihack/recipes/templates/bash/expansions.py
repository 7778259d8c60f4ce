"""Quotes and `$...`: everything that can stand inside a word."""

from __future__ import annotations

import re
from abc import abstractmethod

from amplihack.recipes.templates.bash.cursor import Cursor
from amplihack.recipes.templates.bash.places import Quoting

_DOUBLE_RUN = re.compile(r"""[^"\\$`{]+""")
_HEREDOC_RUN = re.compile(r"[^\\$`{]+")
_ARITHMETIC_RUN = re.compile(r"[^()\[\]\\$`{]+")
_UNQUOTED_PARENTHESES = re.compile(r"""[()]|\\.|'[^']*+'|"(?:[^"\\]|\\.)*+"|`(?:[^`\\]|\\.)*+`""", re.DOTALL)


class Expansions(Cursor):
    """Reads one construct at a time; each method stands at the opening and ends behind the closing."""

    @abstractmethod
    def commands(self, closer: str, opened: int) -> None: ...

    @abstractmethod
    def parameter(self, quoting: Quoting) -> None: ...

    @abstractmethod
    def backquoted(self, *, in_double: bool) -> None: ...

    def single(self) -> None:
        opened = self.pos
        self.pos += 1
        closing = self.find("'")
        if closing < 0:
            raise self.unclosed("the single quote", opened)
        self.take_all(Quoting.SINGLE, closing)
        self.pos += 1

    def ansi(self) -> None:
        opened = self.pos
        self.pos += 2
        while self.pos < self.end:
            char = self.text[self.pos]
            if char == "'":
                self.pos += 1
                return
            if char == "\\":
                self.backslash(Quoting.ANSI)
            elif self.here():
                self.take(Quoting.ANSI)
            else:
                self.pos += 1
        raise self.unclosed("the $' quote", opened)

    def double(self) -> None:
        opened = self.pos
        self.pos += 1
        with self.deeper():
            while self.pos < self.end:
                self.skip(_DOUBLE_RUN)
                if self.peek() == '"':
                    self.pos += 1
                    return
                self.expandable(Quoting.DOUBLE)
        raise self.unclosed("the double quote", opened)

    def heredoc_text(self) -> None:
        """The body of an unquoted heredoc: expansions count, quotes do not."""
        with self.deeper():
            while self.pos < self.end:
                self.skip(_HEREDOC_RUN)
                self.expandable(Quoting.HEREDOC)

    def expandable(self, quoting: Quoting) -> None:
        """One step in text where only backslash, `$` and backtick are special."""
        char = self.peek()
        if char == "\\":
            self.backslash(quoting)
        elif char == "$":
            self.dollar(quoting)
        elif char == "`":
            self.backquoted(in_double=quoting is Quoting.DOUBLE)
        elif self.here():
            self.take(quoting)
        else:
            self.pos += 1

    def dollar(self, quoting: Quoting) -> None:
        opened = self.pos
        following = self.peek(3)
        if following == "$((" and self.is_arithmetic(self.pos + 1):
            self.pos += 3
            self.arithmetic("))", "the $((", opened)
        elif following.startswith("$("):
            self.pos += 2
            self.commands(")", opened)
        elif following.startswith("${"):
            self.parameter(quoting)
        elif following.startswith("$["):
            self.pos += 2
            self.arithmetic("]", "the $[", opened)
        elif following.startswith("$'") and quoting is Quoting.BARE:
            self.ansi()
        else:
            self.pos += 2 if following.startswith("$$") else 1  # `$${` is a number and a brace

    def arithmetic(self, closer: str, construct: str, opened: int) -> None:
        """An expression up to its closer; parentheses in it, or brackets in `$[...]`, are balanced."""
        nested, opener = 0, "[" if closer == "]" else "("
        with self.deeper():
            while self.pos < self.end:
                self.skip(_ARITHMETIC_RUN)
                char = self.peek()
                if not nested and self.peek(len(closer)) == closer:
                    self.pos += len(closer)
                    return
                nested += (char == opener) - (char == closer[0])
                self.expandable(Quoting.ARITHMETIC)
        raise self.unclosed(construct, opened)

    def subscript(self, array: str) -> None:
        """`[...]` behind an array's name: arithmetic, or a key if the array turns out associative."""
        opened, first = self.pos, len(self.findings.marks)
        self.pos += 1
        nested = 0
        with self.deeper():
            while self.pos < self.end:
                char = self.peek()
                if char == "]" and not nested:
                    self.pos += 1
                    break
                nested += (char == "[") - (char == "]")
                self.subscript_step(char)
            else:
                raise self.unclosed("the subscript", opened)
        for mark in self.since(first):
            mark.array = mark.array or array

    def subscript_step(self, char: str) -> None:
        if char == "'":
            self.single()
        elif char == '"':
            self.double()
        else:
            self.expandable(Quoting.ARITHMETIC)

    def is_arithmetic(self, opening: int) -> bool:
        """Whether the `((` here ends in `))`; otherwise it is two subshells, one in the other."""
        outer, inner = self.closing(opening), self.closing(opening + 1)
        return outer < self.end and inner >= 0 and outer == inner + 1

    def closing(self, opening: int) -> int:
        """The matching parenthesis, or -1. One scan answers for all that lie inside it."""
        if opening not in self.closings:
            waiting: list[int] = []
            for found in _UNQUOTED_PARENTHESES.finditer(self.text, opening):
                if found.group() == "(":
                    waiting.append(found.start())
                elif found.group() == ")":
                    self.closings[waiting.pop()] = found.start()
                    if not waiting:
                        break
            self.closings.update(dict.fromkeys(waiting, -1))
        return self.closings[opening]
