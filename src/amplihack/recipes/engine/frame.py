"""Hold the position of a run: the recipe, the depth, the variables and the steps left to spend."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from amplihack.recipes.conditions import Rules
from amplihack.recipes.events import identity_in
from amplihack.recipes.model import Limits, Recipe
from amplihack.recipes.semantics import (
    APPROVAL_MESSAGE,
    LOOP,
    levels_inside,
    rules_of,
    tighter_step_limit,
)
from amplihack.recipes.tracked import TrackedValues
from amplihack.recipes.values import Value
from amplihack.records import Record, field, replace

_T = TypeVar("_T")


class Writes(Record):
    """What was written to a scope while it was watched."""

    values: dict[str, Value] = field(default_factory=dict)
    ledger: dict[str, Value] = field(default_factory=dict)


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

    @contextmanager
    def watching(self) -> Iterator[Writes]:
        """Collect everything that is written to this scope until the block ends."""
        watch = Writes()
        self._watches.append(watch)
        try:
            yield watch
        finally:
            # By identity: two watches with equal content must not remove each other.
            self._watches = [each for each in self._watches if each is not watch]

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

    def get(self, key: str, default: _T = None) -> Value | _T:  # type: ignore[assignment]
        for each in self.maps:
            if key in each:
                return each[key]
        return default


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
    before: int = 0  # steps of the recipe that come before these
    of: int | None = None  # steps of the whole recipe, if these are not all

    @property
    def rules(self) -> Rules:
        return rules_of(self.recipe)

    @property
    def levels(self) -> int:
        """Return how many levels of sub-recipes may still follow below this frame."""
        return self.max_depth - self.depth

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
        return replace(self, facts={**self.facts, **facts})

    def inside(self, prefix: str) -> Frame:
        """Return a frame with the same variables for steps inside one step, numbered from 1."""
        return replace(self, prefix=prefix, before=0, of=None)

    def after(self, before: int, of: int) -> Frame:
        """Return the frame of steps that follow an earlier stage of the same recipe."""
        return replace(self, before=before, of=of)

    def fork(self) -> Frame:
        """Return a frame with copied variables, for a step that runs in parallel with others."""
        return replace(self, scope=self.scope.fork())

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
            prefix=f"{identity}/",
            # A recipe means the same wherever it is called, so it does not see the loop of its caller.
            facts={**_without(self.facts, LOOP), **recipe_facts(recipe)},
        )


def _without(facts: Mapping[str, Value], name: str) -> dict[str, Value]:
    return {each: value for each, value in facts.items() if each != name}


def recipe_facts(recipe: Recipe) -> dict[str, Value]:
    return {
        "recipe": {"name": recipe.name, "version": recipe.version, "description": recipe.description},
        APPROVAL_MESSAGE: "",
    }
