"""Run slow work off the event loop, and stop it when nobody waits for it any more."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from amplihack.system.undisturbed import undisturbed

T = TypeVar("T")


class Stopped(Exception):
    """Raised inside the work when it is no longer wanted."""


class Stop:
    """Tells work in a thread that it is no longer wanted."""

    def __init__(self) -> None:
        self._lock, self._asked = threading.Lock(), False
        self._interrupt: Callable[[], None] | None = None

    def check(self) -> None:
        if self._asked:
            raise Stopped

    def interrupt_with(self, action: Callable[[], None] | None) -> None:
        """Set what ends the current wait of the work, such as closing its socket."""
        with self._lock:
            self._interrupt = action
        if action is not None:
            self.check()

    def ask(self) -> None:
        with self._lock:
            self._asked = True
            if self._interrupt is not None:
                self._interrupt()


async def in_thread(work: Callable[[Stop], T]) -> T:
    """Run the work in a thread and return its result. When cancelled, stop it and wait for its end."""
    stop = Stop()
    task = asyncio.ensure_future(asyncio.to_thread(work, stop))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        stop.ask()
        await undisturbed(_ended(task))
        raise


async def _ended(task: asyncio.Future[T]) -> None:
    with suppress(BaseException):  # the result does not matter: the caller has already been cancelled
        await task
