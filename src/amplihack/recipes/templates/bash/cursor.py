"""A position in a script, and the placeholders that it meets."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amplihack.errors import TemplateError
from amplihack.recipes.placeholders import Placeholder
from amplihack.recipes.templates.bash.places import Mark, Quoting

if TYPE_CHECKING:
    from collections.abc import Iterator

DEEPEST = 80  # quotes in substitutions in quotes: no person writes this, and our own stack is finite


@dataclass(slots=True)
class Findings:
    """What the whole reading gathers, also from the scripts inside backticks."""

    marks: list[Mark] = field(default_factory=list)
    associative: set[str] = field(default_factory=set)
    integers: set[str] = field(default_factory=set)
    depth: int = 0
    frame: int = 0  # which list of commands is being read; each substitution has its own
    frames: int = 0


class Cursor:
    """`text` is the script, or what bash makes of the inside of backticks; `origin` leads back."""

    def __init__(
        self,
        text: str,
        placeholders: Mapping[int, Placeholder],
        origin: Sequence[int],
        *,
        findings: Findings,
        around: tuple[Cursor, int] | None = None,
    ) -> None:
        self.text, self.pos, self.end = text, 0, len(text)
        self.placeholders, self.origin = placeholders, origin
        self.starts = sorted(placeholders)
        self.findings, self.around = findings, around
        self.backticks: int = around[0].backticks + 1 if around else 0
        self.closings: dict[int, int] = {}  # "(" -> its ")", as far as they were looked for

    def peek(self, length: int = 1) -> str:
        if length == 1:  # by far the most frequent
            return self.text[self.pos] if self.pos < self.end else ""
        return self.text[self.pos : min(self.pos + length, self.end)]

    def skip(self, pattern: re.Pattern[str]) -> None:
        if found := pattern.match(self.text, self.pos, self.end):
            self.pos = found.end()

    def line(self, position: int) -> int:
        first = self.around[0].line(self.around[1]) if self.around else 1
        return first + self.text.count("\n", 0, position)

    def length_of(self, placeholder: Placeholder) -> int:
        return placeholder.end - placeholder.start

    def here(self) -> Placeholder | None:
        found = self.placeholders.get(self.pos)
        return found if found and self.pos + self.length_of(found) <= self.end else None

    def take(self, quoting: Quoting, *, escaped: bool = False) -> Mark:
        """Records the placeholder at this position and moves behind it."""
        found = self.placeholders[self.pos]
        after = self.pos + self.length_of(found)
        start = self.origin[self.pos - 1 if escaped else self.pos]
        mark = Mark(found, quoting, start, self.origin[after - 1] + 1, escaped, self.backticks)
        mark.frame, mark.position = self.findings.frame, self.pos
        self.findings.marks.append(mark)
        self.pos = after
        return mark

    def take_all(self, quoting: Quoting, until: int) -> None:
        """Records every placeholder up to a position, where nothing else matters, and moves there."""
        index = bisect_left(self.starts, self.pos)
        while index < len(self.starts) and self.starts[index] < until:
            self.pos = self.starts[index]
            self.take(quoting)
            index += 1
        self.pos = until

    def since(self, first: int) -> list[Mark]:
        """The marks made from number `first` on, without those of substitutions inside."""
        if first == len(self.findings.marks):
            return []
        frame = self.findings.frame
        return [mark for mark in self.findings.marks[first:] if mark.frame == frame]

    def find(self, wanted: str, *, escapes: bool = False) -> int:
        """The next `wanted` character outside placeholders, or -1; `escapes`: not behind a backslash."""
        pattern = _STOPS[wanted, escapes]
        position = self.pos
        while found := pattern.search(self.text, position, self.end):
            position = found.start()
            if inside := self.placeholders.get(position):
                position += self.length_of(inside)
            elif found.group() == wanted:
                return position
            else:
                position += 2 if found.group() == "\\" else 1
        return -1

    def backslash(self, quoting: Quoting) -> None:
        """A backslash and what it escapes; before a placeholder it means itself."""
        self.pos += 1
        if self.here():
            self.take(quoting, escaped=True)
        elif self.pos < self.end:
            self.pos += 1

    def unclosed(self, construct: str, opened: int) -> TemplateError:
        line = self.line(opened)
        return TemplateError(
            f"{construct} opened on line {line} never closes, so it is unclear where its placeholders stand",
            line=line,
            fix="close it; `bash -n` shows how bash reads the script",
        )

    @contextmanager
    def deeper(self) -> Iterator[None]:
        self.findings.depth += 1
        if self.findings.depth > DEEPEST:
            line = self.line(self.pos)
            raise TemplateError(
                f"the script nests more than {DEEPEST} quotes and substitutions on line {line}",
                line=line,
                fix="put the inner results into variables first",
            )
        yield
        self.findings.depth -= 1


_STOPS = {
    (wanted, escapes): re.compile(rf"[{{{wanted}{chr(92) * 2 if escapes else ''}]")
    for wanted in "'`"
    for escapes in (False, True)
}
