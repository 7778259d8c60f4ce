"""Draw an edited text at the bottom of a terminal, and draw it anew where it stands."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from amplihack.records import Record
from amplihack.system.terminal.edited_text import EditedText

_TAB = "    "
_CONTINUED = "… "


class TerminalSize(Record):
    columns: int
    rows: int


class Drawn(Record):
    """Rows of a screen, and where the cursor is in them, counted from 0."""

    rows: tuple[str, ...] = ("",)
    row: int = 0
    column: int = 0


def draw(prompt: str, edited: EditedText, size: TerminalSize) -> Drawn:
    """Return the rows that a prompt and a text take; if the screen is too low, those around the cursor."""
    width = max(10, size.columns)
    rows: list[str] = [""]
    cells, row, column = 0, 0, 0
    for char, at in _placed(prompt, edited.text):
        if at == edited.cursor:
            row, column = _position(len(rows) - 1, cells, width)
        if char == "\n":
            rows.append("")
            cells = 0
            continue
        needed = cells_of(char)
        if cells + needed > width:
            rows.append("")
            cells = 0
        rows[-1] += char
        cells += needed
    if edited.cursor == len(edited.text):
        row, column = _position(len(rows) - 1, cells, width)
        if row == len(rows):
            rows.append("")
    first = _first_shown(len(rows), row, max(2, size.rows))
    return Drawn(tuple(rows[first : first + max(2, size.rows)]), row - first, column)


def redrawn(before: Drawn | None, now: Drawn) -> str:
    """Return what to write so that the terminal shows `now` in the place of `before`."""
    up = f"\x1b[{before.row}A" if before is not None and before.row else ""
    back = len(now.rows) - 1 - now.row
    to_cursor = (f"\x1b[{back}A" if back else "") + "\r" + (f"\x1b[{now.column}C" if now.column else "")
    return f"{up}\r\x1b[J" + "\r\n".join(now.rows) + to_cursor


def below(drawn: Drawn) -> str:
    """Return what to write so that the cursor is in a new line under everything that is drawn."""
    down = len(drawn.rows) - 1 - drawn.row
    return (f"\x1b[{down}B" if down else "") + "\r\n"


def cells_of(char: str) -> int:
    """Return how many columns a character takes."""
    if len(char) > 1:
        return len(char)  # what stands for a tab
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _placed(prompt: str, text: str) -> Iterator[tuple[str, int | None]]:
    """Yield what is drawn, each character of the text with its place in it."""
    yield from ((char, None) for char in prompt)
    for at, char in enumerate(text):
        yield (_TAB if char == "\t" else char), at
        if char == "\n":
            yield from ((mark, None) for mark in _CONTINUED)


def _position(row: int, cells: int, width: int) -> tuple[int, int]:
    return (row + 1, 0) if cells >= width else (row, cells)


def _first_shown(count: int, row: int, height: int) -> int:
    return max(0, min(row - height // 2, count - height)) if count > height else 0
