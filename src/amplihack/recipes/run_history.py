"""Tell what happened in a run from its events and their times: a tree of steps, and the gates."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from amplihack.errors import AmplihackError
from amplihack.moments import is_moment
from amplihack.recipes.events import (
    IterationFinished,
    IterationStarted,
    LinesPrinted,
    Recorded,
    Retrying,
    RunFinished,
    StepFinished,
    StepStarted,
)
from amplihack.recipes.results import RunResult, StepResult, denial
from amplihack.recipes.run_parts import CUT_SHORT, Gate
from amplihack.recipes.run_state import RunState
from amplihack.recipes.spending import add_costs, add_usage, usage_json
from amplihack.records import replace

_LINES = 1000  # of a step without a result that are shown


class RunHistory:
    """The state of a run with the time of every start and end. `alive` tells whether it still runs.

    A step that runs or was cut off has no result: its output is what it has printed, if the events tell.
    With `damage`, events that do not fit are left out, and the list receives why.
    """

    def __init__(
        self,
        events: Iterable[tuple[float, Recorded]],
        *,
        alive: bool,
        damage: list[AmplihackError] | None = None,
    ) -> None:
        self.state, self._alive = RunState(), alive
        self.result: RunResult | None = None  # of its last life, without the results of the steps
        self._started: dict[str, float] = {}
        self._ended: dict[str, float] = {}
        self._printed: dict[str, deque[str]] = {}  # of steps that have not ended, in this attempt
        for at, event in events:
            try:
                self.state.apply(event)
            except AmplihackError as error:
                if damage is None:
                    raise
                damage.append(error)
            else:
                self._note(at, event)

    def _note(self, at: float, event: Recorded) -> None:
        match event:
            case StepStarted(identity):
                self._begin(identity, at)
            case IterationStarted(identity, index):
                self._begin(f"{identity}[{index}]", at)
            case LinesPrinted(identity, lines=lines) if not event.of_hook and identity not in self._ended:
                self._printed.setdefault(identity, deque(maxlen=_LINES)).extend(lines)
            case Retrying(identity):
                self._printed.pop(identity, None)
            case StepFinished(result=result) | IterationFinished(result=result):
                self._ended[result.identity] = at
                self._printed.pop(result.identity, None)
            case RunFinished(result):
                self.result = result
            case _:
                return

    def _begin(self, identity: str, at: float) -> None:
        self._started.setdefault(identity, at)
        self._ended.pop(identity, None)
        self._printed.pop(identity, None)

    def steps(self) -> tuple[StepResult, ...]:
        results = self.state.results()
        return tuple(map(self._with_printed, results)) if self._printed else results

    def _with_printed(self, step: StepResult) -> StepResult:
        printed = "" if step.output else "\n".join(self._printed.get(step.identity, ()))
        inside = tuple(map(self._with_printed, step.children))
        return replace(step, output=printed or step.output, children=inside)

    def status(self, step: StepResult) -> str:
        """Return the status of a step; one that is not finished waits, is running, or was interrupted."""
        known = self.state.instance(step.identity)
        if step.status == "waiting" and any(gate.ended_the_run for gate in self.gates()):
            return "denied"  # after the run had ended at the gate
        if known is None or known.finished or step.status == "waiting":
            return step.status
        return "running" if self._alive else "interrupted"

    def why(self, step: StepResult) -> str:
        """Return the error of a step as of now: one that runs has none yet, whatever it had before."""
        status = self.status(step)
        return "" if status == "running" else CUT_SHORT if status == "interrupted" else step.error

    def started(self, step: StepResult) -> float | None:
        return self._started.get(step.identity)

    def ended(self, step: StepResult) -> float | None:
        return self._ended.get(step.identity)

    @property
    def cost_usd(self) -> float | None:
        """Return what all lives of the run have cost so far, also where the last one was cut off."""
        return add_costs(step.cost_usd for step in self.state.results())

    def gates(self) -> tuple[Gate, ...]:
        return tuple(self.state.gates().values())

    def error(self) -> str:
        """Return why the run ended as it did. What a gate waited for is no reason once it is answered."""
        if self.result is None:
            return ""
        gates = self.gates()
        if self.result.ending != "waiting" or any(gate.approved is None for gate in gates):
            return self.result.error
        denied = [gate for gate in gates if gate.ended_the_run]
        return denial(denied[-1].stage, denied[-1].message) if denied else ""

    def never_reached(self) -> tuple[str, ...]:
        """Return the steps that had not begun when the run ended; nothing of one that has not ended."""
        return self.state.ended.never_reached if self.state.ended else ()

    def counts(self) -> dict[str, int] | None:
        """Return how many steps ended in which way, as the run itself told it; None if it has not ended."""
        ended = self.state.ended
        return replace(ended, step_results=self.state.results()).counts() if ended else None

    def to_json(self) -> dict[str, Any]:
        """Return the steps as a tree, the gates as a list, and the tokens and the cost of them all."""
        steps = self.steps()
        return {
            "cost_usd": self.cost_usd,
            "usage": usage_json(add_usage(step.usage for step in steps)),
            "counts": self.counts(),
            "never_reached": list(self.never_reached()),
            "warnings": list(self.state.warnings()),
            "steps": [self._step(step) for step in steps],
            "gates": [_gate(identity, gate) for identity, gate in self.state.gates().items()],
        }

    def _step(self, step: StepResult) -> dict[str, Any]:
        return {
            "identity": step.identity,
            "step_id": step.step_id,
            "kind": step.kind,
            "status": self.status(step),
            "started": moment(self.started(step)),
            "ended": moment(self.ended(step)),
            "duration": step.duration,
            "attempts": step.attempts,
            "output": step.output,
            "error": self.why(step),
            "exit_code": step.exit_code,
            "skip_reason": step.skip_reason,
            "allowed": step.allowed,
            "stderr": step.stderr,
            "warnings": list(step.warnings),
            "usage": usage_json(step.usage),
            "cost_usd": step.cost_usd,
            "children": [self._step(child) for child in step.children],
        }


def _gate(identity: str, gate: Gate) -> dict[str, Any]:
    decision = None if gate.approved is None else "approved" if gate.approved else "denied"
    return {
        "identity": identity,
        "stage": gate.stage,
        "step": gate.step or None,
        "prompt": gate.prompt,
        "decision": decision,
        "message": gate.message,
        "by": gate.by or None,
        "at": moment(gate.at or None),
        "expires": moment(gate.due),
    }


def moment(seconds: float | None) -> str | None:
    """Return a time in seconds since 1970 as ISO 8601 in UTC, such as `2026-11-16T05:00:00.250Z`.

    A moment that calendars do not have, as after an immense timeout, is None.
    """
    if seconds is None or not is_moment(seconds):
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
