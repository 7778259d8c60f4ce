"""Lock files and directories between processes. A lock ends with the process that holds it.

A lock is on an open file, so a killed holder leaves nothing to clean up. A lock file may be removed while it
is held exclusively: a process that waited for it notices and takes the new one. A directory can be locked
too, and keeps its lock when it is renamed.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

from amplihack.errors import AmplihackError

_SHORTEST, _LONGEST = 0.005, 0.25  # seconds between looks at a lock that somebody else holds
_NOTICEABLE = 2.0  # seconds after which whoever waits wants to know why
_BUSY = (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN)


class LockError(AmplihackError):
    """Raised when a lock cannot be taken: its file cannot be made, or another process keeps it too long."""


class HeldLock:
    """A held lock. `release`, or dropping the last reference, gives it up."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path, self._descriptor = path, descriptor
        self._close = weakref.finalize(self, os.close, descriptor)

    def is_current(self) -> bool:
        """Tell whether the path still names what is locked: somebody may have removed it by hand."""
        return self._close.alive and _is_current(self.path, self._descriptor)

    def note(self, text: str) -> None:
        """Write a word into the file of the lock, for those who find it held. Raises OSError."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text.encode(), 0)

    def release(self) -> None:
        self._close()

    def remove(self) -> None:
        """Remove the file of a lock that is held exclusively, and release it."""
        self.path.unlink(missing_ok=True)
        self.release()


def try_lock(path: Path, *, shared: bool = False) -> HeldLock | None:
    """Return the lock if it is free now, else None. Creates the file and its directory; follows no link."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise LockError(
            f"cannot make the lock {path}: {error.strerror}", fix="check the directory"
        ) from error
    return _try(path, descriptor, shared=shared)


def is_locked(path: Path) -> bool:
    """Tell whether a process holds the lock now. Makes no file, and needs no right to write."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    lock = _try(path, descriptor, shared=True)
    if lock is None:
        return True
    lock.release()
    return False


def try_lock_directory(path: Path, *, shared: bool = False) -> HeldLock | None:
    """Return the lock on a directory if it is free now, else None. Raises OSError if it is missing."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    return _try(path, descriptor, shared=shared)


def _try(path: Path, descriptor: int, *, shared: bool) -> HeldLock | None:
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        if _is_current(path, descriptor):
            return HeldLock(path, descriptor)
    except OSError as error:
        if error.errno not in _BUSY:
            os.close(descriptor)
            fix = "check who may write there, and that its file system knows locks"
            raise LockError(f"cannot lock {path}: {error.strerror}", fix=fix) from error
    os.close(descriptor)
    return None


@contextmanager
def locked(
    path: Path,
    *,
    shared: bool = False,
    patience: float | None = None,
    waiting: Callable[[], None] | None = None,
) -> Iterator[HeldLock]:
    """Hold the lock, after waiting up to `patience` seconds (None: without limit).

    `waiting` is called once, when the wait has become noticeable.
    """
    lock = _patiently(path, partial(try_lock, path, shared=shared), patience, waiting)
    try:
        yield lock
    finally:
        lock.release()


def lock_directory(path: Path, *, shared: bool = False, patience: float | None = None) -> HeldLock:
    """Return the lock on a directory, after waiting as `locked` does. Raises OSError if it is missing."""
    return _patiently(path, partial(try_lock_directory, path, shared=shared), patience)


def _patiently(
    path: Path,
    attempt: Callable[[], HeldLock | None],
    patience: float | None,
    waiting: Callable[[], None] | None = None,
) -> HeldLock:
    start = time.monotonic()
    deadline = None if patience is None else start + patience
    pause = _SHORTEST
    while (lock := attempt()) is None:
        now = time.monotonic()
        _check(deadline, now, path)
        if waiting is not None and now - start >= _NOTICEABLE:
            waiting()
            waiting = None
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST)
    return lock


@asynccontextmanager
async def locked_async(
    path: Path, *, shared: bool = False, patience: float | None = None
) -> AsyncIterator[HeldLock]:
    """Hold the lock like `locked`, without blocking the event loop."""
    clock = asyncio.get_running_loop().time
    deadline = None if patience is None else clock() + patience
    pause = _SHORTEST
    while (lock := try_lock(path, shared=shared)) is None:
        _check(deadline, clock(), path)
        await asyncio.sleep(pause)
        pause = min(pause * 2, _LONGEST)
    try:
        yield lock
    finally:
        lock.release()


def _check(deadline: float | None, now: float, path: Path) -> None:
    if deadline is not None and now >= deadline:
        raise LockError(f"another process holds {path}", fix="wait for it to finish, then try again")


def _is_current(path: Path, descriptor: int) -> bool:
    """Tell whether the name still leads to the locked file: its last holder may have removed it."""
    ours = os.fstat(descriptor)
    try:
        named = path.stat()
    except FileNotFoundError:
        return False
    return (ours.st_dev, ours.st_ino) == (named.st_dev, named.st_ino)
