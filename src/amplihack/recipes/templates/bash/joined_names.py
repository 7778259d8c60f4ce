"""Find names of variables that an expression joins from pieces: `${kind}_count`, `x$i`, `"$a"_$b`, `$a$b`.

Text of the script itself can so name a variable that holds a value.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from amplihack.patterns import pattern
from amplihack.recipes.templates.bash.number_guards import closed, subscript_at
from amplihack.records import Record, replace

_WORD = pattern(r"\w+")
_SIMPLE = pattern(r"\$(?:[A-Za-z_]\w*|[0-9@*#?!$-])|[\0\1]")
_BEGINS = pattern(r"""[\w$\0\1"'\\]""")
_ASSIGNS = pattern(r"\s*=(?!=)")
_CLOSING = {"{": "}", "(": ")", "[": "]"}
_QUOTES = "\"'\\"


class Joint(Record):
    """Pieces of an expression that touch each other, and what they are."""

    start: int
    end: int
    letters: bool  # some of it is written there, and a name can begin with it
    expansions: int
    pieces: int
    name: str  # what to call it
    torn: bool = False  # a quote begins before it or ends behind it: nothing can be put around it

    @property
    def is_name(self) -> bool:
        return self.letters and self.expansions > 0

    @property
    def is_joined(self) -> bool:
        return not self.letters and self.expansions > 0 and self.pieces > 1 and not self.name[:1].isdigit()


def runs(text: str, keyed: Container[str]) -> Iterator[Joint]:
    """Yield what stands together in an expression, but nothing of the keys of associative arrays."""
    position = 0
    while found := _BEGINS.search(text, position):
        run = _run(text, found.start())
        index = subscript_at(text, run.end)
        if index and run.name not in keyed:
            yield from _inside(index, run.end, keyed)
        position = run.end + len(index)
        if not _ASSIGNS.match(text, position):
            yield replace(run, end=position) if run.is_name else run


def _inside(index: str, offset: int, keyed: Container[str]) -> Iterator[Joint]:
    for run in runs(index[1:-1], keyed):
        yield replace(run, start=run.start + offset + 1, end=run.end + offset + 1)


def _run(text: str, start: int) -> Joint:
    position, letters, expansions, pieces, name = start, False, 0, 0, ""
    while position < len(text):
        if text[position] in _QUOTES:
            position += 1
        elif found := _WORD.match(text, position):
            letters = letters or (not found[0][0].isdigit() and not name[:1].isdigit())
            name, pieces, position = name or found[0], pieces + 1, found.end()
        elif end := _expansion(text, position):
            expansions, pieces = expansions + 1, pieces + 1
            name, position = name or text[position:end].strip("${}\0\1"), end
        else:
            break
    start, end = _between_quotes(text, start, max(position, start + 1))
    torn = any(text.count(quote, start, end) % 2 for quote in _QUOTES)
    return Joint(start, end, letters, expansions, pieces, name, torn)


def _between_quotes(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the bounds of a run without a quote at its edge that belongs to what is around it."""
    while start + 1 < end and text[end - 1] in _QUOTES and text.count(text[end - 1], start, end) % 2:
        end -= 1
    while start + 1 < end and text[start] in _QUOTES and text.count(text[start], start, end) % 2:
        start += 1
    return start, end


def _expansion(text: str, start: int) -> int:
    """Return where the expansion that begins here ends; 0 if there is none."""
    opening = text[start + 1 : start + 2]
    if text[start] == "$" and opening in _CLOSING:
        return closed(text, start + 1, opening, _CLOSING[opening])
    found = _SIMPLE.match(text, start)
    return found.end() if found else 0
