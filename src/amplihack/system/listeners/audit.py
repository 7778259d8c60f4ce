"""Write the audit log: the result of every step, in files that outlive the run.

One file for the run and one for each run of a sub-recipe, `<recipe>_<UTC time>.jsonl`, private to the user,
one line per step:

    {"step_id": "build", "status": "Completed", "duration_ms": 1423, "error": null, "output_len": 256, ...}
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from amplihack.errors import UsageError
from amplihack.recipes.events import (
    Event,
    RecipeEntered,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    below,
)
from amplihack.recipes.results import StepResult
from amplihack.recipes.run_parts import CUT_SHORT
from amplihack.recipes.spending import usage_json
from amplihack.recipes.values import truncate
from amplihack.records import Record
from amplihack.system.listeners.json_lines import json_line
from amplihack.system.listeners.listener import Listener, Running

_LONGEST_NAME = 128  # bytes; a file name has 255


class _Begun(Record):
    """A step that has not finished yet."""

    event: StepStarted
    at: float


def audit_stem(recipe: str, at: float) -> str:
    """Return the start of a file name, such as `build_20261115T204312Z`."""
    safe = re.sub(r"[^\w.-]", "_", recipe).lstrip(".")
    when = datetime.fromtimestamp(at, UTC).strftime("%Y%m%dT%H%M%SZ")
    return f"{truncate(safe, _LONGEST_NAME) or 'recipe'}_{when}"


def audit_line(result: StepResult, **more: Any) -> dict[str, Any]:
    """Return an audit line: five fixed fields first, then everything else that is known."""
    return {
        "step_id": result.step_id,
        "status": result.status.capitalize(),
        "duration_ms": None if result.duration is None else round(result.duration * 1000),
        "error": result.error or None,
        "output_len": len(result.output.encode("utf-8", "surrogatepass")),
        **more,
        "identity": result.identity,
        "type": result.kind,
        "attempts": result.attempts,
        "exit_code": result.exit_code,
        "skip_reason": result.skip_reason or None,
        "allowed": result.allowed,
        "warnings": list(result.warnings),
        "usage": usage_json(result.usage),
        "cost_usd": result.cost_usd,
    }


class AuditLog(Listener):
    name = "the audit log"

    def __init__(self, directory: Path, recipe: str, *, now: Callable[[], float]) -> None:
        """Create the directory and the run's own file at once. Raises UsageError if that fails."""
        self._directory = directory
        self._now = now
        self._run_id = ""
        self._running: Running[_Begun] = Running({})
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._files = {"": self._new_file(recipe)}  # by the step that runs the sub-recipe
        except OSError as error:
            raise UsageError(
                f"cannot write an audit log to {directory}: {error.strerror}",
                fix="give --audit-dir a directory that you can write to",
            ) from error
        self.paths = list(self._files.values())

    def hear(self, event: Event) -> None:
        match event:
            case RunStarted():
                self._run_id = event.run_id
            case RecipeEntered():
                self._files[event.identity] = self._new_file(event.recipe)
                self.paths.append(self._files[event.identity])
            case StepStarted():
                self._running.notes[event.identity] = _Begun(event, self._now())
            case StepFinished(result):
                self._finished(event)
                self._files = {name: path for name, path in self._files.items() if not _over(name, result)}
            case RunFinished():
                self._cut_off(list(reversed(self._running.notes.items())))
                self._running.notes.clear()
            case _:
                pass

    def close(self) -> None:
        for path in self.paths:
            _sync(path)

    def _finished(self, event: StepFinished) -> None:
        result = event.result
        begun, cut_off = self._running.end(result.identity)
        self._cut_off(cut_off)
        self._write(result, event.recipe, event.depth, begun.at if begun else self._now())

    def _cut_off(self, steps: list[tuple[str, _Begun]]) -> None:
        """Write a line for each cancelled step: it never finishes, but it did run."""
        for identity, begun in steps:
            started = begun.event
            result = StepResult(
                step_id=started.step_id,
                identity=identity,
                kind=started.kind,
                status="interrupted",
                error=CUT_SHORT,
                duration=max(0.0, self._now() - begun.at),
            )
            self._write(result, started.recipe, started.depth, begun.at)

    def _write(self, result: StepResult, recipe: str, depth: int, started: float) -> None:
        line = audit_line(
            result,
            run_id=self._run_id,
            recipe=recipe,
            depth=depth,
            started_at=datetime.fromtimestamp(started, UTC).isoformat(timespec="milliseconds"),
        )
        _append(self._file_for(result.identity), json_line(line))

    def _file_for(self, identity: str) -> Path:
        around = [name for name in self._files if name and below(identity, name)]
        return self._files[max(around, key=len, default="")]

    def _new_file(self, recipe: str) -> Path:
        stem, number = audit_stem(recipe, self._now()), 1
        while True:
            path = self._directory / f"{stem}{f'_{number}' if number > 1 else ''}.jsonl"
            try:
                # O_EXCL: two runs that start in the same second must not share a file.
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            except FileExistsError:
                number += 1
            else:
                return path


def _over(name: str, result: StepResult) -> bool:
    return bool(name) and (name == result.identity or below(name, result.identity))


def _append(path: Path, data: bytes) -> None:
    # Opened for each line: a loop over many sub-recipes would otherwise run out of descriptors.
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with memoryview(data) as rest:
            written = 0
            while written < len(data):
                written += os.write(descriptor, rest[written:])
    finally:
        os.close(descriptor)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
