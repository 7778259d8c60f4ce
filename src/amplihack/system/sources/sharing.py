"""Share work that several callers wait for, so that it is done once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from amplihack.records import Record

T = TypeVar("T")


class _Job(Record, Generic[T], frozen=False):
    task: asyncio.Task[T]
    waiting: int = 0


class Shared(Generic[T]):
    """Jobs by name. A caller that stops waiting leaves the job to the others; the last one ends it."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._jobs: dict[str, _Job[T]] = {}
        self._slots: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None

    def slot(self) -> asyncio.Semaphore:
        """Return the semaphore that limits how many jobs run at once."""
        loop = asyncio.get_running_loop()  # a caller may use one event loop after another
        if self._slots is None or self._slots[0] is not loop:
            self._slots = (loop, asyncio.Semaphore(self._at_once))
        return self._slots[1]

    async def get(self, name: str, start: Callable[[], Awaitable[T]]) -> T:
        job = self._jobs.get(name)
        if job is None or job.task.done():
            job = self._jobs[name] = _Job(asyncio.create_task(_run(start)))
        job.waiting += 1
        try:
            return await asyncio.shield(job.task)
        finally:
            job.waiting -= 1
            if job.waiting == 0:
                await self._end(name, job)

    async def close(self) -> None:
        for name, job in list(self._jobs.items()):
            await self._end(name, job)

    async def _end(self, name: str, job: _Job[T]) -> None:
        if self._jobs.get(name) is job:
            del self._jobs[name]
        if not job.task.done():
            job.task.cancel()
            await asyncio.wait([job.task])
            if not job.task.cancelled():
                job.task.exception()  # marks it as retrieved: no caller is left


async def _run(start: Callable[[], Awaitable[T]]) -> T:
    return await start()
