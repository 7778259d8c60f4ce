"""Clean up after a killed run: end its processes and remove its files.

Its watcher does it at once, otherwise the next run. The name of a directory holds the process id and the
start time of its owner, and the traces of what it started; the owner holds a lock on it as long as it lives.
A directory is removed only if both say that the owner is gone: a process id may be in use again, or belong to
a process that is invisible from here.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from pathlib import Path

from amplihack.system.limit_marks import sign_of
from amplihack.system.locks import LockError, try_lock_directory
from amplihack.system.process_table import kill, look_up, tree

_DIRECTORIES = ("amplihack-run-", "amplihack-agent-", "amplihack-install-")
_PROGRESS = ("amplihack-progress-", ".amplihack-progress-")
_ABANDONED = 60.0  # seconds; a run that lives renews its progress file far more often
_FORGOTTEN = 86_400.0  # seconds after which it does not even help that a process has the number of its owner
_NO_MORE = ("", "", "")  # parts of a name that may be missing
_PAUSE, _PATIENCE = 0.01, 10.0  # seconds between two looks at what is being killed, and in all
_LAST_LOOKS = 5


def clear_up(traces: str, temporary: str, runner: str) -> None:
    """End what a killed runner left running, and remove what it left on the disk."""
    remove_abandoned(Path(temporary), {runner, *_kill_all(traces)})


def _kill_all(traces: str) -> set[str]:
    """Kill all that was to die with a runner that left these traces, and return the ids."""
    dead, deadline = set[str](), time.monotonic() + _PATIENCE
    sign, looks = sign_of(traces), 0  # without anything alive
    while sign and looks < _LAST_LOOKS and time.monotonic() < deadline:
        alive = tree(sign)
        looks = 0 if alive else looks + 1  # one that has just started another may hide it from a look
        kill(alive, sign)  # without a period of grace: the run that could wait for it is gone
        dead |= {str(member.pid) for member in alive}  # one may have been a runner itself
        time.sleep(_PAUSE)
    return dead


def remove_abandoned(directory: Path, dead: AbstractSet[str] = frozenset()) -> None:
    """Remove what runs left in the temporary directory; `dead` are processes that have just ended."""
    with suppress(OSError):  # a courtesy: a directory that cannot be listed is no reason not to run
        found = [each for each in os.scandir(directory) if each.name.startswith((*_DIRECTORIES, *_PROGRESS))]
        ended = set(dead)
        for entry in sorted(found, key=_is_progress):  # directories tell for sure who has ended
            with suppress(OSError):
                if entry.stat(follow_symlinks=False).st_uid != os.getuid():
                    continue
                if _is_progress(entry):
                    _remove_progress(entry, ended)
                elif entry.is_dir(follow_symlinks=False):
                    ended |= _remove_directory(entry, dead)


def _is_progress(entry: os.DirEntry[str]) -> bool:
    return entry.name.startswith(_PROGRESS)


def _remove_progress(entry: os.DirEntry[str], ended: AbstractSet[str]) -> None:
    owner = entry.name.partition(".json")[0].rpartition("-")[2]
    age = time.time() - entry.stat(follow_symlinks=False).st_mtime
    old = age > _FORGOTTEN or (age > _ABANDONED and (_gone(owner) or _started_within(owner, age)))
    if entry.is_file(follow_symlinks=False) and (old or owner in ended):
        Path(entry.path).unlink(missing_ok=True)


def _remove_directory(entry: os.DirEntry[str], dead: AbstractSet[str]) -> set[str]:
    """Remove the directory of a run that has ended. Returns the ids of who has surely ended with it."""
    _, _, owner, started, traces, *_ = [*entry.name.split("-"), *_NO_MORE]
    ended = set[str]()
    if owner in dead or _gone(owner, started):
        with _unlocked(Path(entry.path)) as (free, sure):
            if sure:  # its watcher may have been killed too, and is in any case: we do what is left for it
                ended = _kill_all(traces) | ({owner} if _gone(owner) else set())
            if free:
                shutil.rmtree(entry.path, ignore_errors=True)
    return ended


@contextmanager
def _unlocked(directory: Path) -> Iterator[tuple[bool, bool]]:
    """Tell whether nobody seems to hold the lock of a directory, and whether we do, during the block."""
    try:
        lock = try_lock_directory(directory)
    except LockError:  # a file system without locks: the number and the start have to do
        yield True, False
        return
    yield lock is not None, lock is not None
    if lock is not None:
        lock.release()


def _started_within(owner: str, seconds: float) -> bool:
    """Tell whether the process with that id is younger than this, and so not who wrote an older file."""
    now = look_up(int(owner)) if owner.isdecimal() else None
    if now is None:
        return False
    alive = time.clock_gettime(time.CLOCK_BOOTTIME) - int(now.started) / os.sysconf("SC_CLK_TCK")
    return alive < seconds


def _gone(owner: str, started: str | None = None) -> bool:
    """Tell whether the process with that id, and that start time if given, has ended."""
    if not owner.isdecimal():
        return False
    now = look_up(int(owner))
    if now is not None:
        return now.zombie or (started is not None and now.started != started)
    try:
        os.kill(int(owner), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False
