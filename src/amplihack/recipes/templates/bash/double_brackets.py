"""Read `[[ ... ]]`: words and operators, some of which make their operands arithmetic.

condition = "[[" { word | operator | "(" | ")" | "!" | "&&" | "||" } "]]"
"""

from __future__ import annotations

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.cursor import BLANKS, Cursor, Script
from amplihack.recipes.templates.bash.expansions import quoted_or_plain
from amplihack.recipes.templates.bash.heredocs import newline
from amplihack.recipes.templates.bash.number_guards import Guard
from amplihack.recipes.templates.bash.places import Refusal, Word, hold, refuse
from amplihack.recipes.templates.bash.value_flow import identifiers
from amplihack.recipes.templates.bash.words import comment, finished, word

_COMPARES_NUMBERS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_TESTS_NAME = frozenset({"-v", "-R"})
_REGEX_RUN = pattern(r"""[^ \t\n()\\'"$`{]+""")
_NOTHING = Word("", [])


def condition(c: Cursor, opened: int) -> None:
    """Read from after `[[` to after `]]`."""
    previous = _NOTHING
    with c.deeper():
        while c.pos < c.end:
            c.skip(BLANKS)
            char = c.peek()
            if char == "\n":
                newline(c)
            elif char == "#":
                comment(c)
            elif char and previous.text == "=~":
                previous = _regex(c)
            elif char and char in ";&|<>()" and c.ahead(2) not in ("<(", ">("):
                c.pos += 1
                previous = previous if char in "()" else _NOTHING
            elif char:
                current = word(c)
                if current.text == "]]":
                    return
                _relate(previous, current, c.script)
                previous = current
    raise c.unclosed("the [[", opened)


def _relate(previous: Word, current: Word, script: Script) -> None:
    if previous.text in _COMPARES_NUMBERS or current.text in _COMPARES_NUMBERS:
        hold((*previous.marks, *current.marks))
        operand = current if previous.text in _COMPARES_NUMBERS else previous
        script.flow.evaluated.update(identifiers(operand.text))
        script.evaluates(operand, Guard.NUMBER)
    if previous.text in _TESTS_NAME:
        refuse(current.marks, Refusal.NAME)
        script.takes_name(current)


def _regex(c: Cursor) -> Word:
    """Read a regular expression, which ends at the first blank outside its parentheses."""
    start, first, nested = c.pos, c.count(), 0
    while c.pos < c.end:
        c.skip(_REGEX_RUN)
        char = c.peek()
        if not char or (char in " \t\n" and not nested) or (char == ")" and not nested):
            break
        nested += (char == "(") - (char == ")")
        quoted_or_plain(c, char)
    if c.pos == start:  # a stray parenthesis
        c.pos += 1
    return finished(c, start, first)
