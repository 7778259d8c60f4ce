"""Bytes as they arrive -> whole lines of text."""

from __future__ import annotations

LONGEST_LINE = 65_536


class LineSplitter:
    """Splits a stream on newlines; a line longer than `longest` bytes is cut and ends with an ellipsis."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._start = bytearray()  # the unfinished line, at most `longest` bytes of it
        self._cut = False

    def feed(self, data: bytes) -> list[str]:
        """The lines that `data` completes."""
        if b"\n" not in data:
            self._keep(data)
            return []
        first, *middle, last = data.split(b"\n")
        self._keep(first)
        lines = [self._line()]
        for part in middle:
            self._keep(part)
            lines.append(self._line())
        self._keep(last)
        return lines

    def end(self) -> list[str]:
        """The last line, if it has no newline."""
        return [self._line()] if self._start else []

    def _keep(self, part: bytes) -> None:
        room = self._longest - len(self._start)
        self._start += part[:room]
        self._cut = self._cut or len(part) > room

    def _line(self) -> str:
        text = self._start.decode("utf-8", "replace").removesuffix("\r")
        line = text + "…" if self._cut else text
        self._start, self._cut = bytearray(), False
        return line
