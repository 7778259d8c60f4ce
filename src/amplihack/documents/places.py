"""Find where a character of a scalar's text stands in the file, whatever quoting and folding lie between.

Folding and quoting change the white space and the escapes of a text but never the order of its visible
characters, so the n-th visible character of the text is the n-th visible piece of the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeAlias

from amplihack.patterns import pattern

Place: TypeAlias = tuple[int, int]  # line and column, from 0

_PLAIN = pattern(r"\S")
_SINGLE = pattern(r"''|\S")
_DOUBLE = pattern(r"(?P<blank>\\(?:[nrtvfNLP_ ]|$))|\\(?:x..|u.{4}|U.{8}|.)|\S")


def place_of(offset: int, text: str, lines: Sequence[str], start: Place) -> Place | None:
    """Return the place of `text[offset]`, if the source of `text` begins at `start` or at the quote there."""
    before = text[:offset]
    count = len("".join(before.split()))
    between = offset >= len(text) or text[offset].isspace()
    pieces = _pieces(lines, start)
    if not between or count == 0:
        piece = next(islice(pieces, count, None), None)
        return piece and piece[:2]
    piece = next(islice(pieces, count - 1, None), None)
    if piece is None:
        return None
    line, _, end = piece
    gap = len(before) - len(before.rstrip())
    return line, min(end + gap, len(lines[line]))


def joined_places(text: str, lines: Sequence[str], start: Place) -> Iterator[int]:
    """Yield each offset of `text` where a line of its source begins of which a blank is left."""
    visible = (offset for offset, char in enumerate(text) if not char.isspace())
    end, above = 0, start[0]  # of the visible character before
    for offset, (line, _, _) in zip(visible, _pieces(lines, start), strict=False):
        if line != above and end and text[end:offset] == " ":
            yield offset
        end, above = offset + 1, line


def _pieces(lines: Sequence[str], start: Place) -> Iterator[tuple[int, int, int]]:
    """Yield every visible piece of the source: its line, its column and the column behind it."""
    line, column = start
    quote = lines[line][column : column + 1] if line < len(lines) else ""
    pattern = {"'": _SINGLE, '"': _DOUBLE}.get(quote, _PLAIN)
    column += pattern is not _PLAIN
    while line < len(lines):
        for piece in pattern.finditer(lines[line], column):
            if piece.lastgroup != "blank":
                yield line, piece.start(), piece.end()
        line, column = line + 1, 0
