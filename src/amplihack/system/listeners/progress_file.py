"""Keep the progress file of a run up to date."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from amplihack.errors import AmplihackError
from amplihack.recipes.events import Event, RunFinished, RunStarted, StepFinished, StepStarted
from amplihack.recipes.progress_format import LONGEST_STEP_NAME, Progress, ProgressStatus, file_name
from amplihack.recipes.values import truncate
from amplihack.system.listeners.listener import Listener, Running
from amplihack.system.replace import write_atomic

_APART = 0.2  # seconds between two versions of the progress file


FOLLOWED = frozenset({RunStarted, StepStarted, StepFinished, RunFinished})


class Tracker:
    """Follows the events of a run, and makes a `Progress` of it when one is wanted."""

    def __init__(self, recipe: str, pid: int, now: Callable[[], float]) -> None:
        self._recipe, self._pid, self._now = recipe, pid, now
        self._began = now()
        self._running: Running[StepStarted] = Running({})
        self._at, self._number = "starting", 0  # the step at work, and its place in the recipe
        self._steps: int | None = None
        self._status: ProgressStatus = "running"
        self.error = ""

    def hear(self, event: Event) -> bool:
        """Process the event, and tell whether it changed something for a watcher."""
        match event:
            case StepStarted():
                self._running.notes[event.identity] = event
                return self._is_at(event)
            case StepFinished(result):
                self._running.end(result.identity)
                notes = self._running.notes
                return bool(notes) and self._is_at(next(reversed(notes.values())))
            case RunStarted():
                self._steps = event.steps
                return True
            case RunFinished(result):
                self.error = result.error
                self._status = "completed" if result.success else "failed"
                return True
            case _:
                return False

    def current(self) -> Progress:
        now = self._now()
        return Progress(
            status=self._status,
            step_name=truncate(self._at, LONGEST_STEP_NAME),
            timestamp=now,
            elapsed_seconds=round(max(0.0, now - self._began), 3),
            recipe_name=self._recipe,
            pid=self._pid,
            current_step=self._number,
            total_steps=self._steps,
        )

    @property
    def over(self) -> bool:
        return self._status != "running"

    def _is_at(self, event: StepStarted) -> bool:
        """Note the step at work, and tell whether it was another one before."""
        before = self._at, self._number
        outermost = next(iter(self._running.around(event.identity)), event.identity)
        self._at, self._number = event.identity, self._running.notes[outermost].number
        return (self._at, self._number) != before


class ProgressFile(Listener):
    """Writes the file on every change and every tick, and removes it when the run is over.

    Changes in quick succession are written together: one write for each of many short steps would cost a
    quarter of their time. A reader trusts the file only while our process lives, so it is removed at the end.
    """

    name = "the progress file"
    outlives = False

    def __init__(self, directory: Path, recipe: str, *, pid: int, now: Callable[[], float]) -> None:
        self.path = directory / file_name(recipe, pid)
        self._tracker = Tracker(recipe, pid, now)
        self._later: asyncio.TimerHandle | None = None
        self._next = 0.0  # when the file may be written again, in the loop's time
        self._failure: AmplihackError | None = None  # of a write that nobody was waiting for

    def wants(self, kind: type[Event]) -> bool:
        return kind in FOLLOWED

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
        if self._later is not None and not self._tracker.over:
            return
        loop = _loop()
        if loop is None or self._tracker.over or loop.time() >= self._next:
            self._forget_later()
            self._next = loop.time() + _APART if loop is not None else 0.0
            write_unsynced(self.path, self._tracker.current().to_json())
        else:
            self._later = loop.call_at(self._next, self._write_later)

    def _write_later(self) -> None:
        self._later = None
        try:
            self._renew()
        except AmplihackError as error:
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


def write_unsynced(path: Path, value: Any) -> None:
    """Replace the file without syncing it to the disk: it is useless after a power cut."""
    write_atomic(path, json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace"), sync=False)
