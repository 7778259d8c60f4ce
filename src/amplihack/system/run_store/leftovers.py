"""Remove what killed commands left: directories of runs that are not kept, and values that were half written.

A directory without a record may also be that of a run whose record is in another copy of the database, which
somebody may put back. So only one that holds nothing, or that says itself that it is not kept, is removed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from amplihack.errors import AmplihackError
from amplihack.system.files import remove_tree
from amplihack.system.locks import try_lock
from amplihack.system.replace import UNFINISHED

_SOON = 10.0  # seconds in which whoever has made a directory takes its lock
_MARK, _LOCK = ".not-kept", "lock"


def say_not_kept(directory: Path) -> None:
    """Mark the directory of a run that has no record yet, or will soon have none."""
    with suppress(OSError):  # on a full disk too, a run can be removed
        (directory / _MARK).touch(mode=0o600)


def say_kept(directory: Path) -> None:
    """Take the mark away, and what an earlier life did not finish writing."""
    with suppress(OSError):  # it harms nobody: a run that has a record is never removed for it
        (directory / _MARK).unlink(missing_ok=True)
        for entry in os.scandir(directory / "values"):
            if entry.name.startswith(UNFINISHED):
                Path(entry.path).unlink(missing_ok=True)


def remove_run_directory(directory: Path) -> None:
    """Remove the directory of a run that has no record. The mark goes last, as a kill may cut this short."""
    for path in directory.iterdir():
        if path.name != _MARK:
            remove_tree(path)
    remove_tree(directory)


def lost_runs(runs: Path, *, is_kept: Callable[[str], bool]) -> list[str]:
    """Return the names of directories that hold something of a run which has no record and should have."""
    found = []
    with suppress(OSError):
        for entry in os.scandir(runs):
            if entry.is_dir(follow_symlinks=False) and not is_kept(entry.name):
                content = {each.name for each in os.scandir(entry.path)}
                if _MARK not in content and not content <= {_LOCK}:
                    found.append(entry.name)
    return sorted(found)


def remove_leftovers(runs: Path, *, is_kept: Callable[[str], bool]) -> None:
    """Remove the directories that belong to no run. What cannot be removed stays for another time."""
    with suppress(OSError):
        for entry in list(os.scandir(runs)):
            if entry.is_dir(follow_symlinks=False) and not is_kept(entry.name):
                with suppress(OSError, AmplihackError):
                    _remove(Path(entry.path), is_kept)


def _remove(directory: Path, is_kept: Callable[[str], bool]) -> None:
    content = {path.name for path in directory.iterdir()}
    begun = content <= {_LOCK} and time.time() - directory.stat().st_mtime > _SOON
    if _MARK not in content and not begun:
        return
    lock = try_lock(directory / _LOCK)
    if lock is None:
        return  # somebody makes the run just now
    try:
        if not is_kept(directory.name):
            remove_run_directory(directory)
    finally:
        lock.release()
