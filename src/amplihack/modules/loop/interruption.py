"""Notice that a turn is to end, and end what runs for it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from amplihack.sessions.errors import SessionError
from amplihack.system.undisturbed import undisturbed

T = TypeVar("T")

_LOOK = 0.05  # seconds between two looks: the kernel's token wakes nobody
PATIENCE = 15.0  # seconds that cancelled work gets to clean up
_LAST_WORDS = 3.0  # seconds that a cancelled turn gets to store and to tell something: a hook may hang there


class TurnInterrupted(Exception):
    """Raised inside a turn that is to end."""


class Interruption:
    """The kernel's cancellation token, or none."""

    def __init__(self, coordinator: Any) -> None:
        self._token = getattr(coordinator, "cancellation", None)
        self._now = False

    @property
    def asked(self) -> bool:
        return self._now or (self._token is not None and bool(self._token.is_cancelled))

    @property
    def immediate(self) -> bool:
        return self._now or (self._token is not None and bool(self._token.is_immediate))

    def now(self) -> None:
        """Remember that the task of the turn was cancelled, and let the turn end in order."""
        self._now = True
        task = asyncio.current_task()
        while task is not None and task.cancelling():
            task.uncancel()

    @property
    def state(self) -> str:
        return "immediate" if self._now or self._token is None else str(self._token.state)

    def check(self) -> None:
        """Raise TurnInterrupted when the user asked for the end, in whatever way."""
        if self.asked:
            raise TurnInterrupted

    def tool_started(self, call_id: str, name: str) -> None:
        if self._token is not None:
            self._token.register_tool_start(call_id, name)

    def tool_ended(self, call_id: str) -> None:
        if self._token is not None:
            self._token.register_tool_complete(call_id)

    async def guard(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of the work. Raises TurnInterrupted if it had to end at once, and has ended.

        Raises SessionError for work that cancelled itself, or wanted to end the program.
        """
        task = asyncio.ensure_future(_staying(work))
        try:
            await self.wait({task})
        except asyncio.CancelledError:
            self.now()
            await self.finish(end([task]), PATIENCE)
        if task.done() and not task.cancelled():
            return task.result()
        if task.cancelled() and not self.asked:
            what = "the provider cancelled its own call, although nobody had asked for it"
            raise SessionError(what, fix="ask again; if it stays so, look into the provider")
        await self.finish(end([task]), PATIENCE)
        raise TurnInterrupted

    async def finish(self, work: Coroutine[Any, Any, None], seconds: float | None = None) -> None:
        """Do the work to its end. If the turn is cancelled meanwhile, it ends at its next look.

        From then on, the work gets `seconds`, or a few: a turn that nobody can end would end its session.
        """
        task = asyncio.ensure_future(work)
        deadline: float | None = None
        clock = asyncio.get_running_loop().time
        while not task.done() and (deadline is None or clock() < deadline):
            try:
                await asyncio.wait({task}, timeout=None if deadline is None else deadline - clock())
            except asyncio.CancelledError:
                self.now()
                deadline = deadline or clock() + (_LAST_WORDS if seconds is None else seconds)
        if not task.done():
            task.cancel()
            await undisturbed(_settled(task))
        if task.done() and not task.cancelled():
            task.result()

    async def wait(self, tasks: set[asyncio.Future[T]]) -> None:
        """Wait until all are done, or until everything must end at once."""
        pending = tasks
        while pending and not self.immediate:
            _, pending = await asyncio.wait(pending, timeout=_LOOK)


async def end(tasks: Iterable[asyncio.Future[Any]]) -> None:
    """Cancel what is left and wait until it has cleaned up, for a bounded time."""
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running, timeout=PATIENCE)


async def _settled(task: asyncio.Future[Any]) -> None:
    """Give a cancelled task a moment to notice."""
    await asyncio.wait({task}, timeout=_LOOK)


async def _staying(work: Coroutine[Any, Any, T]) -> T:
    """Do work of a module; in a task of its own, an exit would end the program at once."""
    try:
        return await work
    except SystemExit as error:
        what = f"the provider wanted to end the program: SystemExit({error})"
        raise SessionError(what, fix="look into the provider, or use another one") from error
