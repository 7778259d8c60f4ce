"""What Ctrl-C and its kin do: end a run, hurry one that is ending, and never cut a result in two."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from amplihack.cli.show import flush_out
from amplihack.system.process_tree import HURRY

_REQUESTS = (signal.SIGINT, signal.SIGTERM)
_PERHAPS_IGNORED = (signal.SIGHUP, signal.SIGQUIT)  # `nohup` and shells ask programs not to hear these


def end_on_signals(run: asyncio.Task[Any]) -> None:
    """Cancel the run at the first signal; at each later one, leave no more time to what is ending."""
    asked: list[int] = []

    def hear() -> None:
        if asked:
            HURRY.set()
        else:
            run.cancel()
            with suppress(OSError, ValueError):  # the terminal may be gone; that may be why we end
                sys.stderr.write("stopping … (again to stop at once)\n")
                sys.stderr.flush()
        asked.append(1)

    heard = [each for each in _PERHAPS_IGNORED if signal.getsignal(each) is not signal.SIG_IGN]
    for number in (*_REQUESTS, *heard):
        asyncio.get_running_loop().add_signal_handler(number, hear)


@contextmanager
def telling_the_result() -> Iterator[None]:
    """Let a result that is being written reach its reader whole; a second Ctrl-C still ends it."""
    asked: list[int] = []

    def hear(number: int, _frame: FrameType | None) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    before = signal.signal(signal.SIGINT, hear)
    try:
        yield
        flush_out()
    finally:
        signal.signal(signal.SIGINT, before)
