"""Define what is kept of a run beside its events."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from amplihack.recipes.results import RunResult
from amplihack.recipes.values import Value
from amplihack.records import Record
from amplihack.system.run_store.ownership import Owner, owner_from_json

RunStatus: TypeAlias = Literal[
    "running", "waiting", "completed", "degraded", "failed", "interrupted", "denied", "cancelled"
]
COLUMNS = (
    "number, run_id, recipe, path, working_dir, status, started, ended, cost_usd, forked_from, request, "
    "inputs, owner, cancelled"
)


_NUMBER = (int, float)
_NOTHING = type(None)
_SHAPES: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("run_id", "recipe", "working_dir", "status"), (str,)),
    **dict.fromkeys(("path", "forked_from"), (str, _NOTHING)),
    **dict.fromkeys(("ended", "cost_usd"), (*_NUMBER, _NOTHING)),
    "started": _NUMBER,
    "request": (dict,),
    "cancelled": (dict, _NOTHING),
}


def path_column(path: str) -> str | bytes:
    """Return a path as the table has it: its bytes if they are no UTF-8, which a text has to be."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


def path_of(column: Any) -> Any:
    """Return the path that a column of the table holds."""
    return os.fsdecode(column) if isinstance(column, bytes) else column


class Inputs(Record):
    """The variables that a run was given. `left_out` names those that hold a secret and are not kept."""

    values: Mapping[str, Value]
    left_out: tuple[str, ...] = ()


class NewRun(Record, kw_only=True):
    """What is known of a run before its first event."""

    run_id: str
    recipe: str
    path: str | None
    working_dir: str
    request: Mapping[str, Value]
    inputs: Inputs
    forked_from: str | None = None


class KeptRun(Record, kw_only=True):
    """A run as it is listed. `status` is what it is now: a dead process leaves no `running` behind."""

    number: int
    run_id: str
    recipe: str
    path: str | None
    working_dir: str
    status: RunStatus
    started: float
    ended: float | None
    cost_usd: float | None
    forked_from: str | None
    request: Mapping[str, Any]
    inputs: Inputs
    owner: Owner | None  # the process that ran it last
    taken: bool  # whether a process has it now
    holder: Owner | None  # that process: it may still be asking whether to go on
    cancelled: Mapping[str, Any] | None


def kept_run(row: tuple[Any, ...], *, taken: bool, holder: Owner | None) -> KeptRun:
    """Return a row of the table; `taken` tells whether a process has the run now, `holder` which.

    Raises KeyError, TypeError, ValueError or RecursionError for a row that was damaged.
    """
    values = dict(zip(COLUMNS.split(", "), row, strict=True))
    values["path"], values["working_dir"] = path_of(values["path"]), path_of(values["working_dir"])
    inputs = json.loads(values["inputs"])
    values["inputs"] = Inputs(inputs["values"], tuple(inputs["left_out"]))
    values["request"] = json.loads(values["request"])
    values["owner"], values["taken"] = owner_from_json(values["owner"]), taken
    values["holder"] = (holder or values["owner"]) if taken else None
    values["cancelled"] = json.loads(values["cancelled"]) if values["cancelled"] else None
    _check_shapes(values, _SHAPES)
    if values["cancelled"]:
        _check_shapes(values["cancelled"], {"by": (str,), "at": _NUMBER})
    if values["status"] == "running" and not taken:
        values["status"] = "cancelled" if values["cancelled"] else "interrupted"
    return KeptRun(**values)


def _check_shapes(values: Mapping[str, Any], shapes: Mapping[str, tuple[type, ...]]) -> None:
    for name, shape in shapes.items():
        if not isinstance(values[name], shape):
            raise TypeError(f"{name} cannot be {values[name]!r}")


def status_of(result: RunResult, *, cancelled: bool) -> RunStatus:
    """Return the status that a result leaves a run with."""
    if result.ending == "interrupted" and cancelled:
        return "cancelled"
    return result.status
