"""Define the events of a run: everything that changes, in order.

An event names its step instance by an identity that stays the same when the same recipe is run again:
`build`, `deploy/upload` inside a sub-recipe, `each[2]/check` inside a loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, get_args

from amplihack.recipes.results import (
    NOTHING_SPENT,
    RunResult,
    Spending,
    StepResult,
    usage_from_json,
    usage_json,
)
from amplihack.recipes.values import Value
from amplihack.records import Record, field, field_names


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


class Warned(Record):
    """A person should know something, though the run continues."""

    identity: str
    what: str


class LinesPrinted(Record):
    """Whole lines of a step's output, as many as arrived together.

    They change no state, so a journal may ignore them. They can arrive after the end of their step, from a
    process that it left running.
    """

    identity: str
    stream: str
    lines: tuple[str, ...]


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
)
Event: TypeAlias = Fact | LinesPrinted


def below(identity: str, ancestor: str) -> bool:
    """Tell whether a step is inside another: `a/b` and `a[2]/b` are below `a`."""
    return identity.startswith((f"{ancestor}/", f"{ancestor}["))


# as JSON --------------------------------------------------------------------------------------------------

_KINDS: Mapping[str, Any] = {kind.__name__: kind for kind in get_args(Event)}
_NEVER_WRITTEN = "secrets"


def to_json(event: Event) -> dict[str, Any]:
    """Return the event as JSON data, without secrets. `from_json` restores it."""
    names = [name for name in field_names(type(event)) if name != _NEVER_WRITTEN]
    return {"event": type(event).__name__, **{name: _shown(getattr(event, name)) for name in names}}


def from_json(shown: Mapping[str, Any]) -> Event:
    """Return the event from its JSON data. Unknown fields, from a newer version, are ignored."""
    kind = _KINDS[shown["event"]]
    values = {name: shown[name] for name in field_names(kind) if name in shown}
    if "result" in values:
        result = RunResult if kind is RunFinished else StepResult
        values["result"] = result.from_json(values["result"])
    if "lines" in values:
        values["lines"] = tuple(values["lines"])
    if "spent" in values:
        spent = values["spent"]
        values["spent"] = Spending(**{**spent, "usage": usage_from_json(spent["usage"])})
    event: Event = kind(**values)
    return event


def _shown(value: Any) -> Any:
    if isinstance(value, StepResult | RunResult):
        return value.to_json()
    if isinstance(value, Spending):
        return {**value.fields(), "usage": usage_json(value.usage)}
    return dict(value) if isinstance(value, Mapping) else value
