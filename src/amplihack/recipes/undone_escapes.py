"""Undo escapes of a text, layer by layer, and tell where each part of what comes out stood before.

Texts are bytes here, one character for each byte: `%C3%A4` and `\\u00e4` are the same two.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator

from amplihack.patterns import pattern

_LAYERS = 6  # JSON in JSON in HTML in a URL …
_UNIT = (
    r"\\{1,8}(?:u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]{1,6}\}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|[0-7]{3})"
    r"|%(?:25){0,4}[0-9a-fA-F]{2}|&(?:amp;){0,4}#(?:[0-9]{1,7}|[xX][0-9a-fA-F]{1,6});"
)
ALL_ESCAPED = pattern(rf"(?:{_UNIT}){{6,}}+")  # nothing of the text is left as it was
MARKS = ("\\", "%", "&", "''", '""', "'\"'")  # what an escape contains
_ESCAPE = pattern(
    r"\\u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\u(?P<four>[0-9a-fA-F]{4})|\\u\{(?P<any>[0-9a-fA-F]{1,6})\}|\\U(?P<eight>[0-9a-fA-F]{8})"
    r"|&#[xX](?P<entity>[0-9a-fA-F]{1,6});|&#(?P<decimal>[0-9]{1,7});|&(?P<named>[A-Za-z]{2,8}[0-9]{0,2});"
    r"|(?:\\x|%)(?P<byte>[0-9a-fA-F]{2})|\\(?P<octal>[0-3][0-7]{2}|[0-7]{1,2})"
    r"|\\(?P<control>[abefnrtvE])|(?P<quote>'\\''|'\"'\"'|''|\"\"|%%)|(?P<break>\\\r?\n[ \t]*)"
    r"|\\(?P<sign>[^A-Za-z0-9])"
)
_CONTROLS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
             "v": "\v"}  # fmt: skip


class Unescaped:
    """A text with a number of its layers undone."""

    def __init__(self, text: str) -> None:
        self.text = text
        # For each layer, the pieces of the text that came out: where they begin there, where they began, and
        # whether they are an escape.
        self._layers: list[list[tuple[int, int, bool]]] = []

    def undo_one(self) -> bool:
        """Undo one layer, and tell whether there was one."""
        parts: list[str] = []
        pieces: list[tuple[int, int, bool]] = []
        size = end = 0
        for found in _ESCAPE.finditer(self.text):
            pieces.append((size, end, False))
            size += found.start() - end
            meant = _meant(found)
            pieces.append((size, found.start(), True))
            parts += (self.text[end : found.start()], meant)
            size, end = size + len(meant), found.end()
        if not end:
            return False
        pieces.append((size, end, False))
        self.text = "".join((*parts, self.text[end:]))
        self._layers.append(pieces)
        return True

    def origin(self, place: int) -> int:
        """Return where a place in the text was at first."""
        for pieces in reversed(self._layers):
            begins, began, is_escape = pieces[bisect_right(pieces, place, key=lambda piece: piece[0]) - 1]
            place = began if is_escape else began + place - begins
        return place


def layers(text: str) -> Iterator[Unescaped]:
    """Yield the text after each of its layers was undone."""
    undone = Unescaped(text)
    for _ in range(_LAYERS):
        if not undone.undo_one():
            return
        yield undone


def plain(text: str) -> str:
    """Return the text with every layer undone."""
    for undone in layers(text):
        text = undone.text
    return text


def _meant(found: re.Match[str]) -> str:
    """Return what an escape stands for; itself if it stands for nothing."""
    kind, digits = found.lastgroup, found[found.lastgroup or 0]
    if kind == "sign":
        return digits
    if kind == "quote":
        return digits[0]
    if kind == "break":
        return ""
    if kind == "control":
        return _CONTROLS[digits]
    if kind in ("byte", "octal"):
        return chr(int(digits, 16 if kind == "byte" else 8))
    if kind == "named":
        from html.entities import html5  # deferred: two thousand names that are seldom asked for

        return as_bytes(html5.get(f"{digits};", found[0]))
    if kind == "low":
        return as_bytes(chr(0x10000 + (int(found["high"], 16) - 0xD800 << 10) + int(digits, 16) - 0xDC00))
    number = int(digits, 10 if kind == "decimal" else 16)
    return as_bytes(chr(number)) if number <= sys.maxunicode else found[0]


def as_bytes(text: str) -> str:
    """Return the bytes of a text in UTF-8, each as one character."""
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("latin-1")
