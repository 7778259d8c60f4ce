"""Hold what the engine passes along: the options, the run, and the step at work with its outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from amplihack.errors import AmplihackError
from amplihack.recipes.agent_port import Usage
from amplihack.recipes.engine.frame import Frame
from amplihack.recipes.engine.pace import Pace
from amplihack.recipes.events import Event, LinesPrinted, Warned
from amplihack.recipes.model import Step
from amplihack.recipes.ports import World
from amplihack.recipes.results import Ending, Spending, StepResult
from amplihack.recipes.run_state import Instance, RunState
from amplihack.recipes.semantics import counts_as_step
from amplihack.recipes.templates import show_path
from amplihack.recipes.values import MISSING, KeyPath, Missing, Value
from amplihack.records import Record, field, replace

Sequel: TypeAlias = Literal["next", "leave", "stop"]  # what a finished step means for those after it


class Options(Record, kw_only=True):
    """How the user wants the recipe to be run."""

    run_id: str
    working_dir: str
    include_tags: frozenset[str] = frozenset()
    exclude_tags: frozenset[str] = frozenset()
    dry_run: bool = False
    strict_vars: bool = False
    strict_agents: bool = False
    auto_stage: bool = True
    max_parallel: int = 50
    max_agents: int = 8
    step_timeout: float | None = None
    approve_all: bool = False

    def excludes(self, tags: Sequence[str]) -> bool:
        """Tell whether a step with these tags is left out; a step without tags never is."""
        carried = frozenset(tags)
        if not carried:
            return False
        return bool(carried & self.exclude_tags or (self.include_tags and not carried & self.include_tags))


class StepFailure(AmplihackError):  # noqa: N818 - reads as what happened
    """Raised when a step did not do what it promised.

    A `transient` failure may not occur on the next try; a `hopeless` one always will. A `final` one ends the
    recipe even if the step is allowed to fail.
    """

    def __init__(
        self,
        what: str,
        *,
        output: str = "",
        stderr: str = "",
        exit_code: int | None = None,
        transient: bool = False,
        timed_out: bool = False,
        hopeless: bool = False,
        final: bool = False,
        writes: Mapping[str, Value] | None = None,
        usage: Usage | None = None,
        cost_usd: float | None = None,
    ) -> None:
        super().__init__(what)
        self.output, self.stderr, self.status_code = output, stderr, exit_code
        self.transient, self.hopeless, self.final = transient, hopeless, final
        self.timed_out = timed_out
        self.attempts = 1
        self.writes = writes or {}  # what is stored though the step failed
        self.spent = Spending(usage=usage, cost_usd=cost_usd)


class Done(Record, kw_only=True):
    """The result of an action that succeeded."""

    text: str
    value: Value | Missing = MISSING  # when it is not simply what the text says
    stderr: str = ""
    exit_code: int | None = None
    degraded: str = ""  # why it is not all that was asked for; empty if it is
    writes: Mapping[str, Value] = field(default_factory=dict)
    usage: Usage | None = None
    cost_usd: float | None = None
    attempts: int = 1


class Outcome(Record):
    """The result of a sequence of steps."""

    results: tuple[StepResult, ...]
    sequel: Sequel
    never_reached: tuple[str, ...] = ()


RunSteps: TypeAlias = "Callable[[Run, Sequence[Step], Frame], Awaitable[Outcome]]"


class Run(Record, frozen=False):
    """One run: the world, the options, and everything that concerns the run as a whole."""

    world: World
    options: Options
    pace: Pace
    steps: RunSteps  # runs a sequence; a step that holds others needs it, and is itself part of one
    ending: Ending | None = None  # set when a gate ends the run, wherever in the tree it stands
    ending_reason: str = ""
    state: RunState = field(default_factory=RunState)  # includes what happened before a crash
    person: asyncio.Lock = field(default_factory=asyncio.Lock)  # one question at a time

    def record(self, event: Event) -> None:
        """Write the event to the journal, then apply it. What could not be recorded has not happened."""
        self.world.journal.record(event)
        self.state.apply(event)

    def warn(self, identity: str, what: str) -> None:
        if not self.state.warned(identity, what):
            self.record(Warned(identity, what))


class Job(Record):
    """One step, or one round of its loop, at work."""

    run: Run
    step: Step
    frame: Frame
    identity: str

    @property
    def blank(self) -> StepResult:
        return StepResult(step_id=self.step.id, identity=self.identity, kind=self.step.kind, status="skipped")

    def round(self, index: int) -> Job:
        name = f"{self.identity}[{index}]"
        return replace(self, identity=name, frame=self.frame.inside(f"{name}/"))

    def warn(self, what: str) -> None:
        self.run.warn(self.identity, what)

    def heard(self, stream: str, lines: Iterable[str]) -> None:
        self.run.world.journal.record(LinesPrinted(self.identity, stream, tuple(lines)))  # not in the state

    def claim(self, blank: StepResult) -> StepResult:
        """Count the step against the limit, if it works itself. Raises StepFailure at the limit."""
        budget, works = self.frame.budget, counts_as_step(self.step)
        # A step that only holds others is not counted, but must not start when nothing inside it could run.
        limit = budget.take() if works else budget.exhausted()
        if limit is not None:
            raise StepFailure(f"Total step limit ({limit}) exceeded", hopeless=True, final=True)
        return replace(blank, executed=int(works))

    def recall(self) -> Instance | None:
        """Return what was finished here before a crash, and apply its variables and its step count again."""
        done = self.run.state.finished(self.identity)
        if done is not None:
            self.frame.scope.write(done.values, done.ledger)
            self.frame.budget.spend(done.result.executed)
        return done

    def allows(self, failure: StepFailure) -> bool:
        return self.step.on_error != "fail" and not failure.final

    def missing(self, names: tuple[KeyPath, ...], where: str) -> None:
        """Warn about names that have no value; with strict variables, raise StepFailure."""
        if not names:
            return
        what = f"undefined in {where}: {', '.join(sorted({show_path(path) for path in names}))}"
        if self.run.options.strict_vars:
            raise StepFailure(f"{what} (strict variables)", hopeless=True)
        self.warn(f"{what}; it renders empty")


def cut_off(lost: int) -> str:
    """Return a message that tells how much of an output was lost."""
    size = "1 byte" if lost == 1 else f"{lost:,} bytes"
    return f"the output was larger than a step can keep and was cut: {size} lost"


def completed(blank: StepResult, done: Done) -> StepResult:
    return replace(
        blank,
        status="degraded" if done.degraded else "completed",
        output=done.text,
        stderr=done.stderr,
        exit_code=done.exit_code,
        attempts=done.attempts,
        usage=done.usage,
        cost_usd=done.cost_usd,
    )


def failed(blank: StepResult, failure: StepFailure, what: str, *, allowed: bool) -> StepResult:
    return replace(
        blank,
        status="failed",
        error=what,
        output=failure.output,
        stderr=failure.stderr,
        exit_code=failure.status_code,
        attempts=failure.attempts,
        usage=failure.spent.usage,
        cost_usd=failure.spent.cost_usd,
        allowed=allowed,
    )
