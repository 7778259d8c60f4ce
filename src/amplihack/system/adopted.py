"""Reap the children that the first process of a container inherits.

Whoever loses its parent there becomes a child of ours, and stays as a zombie until we ask how it ended. A
container has room for a few thousand processes, and zombies count.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Container
from contextlib import suppress

from amplihack.system.limit_marks import step_with
from amplihack.system.process_table import limits_of


def keep_reaping(waited_for: Container[int]) -> Callable[[], None]:
    """Reap what ends and was started by steps, but not those that somebody waits for; the result stops it."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGCHLD, _reap, waited_for)
    return lambda: _stop(loop)


def _stop(loop: asyncio.AbstractEventLoop) -> None:
    loop.remove_signal_handler(signal.SIGCHLD)


def _reap(waited_for: Container[int]) -> None:
    with suppress(ChildProcessError):  # there are no more
        while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
            # Those without a step are for us or for our sessions, who ask for the end of them soon.
            if ended.si_pid in waited_for or not step_with(limits_of(ended.si_pid)):
                return
            os.waitpid(ended.si_pid, 0)
