"""Who uses which entries of the cache: one locked file for each user, so that nobody removes what is in use.

A lease lives as long as its lock, and the lock as long as its process: a lease that can be locked is stale.
"""

from __future__ import annotations

import errno
import os
import secrets
import threading
from contextlib import suppress
from pathlib import Path

from amplihack.system.locks import Lock, LockError, try_lock

_READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)


class Lease:
    """The entries that one user of the cache has been given, in any of its threads, until `release`."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._mutex = directory, threading.RLock()
        self._lock: Lock | None = None
        self._entries: set[str] = set()

    @property
    def path(self) -> Path | None:
        return self._lock.path if self._lock else None

    def add(self, entry: str) -> None:
        """Say that the entry is in use. Nobody else may be looking at the leases meanwhile."""
        with self._mutex:
            if self._lock is not None and not self._lock.path.exists():  # somebody emptied the cache by hand
                self.release()
            if entry in self._entries:
                return
            if self._lock is None:
                self._lock = try_lock(self._directory / f"{os.getpid()}-{secrets.token_hex(8)}")
            if self._lock is not None:
                with self._lock.path.open("a", encoding="utf-8") as file:
                    file.write(f"{entry}\n")
            self._entries.add(entry)

    def release(self) -> None:
        with self._mutex:
            self._entries.clear()
            if self._lock is not None:
                self._lock.remove()
                self._lock = None


def in_use(directory: Path, *, except_by: Path | None = None) -> frozenset[str]:
    """The entries that somebody uses. The caller keeps others from adding leases; stale ones are removed."""
    found: set[str] = set()
    for path in sorted(directory.iterdir()) if directory.is_dir() else []:
        if path == except_by:
            continue
        stale = try_lock(path)
        if stale is not None:
            stale.remove()
        else:
            with suppress(FileNotFoundError):  # given up this moment
                found.update(path.read_text("utf-8").splitlines())
    return frozenset(found)


def is_read_only(error: LockError) -> bool:
    cause = error.__cause__
    return isinstance(cause, OSError) and cause.errno in _READ_ONLY
