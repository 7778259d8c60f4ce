"""Read one output stream of a process in chunks, without blocking the event loop."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

from amplihack.system.lines import LineSplitter
from amplihack.system.readiness import Readiness

Stream: TypeAlias = Literal["stdout", "stderr"]
_READ = 65_536  # as much as a pipe holds


class Reader(Protocol):
    """Receives what a process prints. What these methods raise, `on_error` gets."""

    def on_data(self, stream: Stream, data: bytes) -> None: ...

    def on_lines(self, stream: Stream, lines: Sequence[str]) -> None: ...

    def on_end(self) -> None: ...

    def on_error(self, error: BaseException) -> None: ...


class OutputPipe:
    """Passes every chunk, and all whole lines if `longest_line` is given, to the reader.

    It reads when it is drained, and by itself once it listens. Lines are told at once, or from then on.
    """

    __slots__ = (
        "_descriptor", "_listens", "_longest_line", "_reader", "_readiness", "_splitter", "_stream", "open",
    )  # fmt: skip

    def __init__(
        self,
        stream: Stream,
        descriptor: int,
        reader: Reader,
        readiness: Readiness,
        longest_line: int | None,
        *,
        at_once: bool = True,
    ) -> None:
        self.open, self._listens = True, False
        self._stream: Stream = stream
        self._descriptor, self._reader, self._readiness = descriptor, reader, readiness
        self._longest_line = None if at_once else longest_line
        self._splitter = LineSplitter(longest_line) if at_once and longest_line is not None else None
        os.set_blocking(descriptor, False)

    def listen(self) -> None:
        """Read from now on whenever something arrives."""
        if self.open and not self._listens:
            self._listens = True
            if self._longest_line is not None:
                self._splitter = LineSplitter(self._longest_line)
            self._readiness.add(self._descriptor, self._read)

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
            self._reader.on_data(self._stream, data)
            if self._splitter is not None and (lines := self._splitter.feed(data)):
                self._reader.on_lines(self._stream, lines)
        except BaseException as error:  # noqa: BLE001 - raised again where the process is awaited
            self._splitter = None
            self._reader.on_error(error)
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
        if self._listens:
            self._readiness.remove(self._descriptor)
        os.close(self._descriptor)
        self._reader.on_end()
        try:
            if self._splitter is not None and (lines := self._splitter.end()):
                self._reader.on_lines(self._stream, lines)
        except BaseException as error:  # noqa: BLE001 - as above
            self._reader.on_error(error)
