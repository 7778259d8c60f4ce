"""Make private directories that live no longer than a run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from amplihack.errors import AmplihackError
from amplihack.system.killed_runs import remove_abandoned
from amplihack.system.limit_marks import traces
from amplihack.system.locks import HeldLock, LockError, try_lock_directory
from amplihack.system.process_table import own_start
from amplihack.system.temporary import make_directory, temporary_place
from amplihack.system.watcher import watch_over_us


@contextmanager
def scratch_directory(kind: str) -> Iterator[Path]:
    """Make a private directory, for a `run`, an `agent` or an `install`, and remove it at the end.

    If this process is killed, the watcher removes the directory at once, or the next run or install does.
    """
    watch_over_us()
    temporary = temporary_place()
    if kind != "agent":  # there may be many of them, each within a run
        remove_abandoned(temporary)
    try:
        path = make_directory(f"amplihack-{kind}-{os.getpid()}-{own_start()}-{traces()}-", temporary)
    except OSError as error:
        raise AmplihackError(
            f"cannot make a temporary directory: {error.strerror or error}",
            fix="free some space, or set TMPDIR to a directory that you can write to",
        ) from error
    lock = _lock(path)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        if lock is not None:
            lock.release()


def _lock(path: Path) -> HeldLock | None:
    """Show others that the directory is in use, if the file system has locks."""
    try:
        return try_lock_directory(path)
    except LockError:
        return None
