"""Read a progress file as far as it can be trusted, for programs that watch a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final, get_args

from amplihack.patterns import pattern
from amplihack.recipes.progress_format import (
    LONGEST_STEP_NAME,
    Progress,
    ProgressError,
    ProgressStatus,
    safe_name,
)
from amplihack.recipes.values import Value, from_json

STALE_AFTER: Final = 7200.0  # seconds
FUTURE_ALLOWED: Final = 30.0  # clocks differ a little
_FILE_NAME = pattern(r"amplihack-progress-([A-Za-z0-9_]{1,64})-([0-9]+)\.json")
_AFTER: Mapping[ProgressStatus, frozenset[ProgressStatus]] = {
    "running": frozenset({"completed", "failed", "skipped"}),
    "unknown": frozenset({"running", "completed", "failed", "skipped"}),
}


def split_file_name(name: str) -> tuple[str, int] | None:
    """Return the safe name and the process id that a file name holds; None if it is not one of ours."""
    found = _FILE_NAME.fullmatch(name)
    return (found[1], int(found[2])) if found else None


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
