"""Hold a YAML document as nodes that know where they stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Literal, TypeAlias

from amplihack.documents.places import place_of
from amplihack.documents.scalars import ScalarValue, is_null, plain_value
from amplihack.errors import Location, Problem
from amplihack.records import Record, field

PlainValue: TypeAlias = "bool | int | float | str | list[PlainValue] | dict[str, PlainValue] | None"
Style: TypeAlias = Literal["plain", "quoted", "literal", "folded"]


class Source(Record, frozen=False, eq=False):
    """A text and the name that messages call it by."""

    name: str
    text: str
    _lines: list[str] | None = field(default=None, repr=False)

    def location(self, line: int, column: int) -> Location:
        """Return the place at a line and column that count from 0."""
        text = self.lines[line] if line < len(self.lines) else ""
        return Location(self.name, line + 1, column + 1, text)

    @property
    def lines(self) -> list[str]:
        """Return the lines as YAML counts them; what else ends a line for Python, YAML does not allow."""
        if self._lines is None:
            self._lines = self.text.splitlines()
        return self._lines


# Nodes are not frozen: a document makes tens of thousands of them and freezing triples the cost.
# Nobody changes one after the reader has made it.
class Scalar(Record, frozen=False, eq=False):
    """A single value, as it is written and where."""

    text: str
    style: Style
    source: Source = field(repr=False)
    line: int
    column: int

    @property
    def where(self) -> Location:
        return self.source.location(self.line, self.column)

    @property
    def value(self) -> ScalarValue:
        return plain_value(self.text) if self.style == "plain" else self.text

    @property
    def absent(self) -> bool:
        """Tell whether it is empty, `null` or `~` without quotes, as if the field were not there."""
        return self.style == "plain" and is_null(self.text)

    def locate(self, offset: int) -> Location:
        """Return where a character of the text stands in the file, as closely as can be told."""
        if self.style == "literal":
            return self._in_block(offset)
        start = (self.line + 1, 0) if self.style == "folded" else (self.line, self.column)
        place = place_of(offset, self.text, self.source.lines, start)
        return self.source.location(*place) if place else self.where

    def _in_block(self, offset: int) -> Location:
        starts = _starts_of_lines(self.text)
        row = bisect_right(starts, offset) - 1
        line, end = self.line + 1 + row, self.text.find("\n", starts[row])
        wanted = self.text[starts[row] : end if end >= 0 else None]
        text = self.source.location(line, 0).text
        indent = len(text) - len(wanted) if text.endswith(wanted) else 0
        return self.source.location(line, indent + offset - starts[row])


@lru_cache(maxsize=4)
def _starts_of_lines(text: str) -> list[int]:
    """Return where each line begins. A long script may have a thing to tell of each."""
    return [0, *(found.end() for found in re.finditer("\n", text))]


class Sequence(Record, frozen=False, eq=False):
    """A list."""

    items: list[Node]
    source: Source = field(repr=False)
    line: int
    column: int

    @property
    def where(self) -> Location:
        return self.source.location(self.line, self.column)


class Mapping(Record, frozen=False, eq=False):
    """Keys in file order, each once; a key that is not text is known by its source text."""

    entries: dict[str, Node]
    make_keys: Callable[[], dict[str, Scalar]] = field(repr=False)  # on demand: few ask where a key stands
    source: Source = field(repr=False)
    line: int
    column: int
    _keys: dict[str, Scalar] | None = field(default=None, repr=False)

    @property
    def keys(self) -> dict[str, Scalar]:
        """Return the keys as they are written and where."""
        if self._keys is None:
            self._keys = self.make_keys()
        return self._keys

    @property
    def where(self) -> Location:
        return self.source.location(self.line, self.column)

    def where_key(self, key: str) -> Location:
        return self.keys[key].where

    def __iter__(self) -> Iterator[tuple[str, Node]]:
        return iter(self.entries.items())


Node: TypeAlias = Scalar | Sequence | Mapping


class Document(Record):
    """A parsed text: its root, and what is wrong with it though it could be read."""

    root: Node
    source: Source
    problems: tuple[Problem, ...] = ()


def to_value(node: Node) -> PlainValue:
    """Return the node as plain Python data."""
    match node:
        case Scalar():
            return node.value
        case Sequence():
            return [to_value(item) for item in node.items]
        case Mapping():
            return {key: to_value(item) for key, item in node.entries.items()}
