"""Read the recipes around the one that is checked, those it calls and those that call it, each once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Literal, Protocol

from amplihack.errors import Problem
from amplihack.recipes.check.availability import Callee, Flow, Later, Unknown
from amplihack.recipes.check.flow import follow
from amplihack.recipes.extends import Located
from amplihack.recipes.inputs import declared_names, insisted_names, required_names
from amplihack.recipes.model import Recipe, SubRecipe, every_step
from amplihack.recipes.placeholders import find_placeholders
from amplihack.recipes.semantics import BUILT_IN, every_loop_name, writes
from amplihack.records import Record, field

_DEEPEST = 100  # levels of calls whose names are handed up; no recipe is meant to go further
_MOST_CALLERS = 200


class Unresolved(Record):
    """A sub-recipe that was looked for in vain, cannot be read, or that nobody can tell before the run."""

    why: Literal["missing", "unreadable", "unknowable"]
    searched: tuple[str, ...] = ()
    problem: Problem | None = None  # why it cannot be read or found


class Surroundings(Protocol):
    """What the check asks of the world. Every recipe that it gives has what it `extends` merged in."""

    def sub_recipe(self, reference: str, caller: str | None) -> Located | Unresolved:
        """Return the recipe that a step of the file `caller` means by `reference`."""
        ...

    def callers(self, path: str) -> tuple[Located, ...]:
        """Return the recipes nearby that call the one in this file."""
        ...

    def agents(self) -> frozenset[str]:
        """Return the agents known here; none at all means that none are installed."""
        ...


class Incoming(Record):
    """What the callers nearby give a recipe."""

    called: bool = False
    given: frozenset[str] = frozenset()  # on purpose, or from their own defaults
    made: frozenset[str] = frozenset()  # by steps of theirs, perhaps after the call
    open: bool = False
    by: Mapping[str, str] = field(default_factory=dict)  # for each name the first caller that sets it

    def setter(self, name: str) -> str | None:
        """Return the recipe that calls this one, itself or through others, and sets the variable."""
        return self.by.get(name)


def key(located: Located) -> str:
    """Return a name that is the same for two copies of the same recipe."""
    return located.path if located.path is not None else f"<{located.recipe.name}>"


class Neighbours:
    """Follows each recipe around the checked one at most once, and keeps what it learned."""

    def __init__(self, world: Surroundings) -> None:
        self._world = world
        self._resolved: dict[tuple[str, str | None], Located | Unresolved] = {}
        self._flows: dict[str, Flow] = {}
        self._levels: dict[str, int] = {}  # how many levels of calls a flow knows about
        self._callees: dict[str, Callee] = {}
        self._called_from: dict[str, tuple[Located, ...]] = {}

    def resolve(self, call: SubRecipe, caller: str | None) -> Located | Unresolved:
        """Return the recipe that a step calls; one whose name is a template is unknowable."""
        reference = call.recipe.text.strip()
        if not reference or find_placeholders(reference):
            return Unresolved("unknowable")
        asked = (reference, caller)
        if asked not in self._resolved:
            self._resolved[asked] = self._world.sub_recipe(reference, caller)
        return self._resolved[asked]

    def flow(self, located: Located) -> Flow:
        """Return what following the data through a recipe tells."""
        for each in self._callees_first(located):
            below = (self._levels.get(key(called), 0) for called in self._called_by(each))
            self._levels[key(each)] = 1 + max((levels for levels in below if levels < _DEEPEST), default=0)
            self._flows[key(each)] = follow(each.recipe, partial(self.look, each.path))
        return self._flows[key(located)]

    def _callees_first(self, located: Located) -> Iterator[Located]:
        """Return a recipe and those below it that were not followed yet, each after those that it calls.

        A chain of calls may be longer than Python's stack is deep. In a circle, one comes before its callee.
        """
        if key(located) in self._flows:
            return
        entered, path = {key(located)}, [(located, self._called_by(located))]
        while path:
            current, calls = path[-1]
            unseen = (each for each in calls if key(each) not in entered and key(each) not in self._flows)
            below = next(unseen, None)
            if below is None:
                path.pop()
                yield current
            else:
                entered.add(key(below))
                path.append((below, self._called_by(below)))

    def _called_by(self, located: Located) -> Iterator[Located]:
        for step in every_step(located.recipe.steps):
            if isinstance(step.action, SubRecipe):
                found = self.resolve(step.action, located.path)
                if isinstance(found, Located):
                    yield found

    def callee(self, located: Located) -> Callee:
        """Return what a caller sees of a recipe."""
        name = key(located)
        if name not in self._callees:
            self._callees[name] = _from_outside(located.recipe, self.flow(located))
        return self._callees[name]

    def look(self, caller: str | None, call: SubRecipe) -> Callee | None:
        """Return what the caller sees of the recipe that it calls; None where nobody can tell."""
        found = self.resolve(call, caller)
        if isinstance(found, Unresolved):
            return None
        if key(found) not in self._flows:  # the calls lead in a circle
            return _by_its_word(found.recipe)
        return self.callee(found) if self._levels[key(found)] < _DEEPEST else None

    # upwards

    def incoming(self, located: Located) -> Incoming:
        """Return everything that callers, and callers of callers, may hand down."""
        given: set[str] = set()
        made: set[str] = set()
        by: dict[str, str] = {}
        unknown = False
        waiting, seen = [located], {key(located)}
        while waiting and len(seen) < _MOST_CALLERS:
            target = waiting.pop()
            for caller in self._callers(target):
                inherits = self._handed_down(caller, target, given)
                if inherits and key(caller) not in seen:
                    seen.add(key(caller))
                    waiting.append(caller)
                    flow = self.flow(caller)
                    given |= declared_names(caller.recipe) | every_loop_name(caller.recipe)
                    made |= flow.made
                    unknown = unknown or flow.open
                for name in (given | made) - by.keys():
                    by[name] = caller.recipe.name
        called = bool(self._callers(located))
        return Incoming(called, frozenset(given), frozenset(made), unknown, by)

    def _callers(self, located: Located) -> tuple[Located, ...]:
        if located.path is None:
            return ()
        if located.path not in self._called_from:
            self._called_from[located.path] = self._world.callers(located.path)
        return self._called_from[located.path]

    def _handed_down(self, caller: Located, target: Located, given: set[str]) -> bool:
        """Add what the caller's steps pass to the target; tells whether they pass on all they have."""
        inherits = False
        for step in every_step(caller.recipe.steps):
            if isinstance(step.action, SubRecipe) and self._means(step.action, caller, target):
                given.update(step.action.context)
                inherits = inherits or step.action.mode == "inherit"
        return inherits

    def _means(self, call: SubRecipe, caller: Located, target: Located) -> bool:
        found = self.resolve(call, caller.path)
        return isinstance(found, Located) and key(found) == key(target)


def _by_its_word(recipe: Recipe) -> Callee:
    """Return what a recipe says of itself, where looking into it would lead back to it."""
    nothing: frozenset[str] = frozenset()
    made = frozenset(name for step in every_step(recipe.steps) for name in writes(step))
    return Callee(
        sure=nothing,
        made=made,
        needs=nothing,
        mentioned=nothing,
        in_scripts=nothing,
        required=required_names(recipe),
        insists=insisted_names(recipe),
        declared=declared_names(recipe),
        open=False,
    )


def _from_outside(recipe: Recipe, flow: Flow) -> Callee:
    return Callee(
        sure=flow.sure,
        made=flow.left,
        needs=frozenset(
            use.mention.name
            for use in flow.uses
            if isinstance(use.availability, Unknown | Later)
            and not use.mention.soft
            and use.mention.name not in BUILT_IN
        ),
        mentioned=flow.mentioned,
        in_scripts=flow.in_scripts,
        required=required_names(recipe),
        insists=insisted_names(recipe),
        declared=declared_names(recipe),
        open=flow.open,
    )
