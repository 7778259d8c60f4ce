"""`[[ ... ]]`: words and operators, some of which make their operands arithmetic."""

from __future__ import annotations

import re

from amplihack.recipes.templates.bash.heredocs import Heredocs
from amplihack.recipes.templates.bash.places import Refusal, Word
from amplihack.recipes.templates.bash.words import BLANKS

COMPARES_NUMBERS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
TESTS_NAME = frozenset({"-v", "-R"})
_REGEX_RUN = re.compile(r"""[^ \t\n()\\'"$`{]+""")


class Conditions(Heredocs):
    def condition(self, opened: int) -> None:
        """From behind `[[` to behind `]]`."""
        previous = Word("", [])
        with self.deeper():
            while self.pos < self.end:
                self.skip(BLANKS)
                char = self.peek()
                if char == "\n":
                    self.newline()
                elif char == "#":
                    self.comment()
                elif char and char in ";&|<>()" and self.peek(2) not in ("<(", ">("):
                    self.pos += 1
                elif char:
                    word = self.regex() if previous.text == "=~" else self.word()
                    if word.text == "]]":
                        return
                    self.operand_of(previous, word)
                    previous = word
        raise self.unclosed("the [[", opened)

    def operand_of(self, previous: Word, word: Word) -> None:
        if previous.text in COMPARES_NUMBERS or word.text in COMPARES_NUMBERS:
            for mark in (*previous.marks, *word.marks):
                mark.numeric = True
        if previous.text in TESTS_NAME:
            for mark in word.marks:
                mark.refusal = Refusal.NAME

    def regex(self) -> Word:
        """A regular expression ends at the first blank outside its parentheses."""
        start, first, nested = self.pos, len(self.findings.marks), 0
        while self.pos < self.end:
            self.skip(_REGEX_RUN)
            char = self.peek()
            if not char or (char in " \t\n" and not nested) or (char == ")" and not nested):
                break
            nested += (char == "(") - (char == ")")
            self.quoted_or_plain(char)
        return self.finished(start, first)
