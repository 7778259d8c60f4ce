"""Recipes that reach themselves, or reach too deep, with no condition in between."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.errors import Problem
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.library import Library, key
from amplihack.recipes.check.results import may_be_empty
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Body, Recipe, Step, SubRecipe

_ENDLESS = 1_000_000
_DEEPEST = 100
_DEFAULT_DEPTH = {"amplihack": 6, "amplifier": 5}


def bottomless_calls(located: Located, library: Library) -> Iterator[Problem]:
    depths: dict[str, int] = {}
    limit = _limit(located.recipe)
    for step, call, target in _certain_calls(located, library):
        levels = 1 + _depth(target, library, depths, (key(located),))
        name = call.recipe.text.strip()
        own = call.limits.max_depth
        allowed = limit if own is None else min(limit, own)
        if levels >= _ENDLESS:
            what = f"step '{step.id}' calls '{name}', which leads back to itself, and no condition ends it"
            fix = "give one of the steps on the way a `condition:`"
            yield finding("endless-recursion", "error", what, call.recipe.where, fix)
        elif levels > allowed:
            what = f"'{name}' leads {levels} recipes deep, and {allowed} are allowed"
            yield finding("too-deep", "warning", what, call.recipe.where, "raise `recursion.max_depth`")


def _limit(recipe: Recipe) -> int:
    """How many recipes may stand below this one; one dialect counts the top as well."""
    stated = recipe.limits.max_depth
    limit = _DEFAULT_DEPTH[recipe.dialect] if stated is None else stated
    return limit - 1 if recipe.dialect == "amplifier" else limit


def _depth(located: Located, library: Library, depths: dict[str, int], above: tuple[str, ...]) -> int:
    """How many levels of recipes certainly follow below this one."""
    name = key(located)
    if name in above:
        return _ENDLESS
    if len(above) > _DEEPEST:
        return 0
    if name not in depths:
        path = (*above, name)
        calls = _certain_calls(located, library)
        depths[name] = max((1 + _depth(below, library, depths, path) for _, _, below in calls), default=0)
    return min(depths[name], _ENDLESS)


def _certain_calls(located: Located, library: Library) -> Iterator[tuple[Step, SubRecipe, Located]]:
    for stage in located.recipe.stages:
        if stage.condition is None:
            for step, call in _certain(stage.steps):
                found = library.resolve(call, located.path)
                if isinstance(found, Located):
                    yield step, call, found


def _certain(steps: tuple[Step, ...]) -> Iterator[tuple[Step, SubRecipe]]:
    """The calls among these steps that nothing can skip."""
    for step in steps:
        if step.condition or step.when_tags or may_be_empty(step):
            continue
        if isinstance(step.action, SubRecipe):
            yield step, step.action
        elif isinstance(step.action, Body):
            yield from _certain(step.action.steps)
