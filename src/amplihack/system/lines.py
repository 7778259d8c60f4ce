"""Split bytes into whole lines of text as they arrive."""

from __future__ import annotations

LONGEST_LINE = 65_536


class LineSplitter:
    """Splits a stream on newlines; a line longer than `longest` bytes is cut and ends with an ellipsis."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        # The unfinished line, at most one byte more than `longest`. It grows in place: a line may be long.
        self._start = bytearray()

    def feed(self, data: bytes) -> list[str]:
        """Return the lines that `data` completes."""
        head, newline, tail = data.rpartition(b"\n")
        if not newline:
            self._grow(data)
            return []
        first, newline, rest = head.partition(b"\n")
        self._grow(first)
        whole = self._line(self._start)
        self._start = bytearray(tail[: self._longest + 1])
        return [whole, *self._lines(rest)] if newline else [whole]

    def end(self) -> list[str]:
        """Return the last line, if it has no newline."""
        last, self._start = self._start, bytearray()
        return [self._line(last)] if last else []

    def _grow(self, part: bytes) -> None:
        self._start += part[: self._longest + 1 - len(self._start)]

    def _lines(self, data: bytes) -> list[str]:
        if len(data) > self._longest:
            return [self._line(part) for part in data.split(b"\n")]
        # All at once: output often comes in very many short lines.
        text = data.decode("utf-8", "replace")
        lines = text.split("\n")
        return [line.removesuffix("\r") for line in lines] if "\r" in text else lines

    def _line(self, data: bytes | bytearray) -> str:
        text = data[: self._longest].decode("utf-8", "replace").removesuffix("\r")
        return text + "…" if len(data) > self._longest else text
