"""Compute the state of a run by folding its events.

The engine asks here what has happened so far. The result of a live run, of an interrupted one and of one that
continues after a crash all come from this state. After a crash the recorded events are folded again, and the
walk through the recipe skips what is finished.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from amplihack.errors import AmplihackError
from amplihack.patterns import pattern
from amplihack.recipes.events import (
    AgentPaid,
    AgentPaused,
    GateDecided,
    GateReached,
    IterationFinished,
    IterationStarted,
    NeverReached,
    OutputStored,
    ProcessStarted,
    Recorded,
    Retrying,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    Undone,
    Warned,
    Withheld,
    WorkTreeLeft,
    below,
    identity_in,
)
from amplihack.recipes.results import RunResult, StepResult
from amplihack.recipes.run_parts import CUT_SHORT, PREFLIGHT, Gate, Instance
from amplihack.recipes.spending import NOTHING_SPENT, total
from amplihack.records import replace

_ROUND = pattern(r"\[\d+\]")  # of a loop, in an identity


class _Instances(dict[str, Instance]):
    """The step instances of a run by identity. One that is missing never began: the events are not whole."""

    def __missing__(self, identity: str) -> Instance:
        raise AmplihackError(
            f"the history of the run is damaged: it goes on with step '{identity}', which never began",
            fix="put a backup of the run database back, or run the recipe anew",
        )


class RunState:
    """The state of a run. `apply` takes the next event; the other methods answer questions."""

    def __init__(self, events: Iterable[Recorded] = ()) -> None:
        self.ended: RunResult | None = None
        self._instances = _Instances()
        self._places: dict[str, dict[str, None]] = {}  # identities by place, in the order they began
        self._gates: dict[str, Gate] = {}
        self._loose: dict[str, list[str]] = {}  # warnings that are about no step
        self._left: dict[str, tuple[str, ...]] = {}  # ids that were never reached, by place
        self._tellers: dict[tuple[str, str], set[str]] = {}  # identities by step and warning
        self._trees: dict[str, WorkTreeLeft] = {}  # how each step left its work tree, in order
        for event in events:
            self.apply(event)

    # one event --------------------------------------------------------------------------------------------

    def apply(self, event: Recorded) -> None:
        """Apply the next event. Events that change no state, such as printed lines, are ignored."""
        match event:  # those of every step first: it takes long to find that an event is of another kind
            case StepStarted():
                self._begin(event.step_id, event.identity, event.kind, idempotent=event.idempotent)
                self._instances[event.identity].after_failure = event.after_failure
                self._instances[event.identity].recheck = event.recheck
            # The instance owns these values, so that a step skipped after a crash can write them again.
            case OutputStored():
                instance = self._instances[event.identity]
                instance.values.update(event.values)
                instance.ledger.update(event.ledger)
            case StepFinished(result=result) | IterationFinished(result=result):
                self._finish(result)
            case IterationStarted(identity, index):
                whole = self._instances[identity]
                name, step = f"{identity}[{index}]", whole.result
                self._begin(f"{step.step_id}[{index}]", name, step.kind, idempotent=whole.idempotent)
            case Warned(identity, what):
                known = self._instances.get(identity)
                (known.warnings if known else self._loose.setdefault(identity, [])).append(what)
                self._tellers.setdefault((_step_name(identity), what), set()).add(identity)
            case Retrying():
                self._retry(event)
            case AgentPaid(identity, spent):
                known = self._instances[identity]
                known.wasted = total((known.wasted, spent))
            case GateReached():
                gate = self._gates.setdefault(event.identity, Gate(event.stage, event.due))
                gate.prompt, gate.step = event.prompt, event.step
            case GateDecided():
                gate = self._gates.setdefault(event.identity, Gate(event.stage, None))
                gate.approved, gate.message = event.approved, event.message
                gate.by, gate.at, gate.step = event.by, event.at, event.step
            case AgentPaused(identity):
                self._instances[identity].paused = event
            case ProcessStarted(identity):
                if (known := self._instances.get(identity)) is not None:
                    known.process = event
            case Undone():
                self._undo(event)
            case Withheld(identity):
                self._instances[identity].withheld = True
            case WorkTreeLeft(identity):
                earlier = self._trees.pop(identity, event)
                self._trees[identity] = replace(event, staged={**earlier.staged, **event.staged})
            case NeverReached(identity, ids):
                self._left[f"{identity}/" if identity else ""] = ids
            case RunStarted():
                self._reopen()
            case RunFinished(result):
                self.ended = result

    def _begin(self, step_id: str, identity: str, kind: str, *, idempotent: bool = True) -> None:
        """Open the slot of an instance. An interrupted one keeps its slot and its attempts."""
        unfinished = StepResult(
            step_id=step_id, identity=identity, kind=kind, status="interrupted", error=CUT_SHORT
        )
        known = self._instances.get(identity)
        # A dict, not a list: a step that begins again after a crash keeps its first position.
        steps = self._places.setdefault(_place(identity), {})
        if known is not None and known.after_failure:
            steps.pop(identity, None)  # it came early, behind what failed; now it comes behind what follows
        steps[identity] = None
        if known is None:
            self._instances[identity] = Instance(unfinished, idempotent=idempotent)
            return
        if known.finished and known.withheld:
            self._try_again(known)
        known.result, known.finished, known.idempotent = unfinished, False, idempotent
        known.values, known.ledger, known.withheld, known.process = {}, {}, False, None

    def _finish(self, result: StepResult) -> None:
        """Store a result. A step that never began, such as one of a skipped stage, gets its slot here.

        One in which a gate waits is not finished: the run that goes on enters it again.
        """
        if result.identity not in self._instances:
            self._begin(result.step_id, result.identity, result.kind)
        known = self._instances[result.identity]
        parts, warnings = self._parts(result.identity), tuple(known.warnings)
        if result.children != parts or result.warnings != warnings:
            result = replace(result, children=parts, warnings=warnings)
        known.result, known.finished = result, result.status != "waiting"
        if known.finished and self._gates:
            self._close_gates(result.identity)

    def _close_gates(self, step: str) -> None:
        """Forget what a tool asked for and nobody answered: the step has ended without it."""
        for identity, gate in self.tool_gates(step):
            if gate.approved is None:
                del self._gates[identity]

    def _retry(self, event: Retrying) -> None:
        """Forget the failed attempt, except for what it cost."""
        known = self._instances[event.identity]
        parts = (part.spent for part in self._parts(event.identity))
        known.wasted = total((known.wasted, event.spent, *parts))
        known.attempt, known.due = event.attempt, event.due
        known.values, known.ledger, known.withheld, known.process = {}, {}, False, None
        known.paused = None
        self._forget_parts(event.identity)

    def _forget_parts(self, identity: str) -> None:
        for place in _inner_places(identity):
            self._left.pop(place, None)
            for part in self._places.pop(place, ()):
                self._forget_parts(part)
                self._take_back(self._instances.pop(part))
            # A retried sub-recipe asks its gates again: what was approved belonged to the failed attempt.
            for gate in [each for each in self._gates if each.startswith(place)]:
                del self._gates[gate]

    def _reopen(self) -> None:
        """Prepare a run to be continued: what failed is tried once more, and checks are made again."""
        if self.ended is not None:
            self._reopen_ended()
        # Otherwise it did not end but was cut off: its failures stay, and it continues where it was.
        for identity, known in list(self._instances.items()):
            if known.recheck and identity in self._instances and not self._is_inside_finished(identity):
                self._forget_parts(identity)
                if known.finished:
                    self._try_again(known)
        self._left = {place: ids for place, ids in self._left.items() if self.finished(place[:-1])}

    def _is_inside_finished(self, identity: str) -> bool:
        """Tell whether a step lies in one that has finished, into which nobody goes again."""
        return any(known.finished and below(identity, each) for each, known in self._instances.items())

    def _reopen_ended(self) -> None:
        self.ended = None
        for identity, known in list(self._instances.items()):
            if known.result.kind == PREFLIGHT:
                del self._instances[identity], self._places[_place(identity)][identity]
            elif known.failed_for_good:
                self._try_again(known)
            elif known.is_due_again and identity in self._instances:
                self._forget_parts(identity)
                self._try_again(known)

    def _try_again(self, known: Instance) -> None:
        parts = total(part.spent for part in known.result.children)
        # The limit on steps counts what led to the end, not what is now done again.
        known.wasted = replace(known.result.spent - parts, executed=0)
        known.attempt, known.due = 1, 0.0
        self._take_back(known)
        known.finished, known.paused = False, None
        for identity, _ in self.tool_gates(known.result.identity):  # allowed once: the agent asks again
            del self._gates[identity]

    def _take_back(self, known: Instance) -> None:
        for what in known.warnings:
            self._tellers[_step_name(known.result.identity), what].discard(known.result.identity)
        known.warnings = []

    def _undo(self, event: Undone) -> None:
        known = self._instances.get(event.identity)
        if known is None:
            return
        if event.how == "inside":
            known.finished = False
            self._left.pop(_inner_places(event.identity)[0], None)
            return
        self._forget_parts(event.identity)
        self._try_again(known)
        if event.how == "gone":
            del self._instances[event.identity]
            del self._places[_place(event.identity)][event.identity]

    # questions --------------------------------------------------------------------------------------------

    def instance(self, identity: str) -> Instance | None:
        """Return the step or round of that identity, if it has begun."""
        return self._instances.get(identity)

    def finished(self, identity: str) -> Instance | None:
        """Return the step or round of that identity if it is finished, so that it is not done again."""
        known = self._instances.get(identity)
        return known if known is not None and known.finished and not known.withheld else None

    def executed(self, place: str = "") -> int:
        """Return how many executed steps the limit counts at a place: all of the run, or of a sub-recipe."""
        return sum(map(self._executed, self._places.get(place, ())))

    def _executed(self, identity: str) -> int:
        if (done := self.finished(identity)) is not None:
            return done.result.executed
        return self._instances[identity].wasted.executed + sum(map(self.executed, _inner_places(identity)))

    def has_parts(self, identity: str) -> bool:
        """Tell whether anything inside a step or round has begun."""
        return any(self._places.get(place) for place in _inner_places(identity))

    def instances(self) -> Mapping[str, Instance]:
        """Return every step and round that has begun, by its identity."""
        return self._instances

    def gates(self) -> Mapping[str, Gate]:
        """Return every gate that was reached, by its identity."""
        return self._gates

    def gate(self, identity: str) -> Gate | None:
        return self._gates.get(identity)

    def tool_gates(self, step: str) -> list[tuple[str, Gate]]:
        """Return what tools of a step's agent asked for, in order, with the identities of these gates."""
        return [(identity, gate) for identity, gate in self._gates.items() if gate.step and gate.step == step]

    def trees(self, identity: str) -> tuple[WorkTreeLeft, ...]:
        """Return what steps of the run have staged, in order; and what this one had left as it was."""
        return tuple(
            each if name == identity else replace(each, left={})
            for name, each in self._trees.items()
            if each.staged or name == identity
        )

    def warned(self, identity: str, what: str) -> bool:
        """Tell whether this warning was given already; continuing a run must not repeat it."""
        known = self._instances.get(identity)
        return what in (known.warnings if known else self._loose.get(identity, ()))

    def told(self, identity: str, what: str) -> bool:
        """Tell whether this step has given this warning already, in this round or another one."""
        return bool(self._tellers.get((_step_name(identity), what)))

    def complete(self, own: StepResult) -> StepResult:
        """Return the result of an instance with its parts, its warnings and everything that it used."""
        known = self._instances.get(own.identity)
        parts = self._parts(own.identity)
        wasted = known.wasted if known else NOTHING_SPENT
        if not parts and wasted is NOTHING_SPENT and not (known and known.warnings):
            return own  # as most steps are
        spent = total((wasted, own.spent, *(part.spent for part in parts)))
        warnings = tuple(known.warnings) if known else ()
        return replace(own, children=parts, warnings=warnings, **spent.fields())

    def results(self) -> tuple[StepResult, ...]:
        """Return all results in the order they began. What is not finished is interrupted."""
        return self._at("")

    def never_reached(self) -> tuple[str, ...]:
        """Return the steps that were never begun, in no round of the loops around them."""
        if not self._left:
            return ()
        begun = set(map(_step_name, self._instances))
        left = {
            identity_in(where, name): f"{where}{name}"
            for place, ids in self._left.items()
            for where, name in ((_step_name(place), name) for name in ids)
        }
        return tuple(shown for identity, shown in left.items() if identity not in begun)

    def warnings(self) -> tuple[str, ...]:
        """Return every warning with its identity: those of the run first, then step by step."""
        return (*self.loose_warnings(), *_warnings(self.results()))

    def loose_warnings(self) -> tuple[str, ...]:
        """Return the warnings that are about no step that has begun."""
        return tuple(_line(identity, what) for identity, texts in self._loose.items() for what in texts)

    def _at(self, place: str) -> tuple[StepResult, ...]:
        return tuple(self._told(identity) for identity in self._places.get(place, ()))

    def _told(self, identity: str) -> StepResult:
        known = self._instances[identity]
        if not known.finished and known.result.status != "waiting":  # one that waits is told as it stopped
            return self.complete(known.result)
        if len(known.warnings) != len(known.result.warnings):  # something was said after it had finished
            known.result = replace(known.result, warnings=tuple(known.warnings))
        return known.result

    def _parts(self, identity: str) -> tuple[StepResult, ...]:
        inside, rounds = _inner_places(identity)
        if inside not in self._places and rounds not in self._places:  # as most steps are
            return ()
        return (*self._at(inside), *self._at(rounds))


def _place(identity: str) -> str:
    """Return the prefix of an identity: `""`, `deploy/` for a sub-recipe or body, `each[` for rounds."""
    mark = "[" if identity.endswith("]") else "/"
    return identity[: identity.rfind(mark) + 1]


def _step_name(identity: str) -> str:
    """Return the place of a step, whichever round of the loops around it is meant."""
    return _ROUND.sub("", identity)


def _inner_places(identity: str) -> tuple[str, str]:
    return f"{identity}/", f"{identity}["


def _warnings(results: Iterable[StepResult]) -> Iterator[str]:
    for result in results:
        yield from (_line(result.identity, what) for what in result.warnings)
        yield from _warnings(result.children)


def _line(identity: str, what: str) -> str:
    return f"{identity}: {what}" if identity else what
