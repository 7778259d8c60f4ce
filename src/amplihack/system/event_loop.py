"""Running a coroutine to its end from code that is not asynchronous."""

from __future__ import annotations

import asyncio
import contextvars
import signal
from collections.abc import Coroutine
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """Return what the coroutine returns; works inside a running event loop too, which waits meanwhile."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _in_a_thread(work)


def run_until_signal(work: Coroutine[Any, Any, T]) -> T:
    """Run it in the main thread; SIGINT or SIGTERM cancels it. Raises KeyboardInterrupt once it has ended."""

    async def main() -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        await asyncio.wait([task])
        return task

    ended = asyncio.run(main())
    if ended.cancelled():
        raise KeyboardInterrupt
    return ended.result()


def _in_a_thread(work: Coroutine[Any, Any, T]) -> T:
    """Run it in a thread with an event loop of its own: two loops cannot run in one thread.

    Ctrl-C reaches only the waiting thread. It cancels the coroutine, and waits until that has cleaned up.
    """
    begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = Future()

    async def main() -> T:
        task = asyncio.current_task()
        if task is not None:
            begun.set_result((asyncio.get_running_loop(), task))
        return await work

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="amplihack-run") as pool:
        ended = pool.submit(contextvars.copy_context().run, asyncio.run, main())
        try:
            return ended.result()
        except BaseException:
            either: tuple[Future[Any], ...] = (begun, ended)
            wait(either, return_when=FIRST_COMPLETED)
            if not ended.done():
                loop, task = begun.result()
                with suppress(RuntimeError):  # it has come to its end meanwhile, and its loop is closed
                    loop.call_soon_threadsafe(task.cancel)
            raise
