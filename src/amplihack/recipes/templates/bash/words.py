"""Words: everything up to a blank or an operator that no quote protects."""

from __future__ import annotations

import re

from amplihack.recipes.templates.bash.parameters import Parameters
from amplihack.recipes.templates.bash.places import Quoting, Word

BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
_PLAIN = re.compile(r"""[^ \t\n;&|<>()\\'"$`{]+""")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NO_BLANKS = re.compile(r"\[(?:\{\{[^{}\n]*+\}\}|[^\s\]])++\]\+?=")
_EQUALS = re.compile(r"\+?=")
_COMMENT = re.compile(r"[^\n]*")
_METACHARACTERS = " \t\n;&|<>()"


class Words(Parameters):
    def word(self, *, assignable: bool = False, argument: bool = False) -> Word:
        """The word at this position; `assignable` where bash would take `a=b` for an assignment,
        `argument` where that is an argument of `declare` and its kin."""
        start, first = self.pos, len(self.findings.marks)
        assigns = self.assignment(start, argument=argument) if assignable else ""
        if assigns and self.peek() == "(":
            self.array(assigns)
        value = len(self.findings.marks)
        while self.pos < self.end and self.piece(start):
            pass
        for mark in self.since(value):
            mark.variable = mark.variable or assigns
        return self.finished(start, first, assigns)

    def finished(self, start: int, first: int, assigns: str = "") -> Word:
        marks = self.since(first)
        if not marks:
            return Word(self.text[start : self.pos], [], assigns)
        pieces: list[str] = []
        position = start
        for mark in marks:
            pieces += (self.text[position : mark.position], "\0")
            position = mark.position + self.length_of(mark.placeholder)
        pieces.append(self.text[position : self.pos])
        return Word("".join(pieces), marks, assigns)

    def assignment(self, start: int, *, argument: bool) -> str:
        """Moves behind `name=`, `name+=` or `name[...]=` and tells the name; else stays or reads on."""
        name = _NAME.match(self.text, start, self.end)
        if not name:
            return ""
        self.pos = name.end()
        first = len(self.findings.marks)
        if self.peek() == "[" and (not argument or _NO_BLANKS.match(self.text, self.pos, self.end)):
            self.subscript(name.group())
        before = self.pos
        self.skip(_EQUALS)
        if self.pos > before:
            return name.group()
        self.no_subscript(first)
        return ""

    def no_subscript(self, first: int) -> None:
        """What looked like a subscript was a set of characters in a pattern."""
        for mark in self.since(first):
            mark.array = ""
            if mark.quoting is Quoting.ARITHMETIC:
                mark.quoting = Quoting.BARE

    def piece(self, start: int) -> bool:
        """One piece of a word, or False where the word ends."""
        self.skip(_PLAIN)
        char = self.peek()
        if char in ("<", ">") and self.peek(2)[1:] == "(":
            opened = self.pos
            self.pos += 2
            self.commands(")", opened)
        elif char == "(" and self.pos > start and self.text[self.pos - 1] in "@?*+!":
            self.extended_glob()
        elif not char or char in _METACHARACTERS:
            return False
        else:
            self.quoted_or_plain(char)
        return True

    def quoted_or_plain(self, char: str) -> None:
        if char == "'":
            self.single()
        elif char == '"':
            self.double()
        elif self.peek(2) == '$"':
            self.pos += 1
            self.double()
        else:
            self.expandable(Quoting.BARE)

    def extended_glob(self) -> None:
        """`@(a|b)` and its kin: blanks and bars belong to the pattern."""
        opened = self.pos
        self.pos += 1
        with self.deeper():
            while self.pos < self.end:
                char = self.peek()
                if char == ")":
                    self.pos += 1
                    return
                if char == "(":
                    self.extended_glob()
                else:
                    self.quoted_or_plain(char)
        raise self.unclosed("the pattern's parenthesis", opened)

    def array(self, name: str) -> None:
        """`( words )` behind `name=`; an element may begin with its own `[subscript]=`."""
        opened = self.pos
        self.pos += 1
        with self.deeper():
            while self.pos < self.end:
                self.skip(BLANKS)
                char = self.peek()
                if char == ")":
                    self.pos += 1
                    return
                if char == "\n":
                    self.newline()
                elif char == "#":
                    self.comment()
                elif char == "[":
                    self.element(name)
                elif char and char in ";&|<>(" and self.peek(2) not in ("<(", ">("):
                    self.pos += 1
                elif char:
                    self.word()
        raise self.unclosed("the array", opened)

    def element(self, name: str) -> None:
        first = len(self.findings.marks)
        self.subscript(name)
        if not _EQUALS.match(self.text, self.pos, self.end):
            self.no_subscript(first)
        self.word()

    def newline(self) -> None:
        self.pos += 1

    def comment(self) -> None:
        found = _COMMENT.match(self.text, self.pos, self.end)
        self.take_all(Quoting.COMMENT, found.end() if found else self.end)
