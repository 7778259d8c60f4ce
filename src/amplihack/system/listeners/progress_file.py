"""Keep the progress file of a run, and the side file of a workstream, up to date."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from amplihack.recipes.events import Event, RunFinished, RunStarted, StepFinished, StepStarted
from amplihack.recipes.progress_format import (
    LONGEST_STEP_NAME,
    Progress,
    Workstream,
    decode_workstreams,
    file_name,
    merge_workstreams,
)
from amplihack.recipes.values import truncate
from amplihack.records import replace
from amplihack.system.listeners.listener import Listener, Running
from amplihack.system.locks import locked, try_lock
from amplihack.system.replace import write_atomic

_LAST_WORD = 0.25  # seconds; others hold the lock for less than a millisecond

_APART = 0.2  # seconds between two versions of the progress file


class Tracker:
    """Follows the events of a run and keeps one `Progress` of it."""

    def __init__(self, recipe: str, pid: int, now: Callable[[], float]) -> None:
        self._now = now
        self._began = now()
        self._running: Running[StepStarted] = Running({})
        self._progress = Progress(
            status="running",
            step_name="starting",
            timestamp=self._began,
            recipe_name=recipe,
            pid=pid,
            current_step=0,
        )
        self.error = ""

    def hear(self, event: Event) -> bool:
        """Process the event, and tell whether it changed something for a watcher."""
        before = self._progress
        self._follow(event)
        return isinstance(event, RunStarted) or self._progress != before

    def _follow(self, event: Event) -> None:
        match event:
            case RunStarted():
                self._progress = replace(self._progress, total_steps=event.steps)
            case StepStarted():
                self._running.notes[event.identity] = event
                self._at(event)
            case StepFinished(result):
                self._running.end(result.identity)
                if self._running.notes:
                    self._at(next(reversed(self._running.notes.values())))
            case RunFinished(result):
                self.error = result.error
                self._progress = replace(self._progress, status="completed" if result.success else "failed")
            case _:
                pass

    def current(self) -> Progress:
        now = self._now()
        return replace(self._progress, timestamp=now, elapsed_seconds=round(max(0.0, now - self._began), 3))

    @property
    def over(self) -> bool:
        return self._progress.status != "running"

    def _at(self, event: StepStarted) -> None:
        name = truncate(event.identity, LONGEST_STEP_NAME)
        outermost = next(iter(self._running.around(event.identity)), event.identity)
        number = self._running.notes[outermost].number
        self._progress = replace(self._progress, step_name=name, current_step=number)


class ProgressFile(Listener):
    """Writes the file on every change and every tick, and removes it when the run is over.

    Changes in quick succession are written together: one write for each of many short steps would cost a
    quarter of their time. A reader trusts the file only while our process lives, so it is removed at the end.
    """

    name = "the progress file"

    def __init__(self, directory: Path, recipe: str, *, pid: int, now: Callable[[], float]) -> None:
        self.path = directory / file_name(recipe, pid)
        self._tracker = Tracker(recipe, pid, now)
        self._later: asyncio.TimerHandle | None = None
        self._next = 0.0  # when the file may be written again, in the loop's time
        self._failure: OSError | None = None  # of a write that nobody was waiting for

    def hear(self, event: Event) -> None:
        if self._tracker.hear(event):
            self._renew()

    def tick(self) -> None:
        if not self._tracker.over:
            self._renew()

    def close(self) -> None:
        self._forget_later()
        self.path.unlink(missing_ok=True)

    def _renew(self) -> None:
        """Write now, or soon if it was written just before."""
        if self._failure is not None:
            raise self._failure
        loop = _loop()
        if loop is None or self._tracker.over or loop.time() >= self._next:
            self._forget_later()
            self._next = loop.time() + _APART if loop is not None else 0.0
            _write(self.path, self._tracker.current().to_json())
        elif self._later is None:
            self._later = loop.call_at(self._next, self._write_later)

    def _write_later(self) -> None:
        self._later = None
        try:
            self._renew()
        except OSError as error:
            self._failure = error

    def _forget_later(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None


def _loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


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
        entries = decode_workstreams(self._path.read_text("utf-8")) if self._path.exists() else []
        _write(self._path, merge_workstreams(entries, [entry.to_json()]))

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


def _write(path: Path, value: Any) -> None:
    """Replace the file without syncing it to the disk: it is useless after a power cut."""
    write_atomic(path, json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace"), sync=False)
