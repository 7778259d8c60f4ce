"""Run one turn after another, each as a task that we hold: its error and its end are ours to see."""

from __future__ import annotations

import asyncio
from typing import Any

from amplihack.sessions.errors import SessionError

_REACTION = 0.2  # seconds for a loop to notice by itself that it should stop
_PATIENCE = 8.0  # seconds for a loop and its tools to end once they are cancelled: a process gets 5 of them
_AGAIN = 0.5  # seconds after which a task that swallowed its cancellation is cancelled again


class HeldTurn:
    """Stands where the kernel looks for the orchestrator; everything but `execute` is the loop's own."""

    def __init__(self, loop: Any) -> None:
        self._loop = loop
        self._task: asyncio.Task[Any] | None = None
        self.error: BaseException | None = None
        self.stopped = False
        self._refused = False  # it was stopped before it began

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)

    def expect(self) -> None:
        """Forget the turn before: another one is about to begin."""
        self.error, self.stopped, self._refused = None, False, False

    async def execute(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if self._refused:
                raise asyncio.CancelledError
            self._task = asyncio.ensure_future(self._staying(*args, **kwargs))
            return await self._task
        except BaseException as error:
            self.error = error  # the kernel makes a RuntimeError of whatever is raised here
            raise

    async def _staying(self, *args: Any, **kwargs: Any) -> Any:
        """Run the loop. One of its tools that exits must not take the host with it."""
        try:
            return await self._loop.execute(*args, **kwargs)
        except SystemExit as error:
            what = f"the loop or one of its tools wanted to end the program: SystemExit({error})"
            raise SessionError(what, fix="let the tool return a failed result instead") from error

    @property
    def is_running(self) -> bool:
        return self._task is not None and not self._task.done()

    async def stop(self) -> bool:
        """Cancel the loop and the tools that it waits for; one that is about to begin does not begin.

        Returns whether it has ended.
        """
        task = self._task
        if task is None or task.done():
            self._refused = True
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
