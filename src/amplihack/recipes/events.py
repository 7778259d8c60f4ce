"""Everything that changes during a run, as small facts in one order.

Each fact names the step instance it is about by its identity, which stays the same when the same recipe is
run again: `build`, `deploy/upload` inside a sub-recipe, `each[2]/check` inside a loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
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


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins, or goes on in another life."""

    run_id: str
    recipe: str
    version: str
    steps: int


@dataclass(frozen=True, slots=True)
class RunFinished:
    """A run is over."""

    result: RunResult


@dataclass(frozen=True, slots=True)
class RecipeEntered:
    """A sub-recipe begins inside the step `identity`."""

    identity: str
    recipe: str
    steps: int
    depth: int
    # Given to it, and secret to it: for those who mask. Never written anywhere.
    secrets: Mapping[str, Value] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A step begins; whether it runs is decided next."""

    identity: str
    step_id: str
    kind: str
    title: str
    recipe: str
    depth: int
    number: int  # among the steps of its recipe, from 1
    of: int


@dataclass(frozen=True, slots=True)
class StepFinished:
    """The step is over, whatever came of it; skipped ones too."""

    result: StepResult
    recipe: str
    depth: int


@dataclass(frozen=True, slots=True)
class OutputStored:
    """Variables that a step instance wrote, as they are from now on.

    `ledger` holds what steps inside it left under `steps.<id>`, where that outlives them.
    """

    identity: str
    values: Mapping[str, Value] = field(repr=False)
    ledger: Mapping[str, Value] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class IterationStarted:
    """A round of a loop begins."""

    identity: str
    index: int
    of: int | None


@dataclass(frozen=True, slots=True)
class IterationFinished:
    """A round of a loop is over; `result` has the round's identity, such as `each[2]`."""

    result: StepResult


@dataclass(frozen=True, slots=True)
class Retrying:
    """A step failed and will be tried again."""

    identity: str
    attempt: int  # the one that comes next
    of: int
    delay: float
    reason: str
    due: float = 0.0  # when it begins, in seconds since 1970
    spent: Spending = NOTHING_SPENT  # what the failed attempt took, its parts left out


@dataclass(frozen=True, slots=True)
class GateReached:
    """A person is asked."""

    stage: str
    prompt: str
    identity: str = ""
    due: float | None = None  # when it decides itself, in seconds since 1970


@dataclass(frozen=True, slots=True)
class GateDecided:
    """A person has answered."""

    stage: str
    approved: bool
    message: str
    identity: str = ""


@dataclass(frozen=True, slots=True)
class Warned:
    """Something a person should know though the run goes on."""

    identity: str
    what: str


@dataclass(frozen=True, slots=True)
class LinesPrinted:
    """Whole lines of a step's output, as many as came at once.

    They change no state: a journal may ignore them. They may come after the end of their step, from a
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


# as JSON --------------------------------------------------------------------------------------------------

_KINDS: Mapping[str, type[Any]] = {kind.__name__: kind for kind in get_args(Event)}
_NEVER_WRITTEN = "secrets"


def to_json(event: Event) -> dict[str, Any]:
    """Return the event as JSON data from which `from_json` makes it again; secrets alone are left out."""
    shown = {each.name: getattr(event, each.name) for each in fields(event) if each.name != _NEVER_WRITTEN}
    return {"event": type(event).__name__, **{name: _shown(value) for name, value in shown.items()}}


def from_json(shown: Mapping[str, Any]) -> Event:
    """Return the event that `to_json` showed. Unknown fields, which a newer version wrote, are left out."""
    kind = _KINDS[shown["event"]]
    values = {each.name: shown[each.name] for each in fields(kind) if each.name in shown}
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
