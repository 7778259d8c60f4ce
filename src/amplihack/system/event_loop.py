"""Run a coroutine to its end from synchronous code."""

from __future__ import annotations

import asyncio
import contextvars
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from amplihack.system.process_tree import HURRY, STOPPING
from amplihack.system.stuck import answered, expect_answer

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
# Heard even where we were told to ignore Ctrl-C, as scripts tell what they start with `&`: a `kill` means us.
_REQUESTS = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT)
_GLANCE = 0.1  # seconds between looks at whether the caller was cancelled


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine and return its result. A running event loop is blocked meanwhile."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _in_a_thread(work)


def run_until_signal(work: Coroutine[Any, Any, T], *, stopping: Callable[[], None]) -> T:
    """Run it in the main thread; Ctrl-C and similar signals cancel it, then KeyboardInterrupt is raised.

    The first signal calls `stopping`. Each later one leaves no more time to processes that are ending.
    """

    async def main() -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        _end_on_signals(task, stopping)
        await asyncio.wait([task])
        return task

    try:
        with _own_interrupts(), asyncio.Runner(loop_factory=_CommandLoop) as runner:
            ended = runner.run(main())
    finally:
        answered()
    if ended.cancelled():
        raise KeyboardInterrupt
    return ended.result()


class _CommandLoop(asyncio.SelectorEventLoop):
    """The usual event loop, which hears four signals, and takes our word that they are signals."""

    def _check_signal(self, sig: int) -> None:
        """Ask nothing: asyncio makes a set of all signals, by name, for each one that it adds or removes."""


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Keep asyncio from hearing Ctrl-C itself, since we do.

    To replace its handler, Python describes it, with the task that it would cancel. What that loads costs
    more than a step.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _interrupt(_number: int, _frame: object) -> NoReturn:
    """Do as Python does by default, until we listen."""
    raise KeyboardInterrupt


def _end_on_signals(task: asyncio.Task[Any], stopping: Callable[[], None]) -> None:
    asked: list[int] = []

    def hear() -> None:
        if asked:
            HURRY.set()
        else:
            STOPPING.set()
            task.cancel()
            stopping()
        asked.append(1)
        answered()

    survived = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN  # `nohup` asks for that
    for number in _REQUESTS if survived else (*_REQUESTS, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, hear)
        signal.signal(number, expect_answer)  # not asyncio's own, which no write that waits would notice


def _in_a_thread(work: Coroutine[Any, Any, T]) -> T:
    """Run it in a thread with its own event loop: two loops cannot run in one thread.

    Ctrl-C reaches only the waiting thread. It cancels the coroutine and waits until that has cleaned up.
    """
    from concurrent.futures import Future, ThreadPoolExecutor, wait  # deferred: most runs need no thread

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
    from concurrent.futures import FIRST_COMPLETED, wait

    either: tuple[Future[Any], ...] = (begun, ended)
    wait(either, return_when=FIRST_COMPLETED)
    if not ended.done():
        loop, task = begun.result()
        with suppress(RuntimeError):  # it has come to its end meanwhile, and its loop is closed
            loop.call_soon_threadsafe(task.cancel)
