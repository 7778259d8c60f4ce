"""Hold what the engine passes along: the options, the run, and the step at work with its outcome."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

from amplihack.errors import AmplihackError
from amplihack.recipes.agent_port import Usage
from amplihack.recipes.engine.frame import Frame
from amplihack.recipes.engine.pace import Pace
from amplihack.recipes.events import Event, LinesPrinted, NeverReached, Warned
from amplihack.recipes.model import Foreach, Step
from amplihack.recipes.ports import World
from amplihack.recipes.results import Ending, StepResult
from amplihack.recipes.run_parts import Instance
from amplihack.recipes.run_state import RunState
from amplihack.recipes.semantics import ITEM, counts_as_step, set_later
from amplihack.recipes.spending import Spending
from amplihack.recipes.templates import show_path
from amplihack.recipes.values import MISSING, KeyPath, Missing, Value, some
from amplihack.records import Record, field, replace

MOST_NAMES = 10  # in a warning

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
    # What to do about a gate where nobody can be asked.
    how_to_answer: str = "run it on a terminal, or with --yes to approve"
    answered_later: bool = False  # whether a gate can be answered when the run has stopped at it
    remarks: tuple[str, ...] = ()  # what to tell about the recipe before its first step

    def excludes(self, tags: Sequence[str]) -> bool:
        """Tell whether a step with these tags is left out; a step without tags never is."""
        if not tags:
            return False
        carried = frozenset(tags)
        return bool(carried & self.exclude_tags or (self.include_tags and not carried & self.include_tags))


class StepFailure(AmplihackError):
    """Raised when a step did not do what it promised.

    A `transient` failure may not occur on the next try; a `hopeless` one always will. A `final` one ends the
    recipe even if the step is allowed to fail. Where it `waits`, nothing went wrong: a gate inside is open.
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
        waits: bool = False,
        writes: Mapping[str, Value] | None = None,
        usage: Usage | None = None,
        cost_usd: float | None = None,
        fix: str = "",
    ) -> None:
        super().__init__(what, fix=fix)
        self.output, self.stderr, self.status_code = output, stderr, exit_code
        self.transient, self.hopeless, self.final, self.waits = transient, hopeless, final, waits
        self.timed_out = timed_out
        self.attempts = 1
        self.writes = writes or {}  # what is stored though the step failed
        self.spent = Spending(usage=usage, cost_usd=cost_usd)


def run_ended(run: Run, what: str = "") -> StepFailure:
    """Return the failure of a step inside which a gate ended the run.

    It is final, also where the step may fail: a run that goes on must come back to the gate.
    """
    return StepFailure(f"{what}{run.ending_reason}", hopeless=True, final=True, waits=run.ending == "waiting")


class Done(Record, kw_only=True):
    """The result of an action that succeeded."""

    text: str
    value: Value | Missing = MISSING  # when it is not simply what the text says
    stderr: str = ""
    exit_code: int | None = None
    degraded: str = ""  # why it is not all that was asked for; empty if it is
    skipped: str = ""  # why there was nothing to do; empty if there was
    idle: str = ""  # why nothing was done, though the step counts as done
    writes: Mapping[str, Value] = field(default_factory=dict)
    usage: Usage | None = None
    cost_usd: float | None = None
    attempts: int = 1


class Outcome(Record):
    """The result of a sequence of steps."""

    results: tuple[StepResult, ...]
    sequel: Sequel


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
    set_by_steps: dict[str, frozenset[str]] = field(default_factory=dict)  # names, by recipe
    reached_into: dict[str, frozenset[str]] = field(default_factory=dict)  # names, by recipe
    person: asyncio.Lock = field(default_factory=asyncio.Lock)  # one question at a time

    def record(self, event: Event) -> None:
        """Write the event to the journal, then apply it. What could not be recorded has not happened."""
        self.world.journal.record(event)
        self.state.apply(event)

    def note_left(self, steps: Sequence[Step], frame: Frame) -> None:
        """Record which steps of a sequence were not begun before its end."""
        left = tuple(step.id for step in steps if self.state.instance(frame.identity(step.id)) is None)
        if left:
            self.record(NeverReached(frame.prefix.removesuffix("/"), left))

    def ends(self, frame: Frame) -> bool:
        """Tell whether the run is to end here: at a gate, unless these steps always run."""
        return self.ending is not None and not frame.closing

    def warn(self, identity: str, what: str) -> None:
        if not self.state.warned(identity, what):
            self.record(Warned(identity, what))

    def remark(self, identity: str, what: str) -> None:
        """Warn once for each step, however many rounds it has."""
        if not self.state.told(identity, what):
            self.record(Warned(identity, what))


class Job(Record):
    """One step, or one round of its loop, at work."""

    run: Run
    step: Step
    frame: Frame
    identity: str
    name: str  # the id of the step; of a round, with its index

    @property
    def blank(self) -> StepResult:
        """Return the result of a step that has done nothing."""
        return self.begun(executed=0)

    def begun(self, executed: int) -> StepResult:
        """Return the result to start from, for a step that counts as so many."""
        return StepResult(
            step_id=self.name,
            identity=self.identity,
            kind=self.step.kind,
            status="skipped",
            executed=executed,
        )

    def round(self, index: int) -> Job:
        identity = f"{self.identity}[{index}]"
        return Job(
            self.run, self.step, self.frame.inside(f"{identity}/"), identity, f"{self.step.id}[{index}]"
        )

    def since(self, started: float) -> float:
        """Return the seconds since a time of the run's clock, as results show them."""
        return round(self.run.world.clock.now() - started, 6)

    def warn(self, what: str) -> None:
        self.run.warn(self.identity, what)

    def remark(self, what: str) -> None:
        """Warn about what the step says, once, however many rounds it has."""
        self.run.remark(self.identity, what)

    def heard(self, stream: str, lines: Iterable[str]) -> None:
        self.run.world.journal.record(LinesPrinted(self.identity, stream, tuple(lines)))  # not in the state

    def claim(self) -> int:
        """Count the step against the limit, if it works itself, and return as how many it counts.

        What runs after a failure is not held to the limit, so it takes no room from what is done again.
        Raises StepFailure at the limit.
        """
        budget, works = self.frame.budget, counts_as_step(self.step)
        if self.frame.closing or (not works and self.run.state.has_parts(self.identity)):
            return 0  # in the second case, it had room to start before a crash
        # A step that only holds others is not counted, but must not start when nothing inside it could run.
        limit = budget.take() if works else budget.exhausted()
        if limit is not None:
            raise StepFailure(f"Total step limit ({limit}) exceeded", hopeless=True, final=True)
        return int(works)

    def recall(self) -> Instance | None:
        """Return what was finished here before a crash, and apply its variables again."""
        done = self.run.state.finished(self.identity)
        if done is not None:
            self.frame.scope.write(done.values, done.ledger)
        return done

    def allows(self, failure: StepFailure) -> bool:
        return self.step.on_error != "fail" and not failure.final

    def missing(self, names: tuple[KeyPath, ...], where: str) -> None:
        """Warn about names that have no value; with strict variables, raise StepFailure."""
        if not names:
            return
        hint = self._item_name(names) or self._later(names) or self._meant(names)
        what = undefined(names, where) + hint
        if self.run.options.strict_vars:
            fix = "give it a value in `context:`, or with --set"
            raise StepFailure(f"{what} (strict variables)", hopeless=True, fix=fix)
        self.remark(f"{what}; it renders empty")

    def _item_name(self, names: Iterable[KeyPath]) -> str:
        """Tell what the item of the loop is called, where `item` was written for it."""
        over = self.step.loop.over if self.step.loop else None
        called = isinstance(over, Foreach) and any(path[0] == ITEM for path in names)
        return f" (the loop says `as: {over.name}`)" if isinstance(over, Foreach) and called else ""

    def _later(self, names: Iterable[KeyPath]) -> str:
        """Tell which step sets the names, where that is a later one."""
        found = ((path[0], set_later(self.frame.recipe, self.step.id, path[0])) for path in names)
        told = [f"step '{step}' sets {name} later" for name, step in found if step]
        return f" ({', '.join(dict.fromkeys(told))})" if told else ""

    def _meant(self, names: Iterable[KeyPath]) -> str:
        """Tell which variables were probably meant, where the names look like slips of the keyboard."""
        known = frozenset(self.frame.scope.values)
        found = list(filter(None, (_near_name(path[0], known) for path in names)))
        return f" (did you mean {', '.join(dict.fromkeys(found))}?)" if found else ""


@lru_cache(maxsize=64)  # every round of a loop asks the same
def _near_name(name: str, known: frozenset[str]) -> str | None:
    from amplihack.recipes.check.spelling import Spelling  # deferred: most names have a value

    return None if name in known else Spelling(known).meant(name)


def undefined(names: Iterable[KeyPath], where: str) -> str:
    """Return a message that names the variables without a value."""
    return f"undefined in {where}: {', '.join(sorted({show_path(path) for path in names}))}"


def cut_off(lost: int, what: str = "the output") -> str:
    """Return a message that tells how much of an output was lost."""
    size = "1 byte" if lost == 1 else f"{lost:,} bytes"
    return f"{what} was larger than a step can keep and was cut: {size} lost"


def no_text(broken: int) -> str:
    """Return a message that tells where an output is not what was printed, since a value is a text."""
    places = "1 place" if broken == 1 else f"{broken:,} places"
    fix = "print such data to a file"
    if sys.getfilesystemencoding() != "utf-8":  # a script, too, is written in it
        fix = "use a UTF-8 locale, as in LC_ALL=C.UTF-8"
    return f"the output is no UTF-8 in {places}; � stands there (fix: {fix})"


def degraded_inside(results: Iterable[StepResult]) -> str:
    """Return why a step that holds others is degraded: some of them are. Empty if none is."""
    names = [result.step_id for result in results if result.status == "degraded"]
    return f"degraded inside: {some(names, MOST_NAMES)}" if names else ""


def completed(job: Job, executed: int, done: Done, duration: float) -> StepResult:
    """Return the result of a step that did its work and counts as so many."""
    if done.skipped:
        return replace(job.begun(executed), skip_reason=done.skipped, duration=duration)
    return StepResult(  # not a changed copy of the one to start from: every step comes here
        step_id=job.name,
        identity=job.identity,
        kind=job.step.kind,
        status="degraded" if done.degraded else "completed",
        output=done.text,
        duration=duration,
        stderr=done.stderr,
        exit_code=done.exit_code,
        attempts=done.attempts,
        skip_reason=done.idle,
        usage=done.usage,
        cost_usd=done.cost_usd,
        executed=executed,
    )


def failed(
    blank: StepResult, failure: StepFailure, what: str, *, allowed: bool, duration: float
) -> StepResult:
    if failure.waits:
        return replace(blank, status="waiting", duration=duration)
    return replace(
        blank,
        status="failed",
        duration=duration,
        error=f"{what}\n  fix: {failure.fix}" if failure.fix else what,
        output=failure.output,
        stderr=failure.stderr,
        exit_code=failure.status_code,
        attempts=failure.attempts,
        usage=failure.spent.usage,
        cost_usd=failure.spent.cost_usd,
        allowed=allowed,
    )
