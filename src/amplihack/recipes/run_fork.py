"""Decide what a fork shares with the run that it comes from: all that began before its step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from amplihack.documents.suggest import closest
from amplihack.errors import NotFound, UsageError
from amplihack.recipes.events import (
    GateDecided,
    GateReached,
    IterationFinished,
    IterationStarted,
    LinesPrinted,
    OutputStored,
    ProcessStarted,
    Recorded,
    Retrying,
    RunFinished,
    StepFinished,
    StepStarted,
    Undone,
)
from amplihack.recipes.run_state import RunState
from amplihack.recipes.values import Value
from amplihack.records import replace

Timed: TypeAlias = "tuple[float, Recorded]"
_ENDS = (StepFinished, IterationFinished, OutputStored)


def find_step(events: Sequence[Timed], name: str) -> str:
    """Return the identity of the step that is meant: by its identity, or by its id if one step has it.

    Raises NotFound if it has not begun, and UsageError if several steps have the id.
    """
    begun, state = beginnings(events), RunState(event for _, event in events)
    known = {identity: each for identity, each in state.instances().items() if identity in begun}
    if name in known:
        return name
    found = [identity for identity, each in known.items() if each.result.step_id == name]
    if len(found) > 1:
        some = ", ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
        raise UsageError(f"'{name}' is the name of {len(found)} steps: {some}", fix="give one of these")
    if not found:
        meant = closest(name, known)
        fix = f"did you mean '{meant}'?" if meant else f"these did: {_some(known)}"
        raise NotFound(f"no step '{name}' has begun in the run", fix=fix)
    return found[0]


def _some(known: Iterable[str]) -> str:
    names = [name for name in known if "[" not in name and "/" not in name]
    return ", ".join(names[:10]) + (" …" if len(names) > 10 else "") or "none"


def shared_events(events: Sequence[Timed], step: str, given: Mapping[str, Value]) -> Iterator[Timed]:
    """Yield the events that the fork begins with. `given` takes the place of what earlier steps wrote.

    What had begun before the step, or before what it is in, stays done. The step itself runs again, and so
    does what began later or failed. Gates that were reached later are asked again.
    """
    begun, trunk = beginnings(events), [*_around(step), step]
    later = _later(begun, trunk)
    failed = _failed(events, begun, trunk) - later
    again = later | failed
    last = max((number for number, (_, event) in enumerate(events) if not _ends_the_run(event)), default=0)
    for number, (at, event) in enumerate(events):
        if isinstance(event, ProcessStarted | LinesPrinted) or (number > last and _ends_the_run(event)):
            continue
        identity = subject(event)
        gate = isinstance(event, GateReached | GateDecided) and gate_name(identity) in again
        unfinished = isinstance(event, _ENDS) and identity in trunk
        if identity in failed and isinstance(event, StepStarted | IterationStarted):
            # It keeps its place in the order. That it failed is known, so there is nothing to ask about.
            yield at, replace(event, idempotent=True) if isinstance(event, StepStarted) else event
        elif not gate and not unfinished and not _inside(identity, again):
            yield at, _with(event, given, step) if isinstance(event, OutputStored) else event


def _around(identity: str) -> Iterator[str]:
    """Yield every step and round around a step, the outermost first."""
    marks = (number for number, letter in enumerate(identity) if letter in "/[")
    yield from (identity[:number] for number in marks)


def _later(begun: Mapping[str, int], trunk: Sequence[str]) -> set[str]:
    """Return what began with or after the part of the trunk that stands beside it."""
    limits = {place_of(part): begun[part] for part in trunk}
    later = {name for name, number in begun.items() if number >= limits.get(place_of(name), number + 1)}
    return later.difference(trunk[:-1])


def _failed(events: Sequence[Timed], begun: Mapping[str, int], trunk: Sequence[str]) -> set[str]:
    """Return what failed beside the trunk: a fork would fail again before it began."""
    known = RunState(event for _, event in events).instances()
    places = {place_of(part) for part in trunk}
    beside = (name for name in begun if place_of(name) in places and name not in trunk)
    return {name for name in beside if name in known and known[name].failed_for_good}


def place_of(name: str) -> str:
    """Return the place that a step, a round or a gate is in, as the beginning of its identity."""
    _, mark, gate = name.partition(gate_name(""))
    if mark:
        return gate[: gate.rfind("/") + 1]
    return name[: name.rfind("[" if name.endswith("]") else "/") + 1]


def subject(event: Recorded) -> str:
    """Return the identity that an event is about; empty for the run as a whole."""
    match event:
        case StepFinished(result=result) | IterationFinished(result=result):
            return result.identity
        case IterationStarted(identity, index):
            return f"{identity}[{index}]"
        case _:
            return getattr(event, "identity", "")


def _ends_the_run(event: Recorded) -> bool:
    return isinstance(event, RunFinished)


def beginnings(events: Sequence[Timed]) -> dict[str, int]:
    """Return when each step, round and gate began: the number of its first event since it was last undone."""
    begun: dict[str, int] = {}
    places: dict[str, list[str]] = {}  # what began directly in each
    for number, (_, event) in enumerate(events):
        identity = subject(event)
        match event:
            case StepStarted() | IterationStarted() | StepFinished() | IterationFinished():
                _begin(begun, places, identity, number)
            case GateReached():
                _begin(begun, places, gate_name(identity), number)
            case Retrying():
                _forget_parts(begun, places, identity)
            case Undone(how=how) if how != "inside":
                _forget_parts(begun, places, identity)
                begun.pop(identity, None)
            case _:
                continue
    return begun


def _begin(begun: dict[str, int], places: dict[str, list[str]], name: str, number: int) -> None:
    if name not in begun:
        begun[name] = number
        places.setdefault(place_of(name), []).append(name)


def _forget_parts(begun: dict[str, int], places: dict[str, list[str]], identity: str) -> None:
    for place in (f"{identity}/", f"{identity}["):
        for name in places.pop(place, ()):
            begun.pop(name, None)
            _forget_parts(begun, places, name)


def gate_name(identity: str) -> str:
    """Return a name for a gate that no step has: both are named by their place in the recipe."""
    return f"gate\0{identity}"


def _inside(identity: str, those: set[str]) -> bool:
    """Tell whether a step is one of those, or inside one of them."""
    return identity in those or any(each in those for each in _around(identity))


def _with(event: OutputStored, given: Mapping[str, Value], step: str) -> OutputStored:
    """Return the event with the given values in place of its own, where the step can see them."""
    place = event.identity[: event.identity.rfind("/") + 1]
    if not given.keys() & event.values.keys() or not step.startswith(place):
        return event
    return replace(event, values={name: given.get(name, value) for name, value in event.values.items()})
