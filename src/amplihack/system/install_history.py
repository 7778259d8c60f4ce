"""Remember what was staged when, one line of JSON for each. A line that was cut by a crash is left out."""

from __future__ import annotations

import json
import os
from pathlib import Path

from amplihack.errors import NotFound
from amplihack.install.stamp import FOLDER
from amplihack.records import Record, as_dict
from amplihack.system.files import read_bytes
from amplihack.system.replace import write_atomic

_LARGEST = 10_000_000  # bytes


class HistoryEntry(Record, kw_only=True):
    """One change of the active generation; `what` is install, self-heal, update or rollback."""

    at: float
    what: str
    version: str
    generation: str
    label: str
    source: str


def remember(root: Path, entry: HistoryEntry) -> None:
    """Add an entry. It begins with a newline, so that a line that was cut before cannot spoil it."""
    path = _path(root)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    line = f"\n{json.dumps(as_dict(entry))}\n".encode()
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        os.write(descriptor, line)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def history(root: Path) -> list[HistoryEntry]:
    """Return the entries, oldest first."""
    try:
        data = read_bytes(_path(root), limit=_LARGEST, kind="History of installs")
    except NotFound:
        return []
    return [entry for line in data.splitlines() if (entry := _entry(line)) is not None]


def mark_uninstalled(root: Path) -> None:
    """Note that the user wants nothing staged, until the next install."""
    _mark(root).parent.mkdir(mode=0o700, exist_ok=True)
    write_atomic(_mark(root), b"")


def is_uninstalled(root: Path) -> bool:
    return os.path.lexists(_mark(root))


def forget_uninstalled(root: Path) -> None:
    _mark(root).unlink(missing_ok=True)


def _mark(root: Path) -> Path:
    return root / FOLDER / "uninstalled"


def _entry(line: bytes) -> HistoryEntry | None:
    try:
        return HistoryEntry(**json.loads(line))
    except (ValueError, TypeError):
        return None


def _path(root: Path) -> Path:
    return root / FOLDER / "history.jsonl"
