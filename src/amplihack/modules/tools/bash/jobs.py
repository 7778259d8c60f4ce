"""Keep a command that runs in the background of a session."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

from amplihack.errors import AmplihackError
from amplihack.system.pipes import Stream
from amplihack.system.processes import Command, Finished, run_process


class BackgroundJob:
    """A running command. Its newest output is kept, up to a limit."""

    def __init__(self, command: Command, most: int) -> None:
        self._most, self._lost = most, 0
        self._lines: deque[str] = deque()
        self._size = 0
        self._stopped = False
        self._task = asyncio.ensure_future(run_process(command, self._hear))

    @property
    def running(self) -> bool:
        return not self._task.done()

    @property
    def state(self) -> str:
        """Return `running`, `stopped`, or how it ended."""
        if self.running:
            return "running"
        if self._stopped or self._task.cancelled():
            return "stopped"
        error = self._task.exception()
        return f"failed: {error}" if error is not None else self._task.result().status

    def output(self) -> str:
        note = f"[… {self._lost} earlier characters left out …]\n" if self._lost else ""
        return note + "\n".join(self._lines)

    async def stop(self) -> None:
        """End it with everything that it started."""
        self._stopped = self._stopped or self.running
        self._task.cancel()
        with suppress(asyncio.CancelledError, AmplihackError):
            finished: Finished = await self._task
            del finished

    def _hear(self, stream: Stream, lines: Sequence[str]) -> None:
        del stream
        for line in lines:
            self._lines.append(line)
            self._size += len(line) + 1
        while self._size > self._most and len(self._lines) > 1:
            gone = len(self._lines.popleft()) + 1
            self._size, self._lost = self._size - gone, self._lost + gone
