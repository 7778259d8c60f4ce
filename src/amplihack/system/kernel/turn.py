"""Run one turn after another, each as a task that we hold: its error and its end are ours to see."""

from __future__ import annotations

import asyncio
from typing import Any

from amplihack.sessions.errors import SessionError

_REACTION = 0.2  # seconds for a loop to notice by itself that it should stop
_PATIENCE = 5.0  # seconds for a loop and its tools to end once they are cancelled
_AGAIN = 0.5  # seconds after which a task that swallowed its cancellation is cancelled again


class HeldTurn:
    """Stands where the kernel looks for the orchestrator; everything but `execute` is the loop's own."""

    def __init__(self, loop: Any) -> None:
        self._loop = loop
        self._task: asyncio.Task[Any] | None = None
        self.error: BaseException | None = None
        self.stopped = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)

    async def execute(self, *args: Any, **kwargs: Any) -> Any:
        self.error, self.stopped = None, False
        self._task = asyncio.ensure_future(self._loop.execute(*args, **kwargs))
        try:
            return await self._task
        except BaseException as error:
            self.error = error  # the kernel makes a RuntimeError of whatever is raised here
            raise

    @property
    def is_running(self) -> bool:
        return self._task is not None and not self._task.done()

    async def stop(self) -> bool:
        """Cancel the loop and the tools that it waits for. Returns whether it has ended."""
        task = self._task
        if task is None or task.done():
            return True
        await asyncio.wait({task}, timeout=_REACTION)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _PATIENCE
        while not task.done() and loop.time() < deadline:
            self.stopped = True
            task.cancel()
            await asyncio.wait({task}, timeout=_AGAIN)
        return task.done()

    def require_ended(self) -> None:
        """Raise SessionError while an earlier turn still runs although it was cancelled."""
        if self.is_running:
            raise SessionError(
                "the turn before was cancelled and has not ended: its loop or one of its tools does not stop",
                fix="wait for it, or open the session again in a new process",
            )
