"""Report recipes that reach themselves, reach too deep, or need more steps than they may run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from amplihack.errors import Problem
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.neighbours import Neighbours, key
from amplihack.recipes.check.subject import CheckedRecipe
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Body, Step, SubRecipe
from amplihack.recipes.semantics import (
    can_be_skipped,
    counts_as_step,
    depth_limit,
    least_rounds,
    levels_for_call,
    levels_inside,
    may_have_no_round,
    step_limit,
    tighter_step_limit,
    unavoidable,
)

_ENDLESS = 1_000_000
_DEEPEST = 100  # levels that are followed; no recipe is meant to go further
_DEPTH_FIX = "raise `recursion.max_depth`"
_STEPS_FIX = "raise `recursion.max_total_steps`"


def bottomless_calls(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find calls that certainly lead back to themselves, or deeper than the limit allows."""
    certain, forced = _Calls(subject.neighbours, forced=False), _Calls(subject.neighbours, forced=True)
    limit = depth_limit(subject.recipe)
    for step, call, target in certain.of(subject.located):
        levels = 1 + certain.depth(target, (key(subject.located),))
        name, allowed = call.recipe.text.strip(), levels_for_call(limit, call.limits)
        if levels >= _ENDLESS:
            error = (
                subject.blame(step) == "error" and forced.depth(target, (key(subject.located),)) >= _ENDLESS
            )
            what = f"step '{step.id}' calls '{name}', which leads back to itself, and no condition ends it"
            fix = "give one of the steps on the way a `condition:`"
            yield finding("endless-recursion", "error" if error else "warning", what, call.recipe.where, fix)
        elif levels > allowed:
            what = f"'{name}' leads {levels} {_recipes(levels)} deep, and {allowed or 'none'} are allowed"
            surely = 1 + forced.depth(target, (key(subject.located),))
            blame = subject.blame(step) if surely > allowed else "warning"
            yield finding("too-deep", blame, what, call.recipe.where, _DEPTH_FIX)
        elif certain.too_tight(target, levels_inside(limit, call.limits, target.recipe)):
            what = f"'{name}' leads deeper than a limit further down allows"
            tight = forced.too_tight(target, levels_inside(limit, call.limits, target.recipe))
            blame = subject.blame(step) if tight else "warning"
            yield finding("too-deep", blame, what, call.recipe.where, _DEPTH_FIX)


def _recipes(count: int) -> str:
    return "recipe" if count == 1 else "recipes"


class _Calls:
    """The calls that nothing can skip; `forced` ones may not fail either."""

    def __init__(self, neighbours: Neighbours, *, forced: bool) -> None:
        self._neighbours, self._forced = neighbours, forced
        self._depths: dict[str, int] = {}
        self._tight: dict[tuple[str, int], bool] = {}

    def of(self, located: Located) -> Iterator[tuple[Step, SubRecipe, Located]]:
        for stage in located.recipe.stages:
            if stage.condition is None:
                for step, call in self._among(stage.steps):
                    found = self._neighbours.resolve(call, located.path)
                    if isinstance(found, Located):
                        yield step, call, found

    def _among(self, steps: Sequence[Step]) -> Iterator[tuple[Step, SubRecipe]]:
        for step in steps:
            skippable = can_be_skipped(step) or may_have_no_round(step.loop)
            if skippable or (self._forced and not unavoidable(step)):
                continue
            if isinstance(step.action, SubRecipe):
                yield step, step.action
            elif isinstance(step.action, Body):
                yield from self._among(step.action.steps)

    def depth(self, located: Located, above: tuple[str, ...]) -> int:
        """Return how many levels of recipes follow below this one."""
        name = key(located)
        if name in above:
            return _ENDLESS
        if len(above) > _DEEPEST:
            return 0
        if name not in self._depths:
            path = (*above, name)
            depths = (1 + self.depth(below, path) for _, _, below in self.of(located))
            self._depths[name] = max(depths, default=0)
        return min(self._depths[name], _ENDLESS)

    def too_tight(self, located: Located, levels: int, followed: int = 0) -> bool:
        """Tell whether a limit on the way down is passed; there are no circles here."""
        asked = (key(located), levels)
        if asked not in self._tight and followed < _DEEPEST:
            self._tight[asked] = any(
                levels_for_call(levels, call.limits) <= 0
                or self.too_tight(below, levels_inside(levels, call.limits, below.recipe), followed + 1)
                for _, call, below in self.of(located)
            )
        return self._tight.get(asked, False)


# Steps in all -----------------------------------------------------------------------------------------


def too_many_steps(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find recipes that need more steps than `max_total_steps` allows, even if all goes well."""
    counter = _Counter(subject.neighbours)
    limit, total = step_limit(subject.recipe), 0
    for stage in subject.recipe.stages:
        for step in stage.steps if stage.condition is None else ():
            yield from _tight_calls(step, subject, counter)
            before, total = total, total + counter.least((step,), subject.located, ())
            if before <= limit < total:
                what = (
                    f"step '{step.id}' is where the run ends: it makes {total} steps, and {limit} are allowed"
                )
                yield finding("too-many-steps", "error", what, step.where, _STEPS_FIX)
            if step.on_error == "skip_remaining":
                break


def _tight_calls(step: Step, subject: CheckedRecipe, counter: _Counter) -> Iterator[Problem]:
    """Find a call whose own limit is smaller than the steps of the sub-recipe."""
    call = step.action
    found = subject.neighbours.resolve(call, subject.located.path) if isinstance(call, SubRecipe) else None
    if not isinstance(call, SubRecipe) or not isinstance(found, Located):
        return
    limit = tighter_step_limit(call.limits, found.recipe)
    least = counter.recipe(found, (key(subject.located),))
    if limit is not None and least > limit:
        what = f"'{call.recipe.text.strip()}' makes {least} steps, and {limit} are allowed there"
        yield finding("too-many-steps", subject.blame(step), what, call.recipe.where, _STEPS_FIX)


class _Counter:
    """Counts the steps that every successful run executes."""

    def __init__(self, neighbours: Neighbours) -> None:
        self._neighbours = neighbours
        self._recipes: dict[str, int] = {}

    def least(self, steps: Sequence[Step], located: Located, above: tuple[str, ...]) -> int:
        total = 0
        for step in steps:
            if unavoidable(step):
                total += least_rounds(step.loop) * self._once(step, located, above)
            if step.on_error == "skip_remaining":
                break
        return total

    def _once(self, step: Step, located: Located, above: tuple[str, ...]) -> int:
        match step.action:
            case Body(steps):
                return self.least(steps, located, above)
            case SubRecipe() as call:
                found = self._neighbours.resolve(call, located.path)
                return self.recipe(found, (*above, key(located))) if isinstance(found, Located) else 0
            case _:
                return int(counts_as_step(step))

    def recipe(self, located: Located, above: tuple[str, ...]) -> int:
        name = key(located)
        if name in above or len(above) > _DEEPEST:
            return 0  # a circle is told by itself
        if name not in self._recipes:
            stages = (stage for stage in located.recipe.stages if stage.condition is None)
            self._recipes[name] = sum(self.least(stage.steps, located, above) for stage in stages)
        return self._recipes[name]
