"""Hold the position of a run: the recipe, the depth, the variables and the steps left to spend."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

from amplihack.recipes.events import identity_in
from amplihack.recipes.model import Limits, Recipe
from amplihack.recipes.semantics import (
    APPROVAL_MESSAGE,
    LOOP,
    levels_inside,
    rules_of,
    tighter_step_limit,
)
from amplihack.recipes.tracked_variables import TrackedValues
from amplihack.recipes.values import Value
from amplihack.records import Record, field, replace

if TYPE_CHECKING:
    from amplihack.recipes.conditions import Rules

_T = TypeVar("_T")


class Writes(Record):
    """What was written to a scope while it was watched."""

    values: dict[str, Value] = field(default_factory=dict)
    ledger: dict[str, Value] = field(default_factory=dict)


class _Watching:
    """A block in which writes are collected. No generator: every round of a loop is such a block."""

    __slots__ = ("_all", "_own")

    def __init__(self, watches: list[Writes]) -> None:
        self._all, self._own = watches, Writes({}, {})

    def __enter__(self) -> Writes:
        self._all.append(self._own)
        return self._own

    def __exit__(self, *_: object) -> None:
        # By identity: two watches with equal content must not remove each other.
        self._all[:] = [each for each in self._all if each is not self._own]


class Scope:
    """The variables that a sequence of steps sees, and the names that it wrote itself.

    `ledger` holds facts about finished steps, such as `steps.<id>.status`.
    """

    def __init__(self, values: Mapping[str, Value], ledger: Mapping[str, Value] | None = None) -> None:
        self.values = TrackedValues(values)
        self.ledger: dict[str, Value] = dict(ledger or {})
        self.written: dict[str, None] = {}
        self._watches: list[Writes] = []

    def write(self, values: Mapping[str, Value], ledger: Mapping[str, Value] | None = None) -> None:
        self.values.update(values)
        self.written.update(dict.fromkeys(values))
        self.ledger.update(ledger or {})
        for watch in self._watches:
            watch.values.update(values)
            watch.ledger.update(ledger or {})

    def watching(self) -> _Watching:
        """Collect everything that is written to this scope until the block ends."""
        return _Watching(self._watches)

    @contextmanager
    def lending(self, names: Iterable[str]) -> Iterator[None]:
        """Let a loop have names for itself; at the end they are what they were, as if nothing was written."""
        taken = set(names)
        values, written = _only(self.values, taken), _only(self.written, taken)
        seen = [(watch, _only(watch.values, taken)) for watch in self._watches]
        try:
            yield
        finally:
            _put_back(self.values, taken, values)
            _put_back(self.written, taken, written)
            for watch, before in seen:
                _put_back(watch.values, taken, before)

    def fork(self) -> Scope:
        """Return a private copy for a step that runs beside others."""
        return Scope(self.values, self.ledger)

    def changes(self) -> dict[str, Value]:
        return {name: self.values[name] for name in self.written if name in self.values}


def _only(found: Mapping[str, _T], names: set[str]) -> dict[str, _T]:
    return {name: found[name] for name in names if name in found}


def _put_back(found: dict[str, _T], names: set[str], before: Mapping[str, _T]) -> None:
    for name in names:
        found.pop(name, None)
    found.update(before)


class _View(ChainMap[str, Value]):
    """Names in several maps. Looking one up, which every placeholder does, searches each map once."""

    def get(self, key: str, default: _T = None) -> Value | _T:  # type: ignore[assignment]  # as `dict`
        for each in self.maps:
            if key in each:
                return each[key]
        return default


class Deadline(Protocol):
    """The end of the time of a step, as `asyncio.timeout` keeps it."""

    def expired(self) -> bool: ...


class Budget(Record, frozen=False):
    """Counts executed steps against the limit of this recipe and of all recipes around it."""

    limit: int
    outer: Budget | None = None
    used: int = 0

    def exhausted(self) -> int | None:
        """Return the limit that leaves no room for another step, or None."""
        budget: Budget | None = self
        while budget is not None:
            if budget.used >= budget.limit:
                return budget.limit
            budget = budget.outer
        return None

    def take(self) -> int | None:
        """Count one more step, or return the limit that leaves no room for it."""
        limit = self.exhausted()
        budget: Budget | None = self if limit is None else None
        while budget is not None:
            budget.used += 1
            budget = budget.outer
        return limit


class Frame(Record, kw_only=True):
    """The context of a sequence of steps: its recipe, depth, limits, name prefix and variables."""

    recipe: Recipe
    path: str | None
    depth: int
    max_depth: int
    budget: Budget
    scope: Scope
    default_timeout: float | None = None
    prefix: str = ""
    facts: Mapping[str, Value] = field(default_factory=dict)  # built-in names: recipe, session, step …
    deadlines: tuple[Deadline, ...] = ()  # of the steps around these
    closing: bool = False  # the run has failed: only what always runs is still done
    before: int = 0  # steps of the recipe that come before these
    of: int | None = None  # steps of the whole recipe, if these are not all
    beside: bool = False  # whether other steps may run at the same time

    @property
    def rules(self) -> Rules:
        return rules_of(self.recipe)

    @property
    def levels(self) -> int:
        """Return how many levels of sub-recipes may still follow below this frame."""
        return self.max_depth - self.depth

    @property
    def timed_out(self) -> bool:
        """Tell whether the time of a step around these is up."""
        return any(deadline.expired() for deadline in self.deadlines)

    def close(self) -> Frame:
        """Return the frame of steps that run though one before them has failed, without its time limits."""
        return replace(self, closing=True, deadlines=())

    def until(self, deadline: Deadline) -> Frame:
        return replace(self, deadlines=(*self.deadlines, deadline))

    def identity(self, name: str) -> str:
        """Return the unique name of a step of this frame in the whole run."""
        return identity_in(self.prefix, name)

    def view(self, **extra: Value) -> Mapping[str, Value]:
        """Return every name that a template or condition can see; variables hide built-in names."""
        values = self.scope.values
        builtin: dict[str, Value] = {
            **self.facts,
            "steps": self.scope.ledger,
            "inputs": values,
            "parameters": values,
        }
        # A chain instead of a copy: the view follows later writes, and copying all variables would be slow.
        return _View(extra, values, builtin)

    def with_facts(self, **facts: Value) -> Frame:
        return self._with(self.prefix, {**self.facts, **facts}, self.before, self.of)

    def inside(self, prefix: str) -> Frame:
        """Return a frame with the same variables for steps inside one step, numbered from 1."""
        return self._with(prefix, self.facts, 0, None)

    def _with(self, prefix: str, facts: Mapping[str, Value], before: int, of: int | None) -> Frame:
        return Frame(  # not `replace`, which takes longer: every step and every round comes here
            recipe=self.recipe,
            path=self.path,
            depth=self.depth,
            max_depth=self.max_depth,
            budget=self.budget,
            scope=self.scope,
            default_timeout=self.default_timeout,
            prefix=prefix,
            facts=facts,
            deadlines=self.deadlines,
            closing=self.closing,
            before=before,
            of=of,
            beside=self.beside,
        )

    def after(self, before: int, of: int) -> Frame:
        """Return the frame of steps that follow an earlier stage of the same recipe."""
        return replace(self, before=before, of=of)

    def fork(self) -> Frame:
        """Return a frame with copied variables, for a step that runs in parallel with others."""
        return replace(self, scope=self.scope.fork(), beside=True)

    def enter(self, recipe: Recipe, path: str | None, scope: Scope, identity: str, limits: Limits) -> Frame:
        """Return the frame of a sub-recipe. Its limits can only be tighter than those around it."""
        depth, total = self.depth + 1, tighter_step_limit(limits, recipe)
        return Frame(
            recipe=recipe,
            path=path,
            depth=depth,
            max_depth=depth + levels_inside(self.levels, limits, recipe),
            budget=self.budget if total is None else Budget(total, self.budget),
            scope=scope,
            default_timeout=recipe.default_step_timeout or self.default_timeout,
            deadlines=self.deadlines,
            closing=self.closing,
            prefix=f"{identity}/",
            # A recipe means the same wherever it is called, so it does not see the loop of its caller.
            facts={**_without(self.facts, LOOP), **recipe_facts(recipe)},
            beside=self.beside,
        )


def _without(facts: Mapping[str, Value], name: str) -> dict[str, Value]:
    return {each: value for each, value in facts.items() if each != name}


def recipe_facts(recipe: Recipe) -> dict[str, Value]:
    return {
        "recipe": {"name": recipe.name, "version": recipe.version, "description": recipe.description},
        APPROVAL_MESSAGE: "",
    }
