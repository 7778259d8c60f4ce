"""Calls of recipes that cannot succeed, whoever calls them and with whatever values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from amplihack.errors import Problem
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.commands import refused_values
from amplihack.recipes.check.neighbours import key
from amplihack.recipes.check.sites import failing_conditions
from amplihack.recipes.check.sub_recipes import empty_inputs, missing_inputs, unknown_recipes
from amplihack.recipes.check.subject import CheckedRecipe, study
from amplihack.recipes.check.syntax import syntax_faults
from amplihack.recipes.extends import Located
from amplihack.recipes.model import SubRecipe, every_step
from amplihack.records import Record

_STAGES: Final[tuple[Callable[[CheckedRecipe], Iterator[Problem]], ...]] = (
    unknown_recipes,
    missing_inputs,
    empty_inputs,
    failing_conditions,
    refused_values,
    syntax_faults,
)
_BY_VALUES = ("bash-arithmetic",)  # what a caller can change by giving another value


class _Called(Record):
    """A recipe that has to be called: its first error, and what it has to call itself."""

    error: Problem | None
    calls: tuple[Located, ...]


def failing_recipes(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find calls that every run has to make and whose recipes can only fail."""
    known: dict[str, _Called] = {}
    for call, called in _certain_calls(subject):
        problem = _first_error(called, subject, known)
        if problem:
            place = f"{problem.where}: " if problem.where else ""
            what = f"the recipe '{call.recipe.text.strip()}' can only fail: {place}{problem.what}"
            yield finding("failing-recipe", "error", what, call.recipe.where, problem.fix)


def _certain_calls(subject: CheckedRecipe) -> Iterator[tuple[SubRecipe, Located]]:
    for step in every_step(subject.recipe.steps):
        call = step.action
        if isinstance(call, SubRecipe) and subject.blame(step) == "error":
            found = subject.neighbours.resolve(call, subject.located.path)
            if isinstance(found, Located):
                yield call, found


def _first_error(called: Located, caller: CheckedRecipe, known: dict[str, _Called]) -> Problem | None:
    """Return an error of a called recipe or of those that it has to call; each is looked at once.

    The chain of calls may be longer than Python's stack is deep, and a circle is told by another stage.
    """
    waiting, seen = [called], {key(caller.located)}
    while waiting:
        located = waiting.pop()
        name = key(located)
        if name in seen:
            continue
        seen.add(name)
        if name not in known:
            known[name] = _look(study(located, caller.world, bash=caller.bash))
        if known[name].error:
            return known[name].error
        waiting.extend(reversed(known[name].calls))
    return None


def _look(subject: CheckedRecipe) -> _Called:
    own = (problem for stage in _STAGES for problem in stage(subject))
    errors = (each for each in own if each.severity == "error" and each.code not in _BY_VALUES)
    error = next(errors, None)
    return _Called(error, () if error else tuple(located for _, located in _certain_calls(subject)))
