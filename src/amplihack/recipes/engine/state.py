"""What a run carries along: its options, its variables, its limits, and where in the recipe it is."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from amplihack.errors import AmplihackError
from amplihack.recipes.agents import Usage
from amplihack.recipes.conditions import AMPLIFIER, AMPLIHACK, Rules
from amplihack.recipes.engine.pace import Pace
from amplihack.recipes.events import Event, Warned
from amplihack.recipes.model import Limits, Recipe
from amplihack.recipes.ports import World
from amplihack.recipes.results import Ending, StepResult
from amplihack.recipes.templates import show_path
from amplihack.recipes.values import MISSING, Missing, Path, Value

Sequel: TypeAlias = Literal["next", "leave", "stop"]  # what a finished step means for those after it


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
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


class StepFailure(AmplihackError):  # noqa: N818 - reads as what happened
    """A step that did not do what it promised, and what is known about that."""

    def __init__(
        self,
        what: str,
        *,
        output: str = "",
        stderr: str = "",
        exit_code: int | None = None,
        transient: bool = False,
        hopeless: bool = False,
        children: tuple[StepResult, ...] = (),
    ) -> None:
        super().__init__(what)
        self.output, self.stderr, self.status_code = output, stderr, exit_code
        self.transient = transient
        self.hopeless = hopeless  # no use in trying again: the command does not exist
        self.children = children
        self.attempts = 1
        self.writes: Mapping[str, Value] = {}  # what is stored though the step failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What an action achieved."""

    text: str
    value: Value | Missing = MISSING  # when it is not simply what the text says
    stderr: str = ""
    exit_code: int | None = None
    degraded: str = ""  # why it is not all that was asked for; empty if it is
    writes: Mapping[str, Value] = field(default_factory=dict)
    children: tuple[StepResult, ...] = ()
    usage: Usage | None = None
    cost_usd: float | None = None
    attempts: int = 1


class Scope:
    """The variables that a sequence of steps sees, and the names that it wrote itself."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self.values: dict[str, Value] = dict(values)
        self.written: dict[str, None] = {}

    def write(self, values: Mapping[str, Value]) -> None:
        self.values.update(values)
        self.written.update(dict.fromkeys(values))

    def fork(self) -> Scope:
        """A private copy for a step that runs beside others."""
        return Scope(self.values)

    def changes(self) -> dict[str, Value]:
        return {name: self.values[name] for name in self.written if name in self.values}


@dataclass(slots=True)
class Budget:
    """Counts executed steps against a limit, and against the limits of every recipe further out."""

    limit: int
    outer: Budget | None = None
    used: int = 0

    def exhausted(self) -> int | None:
        """The limit that leaves no room for another step, if any does."""
        if self.used >= self.limit:
            return self.limit
        return self.outer.exhausted() if self.outer else None

    def take(self) -> None:
        self.used += 1
        if self.outer:
            self.outer.take()


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Where the run is: which recipe, how deep, under which identity, with which variables."""

    recipe: Recipe
    path: str | None
    depth: int
    max_depth: int
    budget: Budget
    scope: Scope
    prefix: str = ""
    facts: Mapping[str, Value] = field(default_factory=dict)  # built-in names: recipe, session, step, stage
    ledger: dict[str, Value] = field(default_factory=dict)  # steps.<id>.status and the like

    @property
    def rules(self) -> Rules:
        return AMPLIFIER if self.recipe.dialect == "amplifier" else AMPLIHACK

    def identity(self, step_id: str) -> str:
        return f"{self.prefix}{step_id}"

    def view(self, **extra: Value) -> Mapping[str, Value]:
        """Every name that a template or a condition can see; variables win over built-in names."""
        values = self.scope.values
        builtin: dict[str, Value] = {
            **self.facts,
            "steps": self.ledger,
            "inputs": values,
            "parameters": values,
        }
        return ChainMap(extra, values, builtin)

    def with_facts(self, **facts: Value) -> Frame:
        return replace(self, facts={**self.facts, **facts})

    def inside(self, prefix: str, scope: Scope | None = None) -> Frame:
        return replace(self, prefix=prefix, scope=scope or self.scope)

    def enter(self, recipe: Recipe, path: str | None, scope: Scope, identity: str, limits: Limits) -> Frame:
        """The frame of a sub-recipe; its limits can only be tighter than those around it."""
        depths = [self.max_depth]
        depths += [self.depth + 1 + each for each in (recipe.limits.max_depth,) if each is not None]
        depths += [self.depth + each for each in (limits.max_depth,) if each is not None]
        return Frame(
            recipe=recipe,
            path=path,
            depth=self.depth + 1,
            max_depth=min(depths),
            budget=_tighter(self.budget, (limits.max_total_steps, recipe.limits.max_total_steps)),
            scope=scope,
            prefix=f"{identity}/",
            facts={**self.facts, **recipe_facts(recipe)},
        )


def _tighter(budget: Budget, limits: Iterable[int | None]) -> Budget:
    known = [limit for limit in limits if limit is not None]
    return Budget(min(known), budget) if known else budget


def recipe_facts(recipe: Recipe) -> dict[str, Value]:
    return {
        "recipe": {"name": recipe.name, "version": recipe.version, "description": recipe.description},
        "_approval_message": "",
    }


@dataclass(slots=True)
class Run:
    """One run: the world, the options, and what concerns the run as a whole."""

    world: World
    options: Options
    pace: Pace
    ending: Ending | None = None  # set when a gate ends the run, wherever in the tree it stands
    ending_reason: str = ""
    warnings: list[str] = field(default_factory=list)
    top_results: list[StepResult] = field(default_factory=list)  # of the outermost recipe, so far

    def record(self, event: Event) -> None:
        self.world.journal.record(event)

    def warn(self, identity: str, what: str) -> None:
        self.warnings.append(f"{identity}: {what}" if identity else what)
        self.record(Warned(identity, what))


def missing_names(run: Run, identity: str, missing: tuple[Path, ...], where: str) -> tuple[str, ...]:
    """Warns about names that lead nowhere; under strict_vars they fail the step."""
    if not missing:
        return ()
    names = ", ".join(sorted({show_path(path) for path in missing}))
    what = f"undefined in {where}: {names}"
    if run.options.strict_vars:
        raise StepFailure(f"{what} (strict variables)")
    run.warn(identity, f"{what}; it renders empty")
    return (what,)
