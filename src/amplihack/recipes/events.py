"""Define the events of a run: everything that changes, in order.

An event names its step instance by an identity that stays the same when the same recipe is run again:
`build`, `deploy/upload` inside a sub-recipe, `each[2]/check` inside a loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, TypeAlias, get_args

from amplihack.recipes.results import (
    NOTHING_SPENT,
    RunResult,
    Spending,
    StepResult,
    usage_from_json,
    usage_json,
)
from amplihack.recipes.values import Value
from amplihack.records import Record, RecordType, field, field_names


class RunStarted(Record):
    """A run begins, or continues after a crash."""

    run_id: str
    recipe: str
    version: str
    steps: int


class RunFinished(Record):
    """A run is over."""

    result: RunResult


class RecipeEntered(Record):
    """A sub-recipe begins inside the step `identity`."""

    identity: str
    recipe: str
    steps: int
    depth: int
    # Given to it, and secret to it: for those who mask. Never written anywhere.
    secrets: Mapping[str, Value] = field(default_factory=dict, repr=False, compare=False)
    path: str | None = None  # of its file


class StepStarted(Record):
    """A step begins; whether it runs is decided next."""

    identity: str
    step_id: str
    kind: str
    title: str
    recipe: str
    depth: int
    number: int  # among the steps of its recipe, from 1
    of: int
    idempotent: bool = True  # False: a person decides whether it runs again after it was cut off


class StepFinished(Record):
    """A step is over, with any result; skipped steps too."""

    result: StepResult
    recipe: str
    depth: int


class OutputStored(Record):
    """A step instance wrote variables; these are their values from now on.

    `ledger` holds what steps inside it left under `steps.<id>`, if that stays visible after them.
    """

    identity: str
    values: Mapping[str, Value] = field(repr=False)
    ledger: Mapping[str, Value] = field(default_factory=dict, repr=False)


class IterationStarted(Record):
    """A round of a loop begins."""

    identity: str
    index: int
    of: int | None
    # Its variable and the item, for those who show progress. Never written anywhere.
    item: Mapping[str, Value] = field(default_factory=dict, repr=False, compare=False)


class IterationFinished(Record):
    """A round of a loop is over; `result` has the round's identity, such as `each[2]`."""

    result: StepResult


class Retrying(Record):
    """A step failed and will be tried again."""

    identity: str
    attempt: int  # the one that comes next
    of: int
    delay: float
    reason: str
    due: float = 0.0  # when it begins, in seconds since 1970
    spent: Spending = NOTHING_SPENT  # what the failed attempt took, its parts left out


class GateReached(Record):
    """A person is asked for approval."""

    stage: str
    prompt: str
    identity: str = ""
    due: float | None = None  # when it decides itself, in seconds since 1970


class GateDecided(Record):
    """A gate is approved or denied."""

    stage: str
    approved: bool
    message: str
    identity: str = ""
    by: str = ""  # who answered; empty when it decided itself
    at: float = 0.0  # when, in seconds since 1970


class Warned(Record):
    """A person should know something, though the run continues."""

    identity: str
    what: str


class AgentAsked(Record):
    """An agent gets a prompt, with all variables in it; the step may leave `agent` and `model` to it."""

    identity: str
    prompt: str = field(repr=False)
    agent: str | None = None
    model: str | None = None


class Staged(Record):
    """Files that an agent step changed were staged with git."""

    identity: str
    files: tuple[str, ...]


class LinesPrinted(Record):
    """Whole lines of a step's output, as many as arrived together.

    They change no state, so a journal may ignore them. They can arrive after the end of their step, from a
    process that it left running.
    """

    identity: str
    stream: str
    lines: tuple[str, ...]


class ProcessStarted(Record):
    """A step started a process. `started` distinguishes it from a later one with the same id."""

    identity: str
    pid: int
    started: str


class Withheld(Record):
    """A secret kept the journal from storing what a step left behind: a run that goes on needs it again."""

    identity: str


class Undone(Record):
    """An edit of the recipe undid a finished step. `how` tells what the run that goes on does about it.

    `again`: it runs again as a whole. `inside`: something inside it does. `gone`: it is no longer there.
    """

    identity: str
    how: Literal["again", "inside", "gone"]


Fact: TypeAlias = (  # what changes the state of a run
    RunStarted
    | RunFinished
    | RecipeEntered
    | StepStarted
    | StepFinished
    | OutputStored
    | IterationStarted
    | IterationFinished
    | Retrying
    | GateReached
    | GateDecided
    | Warned
    | AgentAsked
    | Staged
)
Event: TypeAlias = Fact | LinesPrinted
Recorded: TypeAlias = Event | ProcessStarted | Withheld | Undone  # what the journal of a run may hold


_MARKS = str.maketrans({mark: f"%{ord(mark):02X}" for mark in "%/[]"})


def identity_in(prefix: str, name: str) -> str:
    """Return the unique name of a step in the whole run. Characters used as separators are escaped."""
    return f"{prefix}{name.translate(_MARKS)}"


def below(identity: str, ancestor: str) -> bool:
    """Tell whether a step is inside another: `a/b` and `a[2]/b` are below `a`."""
    return identity.startswith((f"{ancestor}/", f"{ancestor}["))


# as JSON --------------------------------------------------------------------------------------------------

_KINDS: Mapping[str, Any] = {kind.__name__: kind for kind in get_args(Recorded)}
_NEVER_WRITTEN = ("secrets", "item")
_PARTS = ("result", "spent", "values", "ledger")  # fields that are no plain values
# What fields of these names hold, whatever the event. A damaged journal is found out here.
_SHAPES: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("identity", "step_id", "kind", "title", "recipe", "version", "run_id", "reason"), str),
    **dict.fromkeys(("stage", "prompt", "message", "by", "what", "stream", "started", "how"), str),
    **dict.fromkeys(("steps", "depth", "number", "index", "pid", "attempt"), int),
    **dict.fromkeys(("delay", "at"), (int, float)),
    **dict.fromkeys(("values", "ledger", "result", "spent"), dict),
    **dict.fromkeys(("lines", "files"), list),
}


def to_json(event: Recorded) -> dict[str, Any]:
    """Return the event as JSON data, without what is never written. `from_json` restores it."""
    kind = type(event)
    return {"event": kind.__name__, **fields_json(event)}


def fields_json(event: Recorded) -> dict[str, Any]:
    """Return the fields of the event as JSON data."""
    names, parts = _written(type(event))
    shown = {name: getattr(event, name) for name in names}
    for name in parts:
        shown[name] = _shown(shown[name])
    return shown


@cache
def _written(kind: RecordType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the fields that are written, and those of them that are no plain values."""
    names = tuple(name for name in field_names(kind) if name not in _NEVER_WRITTEN)
    return names, tuple(name for name in names if name in _PARTS)


def from_json(shown: Mapping[str, Any]) -> Recorded:
    """Return the event from its JSON data. Unknown fields, from a newer version, are ignored.

    Raises KeyError, TypeError or ValueError for data that is no event.
    """
    kind = _KINDS[shown["event"]]
    values = {name: shown[name] for name in field_names(kind) if name in shown}
    for name, value in values.items():
        if name in _SHAPES and not isinstance(value, _SHAPES[name]):
            raise TypeError(f"{name} cannot be {value!r}")
    if "result" in values:
        result = RunResult if kind is RunFinished else StepResult
        values["result"] = result.from_json(values["result"])
    for name in values.keys() & {"lines", "files"}:
        values[name] = tuple(values[name])
    if "spent" in values:
        spent = values["spent"]
        values["spent"] = Spending(**{**spent, "usage": usage_from_json(spent["usage"])})
    event: Recorded = kind(**values)
    return event


def _shown(value: Any) -> Any:
    if type(value) is dict:
        return dict(value)
    if isinstance(value, StepResult | RunResult):
        return value.to_json()
    if isinstance(value, Spending):
        return {**value.fields(), "usage": usage_json(value.usage)}
    return dict(value) if isinstance(value, Mapping) else value
