"""Read one output stream of a process in chunks, without blocking the event loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence

from amplihack.system.lines import LineSplitter

_READ = 262_144


class OutputPipe:
    """Passes every chunk to `on_data` and all whole lines to `on_lines`, then calls `on_end`.

    Exceptions of these go to `on_error`.
    """

    def __init__(
        self,
        descriptor: int,
        *,
        longest_line: int,
        on_data: Callable[[bytes], None],
        on_lines: Callable[[Sequence[str]], None] | None,
        on_end: Callable[[], None],
        on_error: Callable[[BaseException], None],
    ) -> None:
        self.open = True
        self._descriptor = descriptor
        self._on_data, self._on_lines, self._on_end, self._on_error = on_data, on_lines, on_end, on_error
        self._splitter = LineSplitter(longest_line)
        self._loop = asyncio.get_running_loop()
        os.set_blocking(descriptor, False)
        self._loop.add_reader(descriptor, self._read)

    def _read(self) -> bool:
        """Read what is there, and tell whether there may be more."""
        try:
            data = os.read(self._descriptor, _READ)
        except BlockingIOError:
            return False
        try:
            if not data:
                self.close()
                return False
            self._on_data(data)
            if self._on_lines is not None and (lines := self._splitter.feed(data)):
                self._on_lines(lines)
        except BaseException as error:  # noqa: BLE001 - raised again where the process is awaited
            self._on_lines = None
            self._on_error(error)
        return True

    def drain(self) -> None:
        """Read what is already in the pipe. Bounded, because a background process may print without end."""
        for _ in range(64):
            if not self.open or not self._read():
                return

    def close(self) -> None:
        if not self.open:
            return
        self.open = False
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)
        self._on_end()
        try:
            if self._on_lines is not None and (lines := self._splitter.end()):
                self._on_lines(lines)
        except BaseException as error:  # noqa: BLE001 - as above
            self._on_error(error)
