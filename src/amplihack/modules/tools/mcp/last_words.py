"""Keep the end of what a server says beside the protocol, however much that is."""

from __future__ import annotations

import asyncio
import os
from typing import TextIO

_KEPT = 2_000  # bytes
_AT_ONCE = 65_536
_MOST_READS = 64  # in one go: a server may write faster than we read
_LONGEST = 500  # characters


class LastWords:
    """A pipe that is always read. Give `writer` to the process; close it in the loop that made it."""

    def __init__(self) -> None:
        self._reader, writer = os.pipe()
        os.set_blocking(self._reader, False)
        self.writer: TextIO = os.fdopen(writer, "w")
        self._kept = b""
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._reader, self._read)

    def text(self) -> str:
        """Return the end of it, on one line, without what would steer a terminal."""
        for _ in range(_MOST_READS):
            if self.writer.closed or not self._read():
                break
        said = " ".join(self._kept.decode("utf-8", "replace").split())
        return "".join(letter for letter in said if letter.isprintable())[-_LONGEST:]

    def close(self) -> None:
        if not self.writer.closed:
            self._loop.remove_reader(self._reader)
            self.writer.close()
            os.close(self._reader)

    def _read(self) -> bool:
        """Read what is there, and tell whether there was any."""
        try:
            data = os.read(self._reader, _AT_ONCE)
        except BlockingIOError:
            return False
        self._kept = (self._kept + data)[-_KEPT:]
        return bool(data)
