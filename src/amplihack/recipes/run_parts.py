"""Define what the state of a run is made of: its steps and rounds with their progress, and its gates."""

from __future__ import annotations

from amplihack.recipes.events import AgentPaused, ProcessStarted
from amplihack.recipes.results import StepResult
from amplihack.recipes.spending import NOTHING_SPENT, Spending
from amplihack.recipes.values import Value
from amplihack.records import Record, field

CUT_SHORT = "interrupted before it was done"
HOLDERS = ("recipe", "group")  # kinds of steps that only hold others
PREFLIGHT = "preflight"  # the kind of the result that says why a recipe could not even begin


class Instance(Record, frozen=False):
    """One step, or one round of a loop, with its progress.

    Until it is finished, `result` is what to report if the run ends now. `attempt` is the current or next
    attempt, which may begin at `due`. `wasted` is what earlier attempts used, and agents that gave no answer.
    `withheld` means that a secret is missing from what it left behind. `after_failure` means that it ran
    though a step before it had failed, so that it is due again when that step is tried again. `paused` is
    where an agent waits for the answer to a gate.
    """

    result: StepResult
    finished: bool = False
    values: dict[str, Value] = field(default_factory=dict)
    ledger: dict[str, Value] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    attempt: int = 1
    due: float = 0.0
    wasted: Spending = NOTHING_SPENT
    idempotent: bool = True
    process: ProcessStarted | None = None  # the last one of the current attempt
    withheld: bool = False
    after_failure: bool = False
    recheck: bool = False
    paused: AgentPaused | None = None

    @property
    def is_due_again(self) -> bool:
        return self.finished and self.after_failure and self.idempotent

    @property
    def failed_for_good(self) -> bool:
        return self.finished and self.result.status == "failed" and not self.result.allowed


class Gate(Record, frozen=False):
    """A gate that was reached; `approved` is None until it is decided."""

    stage: str
    due: float | None
    prompt: str = ""
    approved: bool | None = None
    message: str = ""
    by: str = ""
    at: float = 0.0
    step: str = ""  # whose agent has a tool that asks; empty for the gate of a stage

    @property
    def ended_the_run(self) -> bool:
        return self.approved is False and not self.step
