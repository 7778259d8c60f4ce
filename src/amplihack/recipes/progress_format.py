"""Define the progress file that other programs read while a recipe runs: its name, content and checks.

<tmp>/amplihack-progress-<safe name>-<pid>.json
{"status": "running", "step_name": "build", "timestamp": 1763239392.1, "recipe_name": "release",
 "pid": 4711, "current_step": 2, "total_steps": 5, "elapsed_seconds": 12.5}
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any, Final, Literal, TypeAlias, get_args

from amplihack.errors import InputError
from amplihack.patterns import pattern
from amplihack.recipes.values import Value, from_json, truncate
from amplihack.records import Record, as_dict

ProgressStatus: TypeAlias = Literal["running", "completed", "failed", "skipped", "unknown"]

STALE_AFTER: Final = 7200.0  # seconds
FUTURE_ALLOWED: Final = 30.0  # clocks differ a little
LONGEST_STEP_NAME: Final = 256  # bytes
LONGEST_SAFE_NAME: Final = 64

_FILE_NAME = pattern(r"amplihack-progress-([A-Za-z0-9_]{1,64})-([0-9]+)\.json")
_AFTER: Mapping[ProgressStatus, frozenset[ProgressStatus]] = {
    "running": frozenset({"completed", "failed", "skipped"}),
    "unknown": frozenset({"running", "completed", "failed", "skipped"}),
}


class ProgressError(InputError):
    """Raised for a progress file that must not be trusted."""


class Progress(Record, kw_only=True):
    """The progress of a run. Fields that are None are left out of the file."""

    status: ProgressStatus
    step_name: str
    timestamp: float
    recipe_name: str | None = None
    pid: int | None = None
    current_step: int | None = None
    total_steps: int | None = None
    elapsed_seconds: float | None = None

    def to_json(self) -> dict[str, Any]:
        shown = {name: value for name, value in as_dict(self).items() if value is not None}
        return {**shown, "step_name": truncate(self.step_name, LONGEST_STEP_NAME)}


# names ----------------------------------------------------------------------------------------------------


def safe_name(recipe: str) -> str:
    """Return the recipe's name as it stands in a file name: `my-recipe/v2!` -> `v2_`."""
    stem = PurePosixPath(recipe).stem
    return re.sub(r"[^A-Za-z0-9_]", "_", stem)[:LONGEST_SAFE_NAME] or "_"


def file_name(recipe: str, pid: int) -> str:
    return f"amplihack-progress-{safe_name(recipe)}-{pid}.json"


def split_file_name(name: str) -> tuple[str, int] | None:
    """Return the safe name and the process id that a file name holds; None if it is not one of ours."""
    found = _FILE_NAME.fullmatch(name)
    return (found[1], int(found[2])) if found else None


# reading --------------------------------------------------------------------------------------------------


def decode_progress(text: str) -> Progress:
    """Parse the text of the file and check every field. Raises ProgressError."""
    try:
        fields = from_json(text)
    except (ValueError, RecursionError) as error:
        raise ProgressError(f"the progress file is not JSON: {error}") from error
    if not isinstance(fields, Mapping):
        raise ProgressError("the progress file is not a JSON object")
    return Progress(
        status=_status(fields.get("status")),
        step_name=_step_name(fields.get("step_name")),
        timestamp=_timestamp(fields),
        recipe_name=_text(fields, "recipe_name"),
        pid=_count(fields, "pid"),
        current_step=_count(fields, "current_step"),
        total_steps=_count(fields, "total_steps"),
        elapsed_seconds=_seconds(fields, "elapsed_seconds"),
    )


def validate_progress(
    name: str,
    text: str,
    *,
    now: float,
    alive: Callable[[int], bool],
    previous: ProgressStatus | None = None,
) -> Progress:
    """Return the progress that a file reports, if all of it can be trusted.

    `previous` is the status that was read last. Raises ProgressError for the first problem.
    """
    parts = split_file_name(name)
    if parts is None:
        raise ProgressError(f"'{name}' is not the name of a progress file")
    safe, pid = parts
    progress = decode_progress(text)
    if progress.pid is not None and progress.pid != pid:
        raise ProgressError(f"the file says process {progress.pid}, its name says {pid}")
    if progress.recipe_name is not None and safe_name(progress.recipe_name) != safe:
        raise ProgressError(f"the file is about recipe '{progress.recipe_name}', its name says '{safe}'")
    check_age(progress.timestamp, now)
    if not alive(pid):
        raise ProgressError(f"process {pid} is gone")
    if previous is not None:
        check_transition(previous, progress.status)
    return progress


def check_age(timestamp: float, now: float) -> None:
    """Raise ProgressError for a time in the future, or one too old to say anything about now."""
    if timestamp > now + FUTURE_ALLOWED:
        raise ProgressError(f"the progress is from the future, by {timestamp - now:.0f}s")
    if now - timestamp > STALE_AFTER:
        raise ProgressError(f"the progress is stale: {now - timestamp:.0f}s old")


def check_transition(before: ProgressStatus, after: ProgressStatus) -> None:
    """Raise ProgressError for an impossible change of status: what has ended stays ended."""
    if before != after and after not in _AFTER.get(before, frozenset()):
        raise ProgressError(f"the status cannot change from {before} to {after}")


def read_progress(text: str) -> Progress | None:
    """Return the progress for a watcher; None if the text is invalid or names no recipe, step or process."""
    try:
        progress = decode_progress(text)
    except ProgressError:
        return None
    needed = (progress.recipe_name, progress.current_step, progress.pid)
    return None if None in needed else progress


def _status(value: Value) -> ProgressStatus:
    known: tuple[ProgressStatus, ...] = get_args(ProgressStatus)
    for each in known:
        if value == each:
            return each
    raise ProgressError(f"status must be one of {', '.join(known)}, not {value!r}")


def _step_name(value: Value) -> str:
    if not isinstance(value, str) or not value:
        raise ProgressError("step_name must be a text")
    if len(value.encode("utf-8", "surrogatepass")) > LONGEST_STEP_NAME:
        raise ProgressError(f"step_name is longer than {LONGEST_STEP_NAME} bytes")
    return value


def _timestamp(fields: Mapping[str, Value]) -> float:
    name = "timestamp" if "timestamp" in fields else "updated_at"
    value = _seconds(fields, name)
    if value is None or value <= 0:
        raise ProgressError("timestamp must be a number above 0")
    return value


def _text(fields: Mapping[str, Value], name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise ProgressError(f"{name} must be a text")
    return value


def _count(fields: Mapping[str, Value], name: str) -> int | None:
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ProgressError(f"{name} must be a whole number, 0 or more")
    return value


def _seconds(fields: Mapping[str, Value], name: str) -> float | None:
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise ProgressError(f"{name} must be a number, 0 or more")
    return float(value)


# workstreams ----------------------------------------------------------------------------------------------


class Workstream(Record, kw_only=True):
    """One entry of the side file in which parallel workstreams report to the process that started them."""

    workstream_id: str
    status: str
    timestamp: float
    last_step: str | None = None
    error_message: str | None = None
    elapsed_seconds: float | None = None

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in as_dict(self).items() if value is not None}


def workstream_id(environment: Mapping[str, str], fallback: str) -> str:
    """Return the id of this process's workstream, from its variable or its state file `ws-<id>.json`."""
    if named := environment.get("AMPLIHACK_WORKSTREAM_ID"):
        return named
    state = PurePosixPath(environment.get("AMPLIHACK_WORKSTREAM_STATE_FILE", "")).stem
    return state.removeprefix("ws-") or fallback


def merge_workstreams(entries: list[dict[str, Any]], states: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the entries with each state in place of the one with the same id; new ones go last."""
    merged = {str(entry.get("workstream_id")): entry for entry in entries}
    merged |= {str(state.get("workstream_id")): state for state in states}
    return list(merged.values())


def decode_workstreams(text: str) -> list[dict[str, Any]]:
    """Return the entries of a side file; an empty file has none. Raises ProgressError."""
    if not text.strip():
        return []
    try:
        entries = from_json(text)
    except (ValueError, RecursionError) as error:
        raise ProgressError(f"the workstream file is not JSON: {error}") from error
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ProgressError("the workstream file is not a JSON array of objects")
    return entries
