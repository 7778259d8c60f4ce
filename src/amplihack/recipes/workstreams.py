"""Define the side file in which parallel workstreams report to the process that started them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from amplihack.recipes.progress_format import ProgressError
from amplihack.recipes.values import from_json
from amplihack.records import Record, as_dict


class Workstream(Record, kw_only=True):
    """One entry of the file."""

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
