"""Tell who runs a run. Whoever writes to it holds the lock of its directory, which ends with its process."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from amplihack.records import Record, as_dict
from amplihack.system.locks import HeldLock, LockError, is_locked, try_lock
from amplihack.system.process_table import look_up, own_start
from amplihack.system.run_store.values import StoreError, cannot_write


class Owner(Record, kw_only=True):
    """A process. `started` and `boot` distinguish it from a later one with the same id."""

    pid: int
    started: str
    boot: str
    host: str
    since: float

    def shown(self) -> str:
        from amplihack.moments import local_time  # deferred: most runs have no other owner to tell of

        return f"process {self.pid} on {self.host}, since {local_time(self.since)}"

    def to_json(self) -> str:
        return json.dumps(as_dict(self))

    @property
    def is_here(self) -> bool:
        """Tell whether it is this very process of this machine, not one that got its number."""
        now = look_up(self.pid)
        same = now is None or now.started == self.started
        return same and self.host == host_name() and self.boot == boot_id()


class RunIsTaken(StoreError):
    """Raised when another process has the run."""


def this_owner() -> Owner:
    return Owner(pid=os.getpid(), started=own_start(), boot=boot_id(), host=host_name(), since=time.time())


def owner_from_json(text: str | None) -> Owner | None:
    if text is None:
        return None
    shown: dict[str, Any] = json.loads(text)
    return Owner(**shown)


def host_name() -> str:
    return os.uname().nodename


def boot_id() -> str:
    """Return what distinguishes this start of the machine from others; empty where it cannot be known."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("utf-8").strip()
    except OSError:
        return ""


def take(directory: Path) -> HeldLock | None:
    """Return the lock of a run, with our name in it; None if another process has it. Raises StoreError."""
    for pause in (0.0, 0.01, 0.05, 0.1):  # who only looks whether it is taken holds it for a moment
        time.sleep(pause)
        _make(directory)
        try:
            lock = try_lock(directory / "lock")
        except LockError:
            if directory.exists():
                raise
            continue  # somebody removes an old one of that name just now
        if lock is not None:
            with suppress(OSError):  # as on a full disk: then nobody learns who has it
                lock.note(this_owner().to_json())
            return lock
    return None


def _make(directory: Path) -> None:
    try:
        for each in (directory.parent, directory):  # one by one: of several, only the last would be private
            each.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise cannot_write(directory, error.strerror or str(error)) from error


def is_taken(directory: Path) -> bool:
    """Tell whether a process has the run at this moment."""
    return is_locked(directory / "lock")


def holder_of(directory: Path) -> Owner | None:
    """Return the process that has the run now; None if nobody has it, or it could not say so."""
    if not is_taken(directory):
        return None
    with suppress(OSError, ValueError, TypeError):  # cut short, or damaged
        return owner_from_json((directory / "lock").read_text("utf-8"))
    return None
