"""Running a coroutine to its end from code that is not asynchronous."""

from __future__ import annotations

import asyncio
import contextvars
import signal
from collections.abc import Coroutine
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")
_GLANCE = 0.1  # seconds between looks at whether the caller was cancelled


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

    Ctrl-C reaches only the thread that waits. It cancels the coroutine and waits until that has cleaned up.
    """
    from concurrent.futures import ThreadPoolExecutor  # deferred: most runs need no thread

    caller = asyncio.current_task()
    earlier = caller.cancelling() if caller else 0  # code that cleans up after a cancellation may call us
    begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = Future()

    async def main() -> T:
        task = asyncio.create_task(work)
        begun.set_result((asyncio.get_running_loop(), task))
        return await task

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="amplihack-run") as pool:
        ended = pool.submit(contextvars.copy_context().run, asyncio.run, main())
        try:
            # `asyncio.run` answers Ctrl-C by cancelling its task, which cannot notice while it waits here.
            while not wait((ended,), timeout=_GLANCE).done:
                if caller and caller.cancelling() > earlier:
                    raise asyncio.CancelledError
            return ended.result()
        except BaseException:
            _cancel(begun, ended)
            raise


def _cancel(begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]], ended: Future[Any]) -> None:
    either: tuple[Future[Any], ...] = (begun, ended)
    wait(either, return_when=FIRST_COMPLETED)
    if not ended.done():
        loop, task = begun.result()
        with suppress(RuntimeError):  # it has come to its end meanwhile, and its loop is closed
            loop.call_soon_threadsafe(task.cancel)
