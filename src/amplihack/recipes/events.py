"""Define the events of a run: everything that changes, in order.

An event names its step instance by an identity that stays the same when the same recipe is run again:
`build`, `deploy/upload` inside a sub-recipe, `each[2]/check` inside a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, Literal, TypeAlias, get_args

from amplihack.recipes.results import RunResult, StepResult
from amplihack.recipes.spending import NOTHING_SPENT, Spending, usage_from_json, usage_json
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
    after_failure: bool = False  # it runs because it always does: a step before it has failed
    recheck: bool = False  # True: it runs again whenever the run goes on


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
    """A person is asked for approval: of a stage, or of what a tool of an agent `step` wants to do."""

    stage: str  # for a tool, the step
    prompt: str
    identity: str = ""
    due: float | None = None  # when it decides itself, in seconds since 1970
    step: str = ""


class GateDecided(Record):
    """A gate is approved or denied."""

    stage: str
    approved: bool
    message: str
    identity: str = ""
    by: str = ""  # who answered; empty when it decided itself
    at: float = 0.0  # when, in seconds since 1970
    step: str = ""  # as above

    @property
    def ends_the_run(self) -> bool:
        """Tell whether the denial is final. A tool that is denied is only not used."""
        return not self.approved and not self.step


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


class AgentPaid(Record):
    """An agent gave no answer, and this is what it took: it failed, or it was cut off."""

    identity: str
    spent: Spending


class AgentPaused(Record):
    """An agent waits for a person's answer. `state` is what it goes on from; empty where that is its prompt.

    `used` are the gates whose answers it had used before.
    """

    identity: str
    state: str = field(default="", repr=False)
    used: tuple[str, ...] = ()


class Staged(Record):
    """Files that an agent step changed were staged with git."""

    identity: str
    files: tuple[str, ...]


class WorkTreeLeft(Record):
    """How an agent step left files of a work tree: `staged`, or changed and `left` as they are.

    Each path has a mark, by which a run that goes on sees whether the file is still as it was then.
    """

    identity: str
    root: str
    staged: Mapping[str, str] = field(default_factory=dict)
    left: Mapping[str, str] = field(default_factory=dict)


class NeverReached(Record):
    """Steps directly inside the step or round `identity`, or of the run, were not begun before its end."""

    identity: str
    ids: tuple[str, ...]


_HOOKS = ("pre_step", "post_step", "on_error")


class LinesPrinted(Record):
    """Whole lines of a step's output, as many as arrived together.

    They change no state, so a journal may ignore them. They can arrive after the end of their step, from a
    process that it left running. The stream of lines that a hook around the step prints is the hook's name.
    """

    identity: str
    stream: str
    lines: tuple[str, ...]

    @property
    def of_hook(self) -> bool:
        return self.stream in _HOOKS


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
    | AgentPaid
    | AgentPaused
    | Staged
    | WorkTreeLeft
    | NeverReached
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
_PARTS = ("result", "spent", "values", "ledger", "staged", "left")  # fields that are no plain values
# What fields of these names hold, whatever the event. A damaged journal is found out here.
_SHAPES: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("identity", "step_id", "kind", "title", "recipe", "version", "run_id", "reason"), str),
    **dict.fromkeys(
        ("stage", "step", "prompt", "message", "by", "what", "stream", "started", "how", "state", "root"), str
    ),
    **dict.fromkeys(("steps", "depth", "number", "index", "pid", "attempt"), int),
    **dict.fromkeys(("delay", "at"), (int, float)),
    **dict.fromkeys(("values", "ledger", "result", "spent", "staged", "left"), dict),
    **dict.fromkeys(("lines", "files", "used", "ids"), list),
}


def to_json(event: Recorded) -> dict[str, Any]:
    """Return the event as JSON data, without what is never written. `from_json` restores it."""
    kind = type(event)
    return {"event": kind.__name__, **fields_json(event)}


def fields_json(event: Recorded) -> dict[str, Any]:
    """Return the fields of the event as JSON data."""
    names, values, parts = _written(type(event))
    shown = dict(zip(names, values(event), strict=True))
    for name in parts:
        if type(shown[name]) is not dict:
            shown[name] = _shown(shown[name])
    return shown


@cache
def _written(kind: RecordType) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]], tuple[str, ...]]:
    """Return the fields that are written, what gets them, and those of them that are no plain values."""
    names = tuple(name for name in field_names(kind) if name not in _NEVER_WRITTEN)
    values = attrgetter(*names) if len(names) > 1 else lambda event: (getattr(event, names[0]),)
    return names, values, tuple(name for name in names if name in _PARTS)


def from_json(shown: Mapping[str, Any]) -> Recorded:
    """Return the event from its JSON data. Unknown fields, from a newer version, are ignored.

    Raises KeyError, TypeError or ValueError for data that is no event.
    """
    return event_of(shown["event"], {**shown})


def event_of(name: str, fields: dict[str, Any]) -> Recorded:
    """Return the event of that kind with these fields, which are JSON data and used up. Raises as above."""
    kind = _KINDS[name]
    known, shapes, parts = _readable(kind)
    values = fields if fields.keys() <= known else {each: fields[each] for each in known & fields.keys()}
    for each, shape in shapes:
        if each in values and not isinstance(values[each], shape):
            raise TypeError(f"{each} cannot be {values[each]!r}")
    for each, read in parts:
        if each in values:
            values[each] = read(values[each])
    event: Recorded = kind(**values)
    return event


def _spending(shown: Mapping[str, Any]) -> Spending:
    return Spending(**{**shown, "usage": usage_from_json(shown["usage"])})


@cache
def _readable(
    kind: RecordType,
) -> tuple[frozenset[str], Sequence[tuple[str, Any]], Sequence[tuple[str, Any]]]:
    """Return the fields of a kind of events, what some of them must hold, and what reads others."""
    names = field_names(kind)
    result = RunResult if kind is RunFinished else StepResult
    readers: Mapping[str, Callable[[Any], Any]] = {
        "result": result.from_json,
        "lines": tuple,
        "files": tuple,
        "used": tuple,
        "ids": tuple,
        "spent": _spending,
    }
    shapes, parts = ([(name, of[name]) for name in names if name in of] for of in (_SHAPES, readers))
    return frozenset(names), shapes, parts


def _shown(value: Any) -> Any:
    if isinstance(value, StepResult | RunResult):
        return value.to_json()
    if isinstance(value, Spending):
        return {**value.fields(), "usage": usage_json(value.usage)}
    return dict(value) if isinstance(value, Mapping) else value
