"""What a process printed, at any size: small output in memory, large output in a private nameless file."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator

OUTPUT_LIMIT = 10_000_000  # bytes of output that a step may keep as its value
IN_MEMORY = 262_144
_CHUNK = 1_048_576


class Captured:
    """All bytes of one output stream, in order; reading never loads more than was asked for.

    The file behind a large output has no name, so nothing is left on the disk whatever happens to us, and it
    is gone as soon as the last reference to this value is.
    """

    def __init__(self, limit: int = OUTPUT_LIMIT) -> None:
        self.limit, self.size = limit, 0
        self._memory = bytearray()
        self._file: int | None = None
        self._close_file: weakref.finalize[[int], Captured] | None = None

    @property
    def lost(self) -> int:
        """How many bytes `text()` leaves out."""
        return max(0, self.size - self.limit)

    def add(self, data: bytes) -> None:
        """Append; may raise OSError when the disk is full."""
        self.size += len(data)
        if self._file is not None:
            write_all(self._file, data)
            return
        self._memory += data
        if self.size > IN_MEMORY:
            self._move_to_disk()

    def _move_to_disk(self) -> None:
        with tempfile.TemporaryFile(buffering=0) as file:
            self._file = os.dup(file.fileno())
        self._close_file = weakref.finalize(self, os.close, self._file)
        write_all(self._file, self._memory)
        self._memory = bytearray()

    def close(self) -> None:
        """Give the bytes up before the last reference goes."""
        if self._close_file is not None:
            self._close_file()
        self._memory, self._file, self.size = bytearray(), None, 0

    def read(self, start: int, length: int) -> bytes:
        """The bytes from `start`, fewer than `length` at the end."""
        if self._file is None:
            return bytes(self._memory[start : start + length])
        parts = []
        while length > 0 and (part := os.pread(self._file, min(length, _CHUNK), start)):
            parts.append(part)
            start, length = start + len(part), length - len(part)
        return b"".join(parts)

    def chunks(self) -> Iterator[bytes]:
        """Everything, a piece at a time, for writing it somewhere else."""
        for start in range(0, self.size, _CHUNK):
            yield self.read(start, _CHUNK)

    def text(self, limit: int | None = None) -> str:
        """The beginning, at most `limit` bytes of it, cut between characters; bad bytes become U+FFFD."""
        limit = self.limit if limit is None else limit
        data = self.read(0, limit)
        if self.size > limit:
            data = data[: len(data) - _unfinished(data)]
        return data.decode("utf-8", "replace")

    def tail(self, length: int) -> str:
        """The end, at most `length` bytes of it, cut between characters."""
        start = max(0, self.size - length)
        data = self.read(start, length)
        if start > 0:
            data = data[_continuation(data) :]
        return data.decode("utf-8", "replace")


def write_all(file: int, data: bytes | bytearray) -> None:
    """Write all of it, though the system may take less at a time. May raise OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _unfinished(data: bytes) -> int:
    """How many bytes at the end begin a UTF-8 character that is not complete."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if needed > back else 0
        if byte < 0x80:
            return 0
    return 0


def _continuation(data: bytes) -> int:
    """How many bytes at the beginning belong to a UTF-8 character that began earlier."""
    count = 0
    while count < min(3, len(data)) and 0x80 <= data[count] < 0xC0:
        count += 1
    return count
