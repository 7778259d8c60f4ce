"""Keep the output of a process at any size: in memory if small, in a private unnamed file if large."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable

OUTPUT_LIMIT = 10_000_000  # bytes of output that a step may keep as its value
IN_MEMORY = 262_144
_INSTEAD = "\ufffd"  # what a decoder writes for bytes that it cannot read


class Captured:
    """All bytes of one output stream, in order. Reading loads only what was asked for.

    The file of a large output has no name, so nothing stays on the disk whatever happens to us. It is gone
    with the last reference to this value.
    """

    def __init__(self, limit: int = OUTPUT_LIMIT) -> None:
        self.limit, self.size = limit, 0
        self._memory = bytearray()
        self._file: int | None = None
        self._close_file: weakref.finalize[[int], Captured] | None = None

    @property
    def lost(self) -> int:
        """Return how many bytes `text()` leaves out."""
        return max(0, self.size - self.limit)

    def add(self, data: bytes) -> None:
        """Append bytes. May raise OSError when the disk is full."""
        self.size += len(data)
        if self._file is not None:
            write_all(self._file, data)
            return
        self._memory += data
        if self.size > IN_MEMORY:
            self._move_to_disk()

    def _move_to_disk(self) -> None:
        import tempfile  # deferred: most output is small

        with tempfile.TemporaryFile(buffering=0) as file:
            self._file = os.dup(file.fileno())
        self._close_file = weakref.finalize(self, os.close, self._file)
        write_all(self._file, self._memory)
        self._memory = bytearray()

    def close(self) -> None:
        """Drop the bytes before the last reference goes."""
        if self._close_file is not None:
            self._close_file()
        self._memory, self._file, self.size = bytearray(), None, 0

    def read(self, start: int, length: int) -> bytes:
        """Return up to `length` bytes from `start`."""
        if self._file is None:
            return bytes(self._memory[start : start + length])
        length = min(length, self.size - start)
        data = os.pread(self._file, length, start)  # most often all of it: then there is no second copy
        while len(data) < length and (more := os.pread(self._file, length - len(data), start + len(data))):
            data += more
        return data

    def text(self, limit: int | None = None) -> str:
        """Return the first `limit` bytes, cut between characters; bad bytes become U+FFFD."""
        limit = self.limit if limit is None else limit
        data = self.read(0, limit)
        if self.size > limit:
            data = data[: len(data) - _unfinished(data)]
        return data.decode("utf-8", "replace")

    def tail(self, length: int) -> str:
        """Return the last `length` bytes, cut between characters."""
        start = max(0, self.size - length)
        data = self.read(start, length)
        if start > 0:
            data = data[_continuation(data) :]
        return data.decode("utf-8", "replace")

    def broken(self, text: str) -> int:
        """Count the places in what `text()` gave where U+FFFD stands for bytes that are no UTF-8."""
        return broken_places(text, lambda: self.read(0, self.limit))


def broken_places(text: str, data: Callable[[], bytes]) -> int:
    """Count the places in a text where U+FFFD stands for bytes of its data that are no UTF-8."""
    # The data is looked at only where the sign is: hardly any text has it.
    return text.count(_INSTEAD) - data().count(_INSTEAD.encode()) if _INSTEAD in text else 0


def write_all(file: int, *parts: bytes | bytearray) -> None:
    """Write all of it, though the system may take less at a time. May raise OSError."""
    view = memoryview(b"".join(parts) if len(parts) > 1 else parts[0])
    while view:
        view = view[os.write(file, view) :]


def _unfinished(data: bytes) -> int:
    """Count the bytes at the end that begin an incomplete UTF-8 character."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if needed > back else 0
        if byte < 0x80:
            return 0
    return 0


def _continuation(data: bytes) -> int:
    """Count the bytes at the beginning that belong to an earlier UTF-8 character."""
    count = 0
    while count < min(3, len(data)) and 0x80 <= data[count] < 0xC0:
        count += 1
    return count
