"""Start a process that outlives this one: when we are killed, it ends what we had started.

It waits for the end of a pipe that only we hold open, so it notices our end whatever the cause. A bare `sh`
is enough to wait. Only when we have died does it become a Python that looks for the marks of our processes.
It is started once, before the first of them.
"""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress
from pathlib import Path

from amplihack.system.child import entries, start_child, wait_for
from amplihack.system.limit_marks import mark_what_we_start, marking, traces
from amplihack.system.process_table import own_start
from amplihack.system.temporary import temporary_place

_WAIT = 'cd / && trap "" HUP INT QUIT TERM; read -r word || exec "$@"'
_BECOME = (
    "import sys; sys.path.insert(0, sys.argv[1]); from amplihack.system.killed_runs import clear_up; "
    "clear_up(*sys.argv[2:])"
)
_ours: list[tuple[int, int]] = []  # the watcher of this process, our end of the pipe


def watch_over_us() -> None:
    """Start the watcher, if this process has none yet."""
    if _ours or not sys.executable:
        return
    with suppress(OSError):  # no more processes or files: starting the next process reports it
        _ours.append(_start())


def own_what_we_start() -> None:
    """Mark all that this process, which is there for one run, starts from now on, and watch over it."""
    if mark_what_we_start(int(own_start())) and _ours:
        _say_goodbye()  # one that was started before looks for no limits
    watch_over_us()


def watched_by() -> int | None:
    """Return the id of our watcher, if there is one."""
    return _ours[0][0] if _ours else None


def replace_killed() -> bool:
    """Start another watcher in the place of ours, which has ended, and tell whether there is one.

    One that ended by itself is not replaced: its successor would do the same.
    """
    for pid, writing in _ours:
        os.close(writing)
        if wait_for(pid) >= 0:
            _ours.clear()
            return False
    _ours.clear()
    watch_over_us()
    return bool(_ours)


def _start() -> tuple[int, int]:
    """Start a watcher. Returns its id, and the end of the pipe that keeps it waiting."""
    root, temporary = str(Path(__file__).parents[2]), str(temporary_place())
    # Isolated and without `site`: the user's environment must not decide what this Python loads.
    python = (sys.executable, "-I", "-S", "-c", _BECOME, root, traces(), temporary, str(os.getpid()))
    words = ("/bin/sh", "-c", _WAIT, "amplihack-watcher", *python)
    opened: list[int] = []
    try:
        opened += (pipe := os.pipe())
        reading, writing = pipe
        opened += (nowhere := os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC),)
        # No marks: neither we nor a run around us must take it for a process of a step.
        ours = marking()
        limit = 0 if ours is None else ours.hard
        pid = start_child(words, entries({"PATH": os.defpath}), (reading, nowhere, nowhere), limit=limit)
        opened.remove(writing)
    finally:
        for each in opened:
            os.close(each)
    return pid, writing


def _say_goodbye() -> None:
    """Tell it that there is nothing to do, and wait for it: in a container nobody else might."""
    for pid, writing in _ours:
        with suppress(OSError):
            os.write(writing, b"\n")
        os.close(writing)
        wait_for(pid)
    _ours.clear()


def _forget() -> None:
    """Close a fork's copy of the pipe, which only we may hold open. The fork has no watcher."""
    for _, writing in _ours:
        os.close(writing)
    _ours.clear()


atexit.register(_say_goodbye)
os.register_at_fork(after_in_child=_forget)
