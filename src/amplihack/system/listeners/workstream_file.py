"""Keep the entry of a workstream in the file that several runs share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from amplihack.recipes.events import Event
from amplihack.recipes.workstreams import Workstream, decode_workstreams, merge_workstreams
from amplihack.system.files import read_text
from amplihack.system.listeners.listener import Listener
from amplihack.system.listeners.progress_file import FOLLOWED, Tracker, write_unsynced
from amplihack.system.locks import locked, try_lock

_LARGEST = 64 * 1024 * 1024  # bytes
_LAST_WORD = 0.25  # seconds; others hold the lock for less than a millisecond


class WorkstreamFile(Listener):
    """Keeps this workstream's entry in a file that it shares with others.

    A lock held by another process never delays the run: the entry waits for the next change or tick. Only the
    last entry, at the end of the run, waits a moment for the lock.
    """

    name = "the workstream file"

    def __init__(
        self, path: Path, workstream_id: str, recipe: str, *, pid: int, now: Callable[[], float]
    ) -> None:
        self._path = path
        self._lock_path = path.with_name(f".{path.name}.lock")
        self._id = workstream_id
        self._tracker = Tracker(recipe, pid, now)
        self._waiting: Workstream | None = None

    def wants(self, kind: type[Event]) -> bool:
        return kind in FOLLOWED

    def hear(self, event: Event) -> None:
        if self._tracker.hear(event):
            self._note()

    def tick(self) -> None:
        if not self._tracker.over:
            self._note()

    def close(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            with locked(self._lock_path, patience=_LAST_WORD):
                self._merge(waiting)

    def _note(self) -> None:
        self._waiting = self._entry()
        lock = try_lock(self._lock_path)
        if lock is None:
            return
        try:
            self._merge(self._waiting)
        finally:
            lock.release()

    def _merge(self, entry: Workstream) -> None:
        """Write the entry beside those of the others. The caller must hold the lock."""
        self._waiting = None
        known = read_text(self._path, limit=_LARGEST, kind="Workstream file") if self._path.exists() else ""
        entries = decode_workstreams(known) if known else []
        write_unsynced(self._path, merge_workstreams(entries, [entry.to_json()]))

    def _entry(self) -> Workstream:
        progress = self._tracker.current()
        return Workstream(
            workstream_id=self._id,
            status=progress.status,
            timestamp=progress.timestamp,
            last_step=progress.step_name,
            error_message=self._tracker.error or None,
            elapsed_seconds=progress.elapsed_seconds,
        )
