"""Everything that changes during a run, as small facts in one order.

Each fact names the step instance it is about by its identity, which stays the same when the same recipe is
run again: `build`, `deploy/upload` inside a sub-recipe, `each[2]/check` inside a loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from amplihack.recipes.results import RunResult, StepResult
from amplihack.recipes.values import Value


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins."""

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
    secrets: Mapping[str, Value] = field(default_factory=dict, repr=False)  # given to it, and secret to it


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
    """Variables that a step instance wrote, as they are from now on."""

    identity: str
    values: Mapping[str, Value] = field(repr=False)


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


@dataclass(frozen=True, slots=True)
class GateReached:
    """A person is asked."""

    stage: str
    prompt: str


@dataclass(frozen=True, slots=True)
class GateDecided:
    """A person has answered."""

    stage: str
    approved: bool
    message: str


@dataclass(frozen=True, slots=True)
class Warned:
    """Something a person should know though the run goes on."""

    identity: str
    what: str


@dataclass(frozen=True, slots=True)
class LinePrinted:
    """A line of a step's output. It changes no state: a journal may ignore it."""

    identity: str
    stream: str
    line: str


Event: TypeAlias = (
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
    | LinePrinted
)
