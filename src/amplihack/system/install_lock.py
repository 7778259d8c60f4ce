"""Let one process at a time change what is installed. Whoever waits is told for whom."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from amplihack.install.decide import LOCK
from amplihack.install.errors import shown_path
from amplihack.system.locks import HeldLock, LockError, locked, try_lock

_LONGEST = 4096  # bytes that are read of what a holder says


@contextmanager
def install_lock(
    root: Path, *, doing: str, say: Callable[[str], None], patience: float | None
) -> Iterator[HeldLock]:
    """Hold the install lock of a home root. `doing` tells others why. Raises LockError.

    The lock belongs to an open file, so a process must not take it twice: hand the held lock down instead.
    """
    path = root / LOCK
    require_own_lock(root)

    def tell() -> None:
        say(f"amplihack: waiting for another install (pid {holder(root).get('pid', 'unknown')})")

    with locked(path, patience=patience, waiting=tell) as held:
        with suppress(OSError):  # a disk may be full; who holds it is good to know, and no more
            _sign(path, doing)
        yield held


def is_locked(root: Path) -> bool:
    """Tell whether a process is installing now. It makes no lock file where there is none."""
    if not (root / LOCK).is_file():
        return False
    lock = try_lock(root / LOCK)
    if lock is None:
        return True
    lock.release()
    return False


def holder(root: Path) -> dict[str, Any]:
    """Return `pid`, `since` and `command` of the process that took the lock last, or nothing."""
    try:
        with (root / LOCK).open("rb") as file:
            said = json.loads(file.read(_LONGEST) or b"{}")
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}


def _sign(path: Path, doing: str) -> None:
    """Write into the lock file who holds it; it is ours and regular, and nobody else writes now."""
    said = json.dumps({"pid": os.getpid(), "since": time.time(), "command": doing}).encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_TRUNC)
    try:
        os.fchmod(descriptor, 0o600)
        os.write(descriptor, said)
    finally:
        os.close(descriptor)


def require_own_lock(root: Path) -> None:
    """Raise LockError for a lock file that is no regular file of ours."""
    path = root / LOCK
    try:
        status = path.lstat()
    except OSError:
        return  # it is made, or the lock tells why that is impossible
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
        raise LockError(
            f"the install lock {shown_path(path)} is a link, no regular file, or belongs to somebody else",
            fix="look at what it is and who made it, then delete it",
        )
