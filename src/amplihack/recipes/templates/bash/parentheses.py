"""Match parentheses. Bash decides by this whether `((` is arithmetic or two subshells."""

from __future__ import annotations

import re
from collections.abc import Iterator

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.cursor import Cursor


def is_arithmetic(c: Cursor, *, skipping: int = 0) -> bool:
    """Tell whether the `((` here ends in `))`; otherwise it opens two nested subshells."""
    opening = c.pos + skipping
    second = opening + 1
    if "\\" in c.text[c.pos : second + 1]:
        opening, second = list(c.next(skipping + 2))[skipping:]
    outer, inner = _closing(c, opening), _closing(c, second)
    return 0 <= inner < outer < c.end and not c.text[inner + 1 : outer].replace("\\\n", "")


def _closing(c: Cursor, opening: int) -> int:
    """Return the matching parenthesis, or -1. One scan finds the answers for all pairs inside."""
    if opening not in c.closings:
        waiting: list[int] = []
        for char, position in _parentheses(c.text, opening):
            if char == "(":
                waiting.append(position)
            else:
                c.closings[waiting.pop()] = position
                if not waiting:
                    break
        c.closings.update(dict.fromkeys(waiting, -1))
    return c.closings[opening]


_NESTING = pattern(r"""\\.|'[^']*+'|\$?\(|\)|\$\{|\}|"|`(?:[^`\\]|\\.)*+`|(?<=[\s;&|(])\#""", re.DOTALL)
_IN_DOUBLE = pattern(r"""\\.|\$\(|\$\{|"|`(?:[^`\\]|\\.)*+`""", re.DOTALL)


def _parentheses(text: str, opening: int) -> Iterator[tuple[str, int]]:
    """Yield the unquoted parentheses from here on, including those in `"$(...)"`."""
    inside: list[str] = []  # "$(", "(", '"' and "{", innermost last
    position = opening
    while found := (_IN_DOUBLE if inside and inside[-1] == '"' else _NESTING).search(text, position):
        position, sign = found.end(), found.group()
        innermost = inside[-1] if inside else ""
        if sign == "#":
            if innermost[-1:] == "(" and "$(" in inside:  # elsewhere it begins no comment to bash
                end = text.find("\n", position)
                position = end if end >= 0 else len(text)
        elif sign == '"' and innermost == '"':
            inside.pop()
        elif sign == '"':
            inside.append(sign)
        elif sign == "${":
            inside.append("{")
        elif sign == "}" and innermost == "{":
            inside.pop()
        elif sign[-1] == "(" and (innermost != "{" or sign == "$("):
            inside.append(sign)
            yield "(", position - 1
        elif sign == ")" and innermost[-1:] == "(":
            inside.pop()
            yield ")", position - 1
