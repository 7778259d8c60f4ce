"""Report calls of recipes that cannot succeed, whoever calls them and with whatever values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from amplihack.errors import Problem
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.commands import refused_values
from amplihack.recipes.check.neighbours import key
from amplihack.recipes.check.sites import failing_conditions
from amplihack.recipes.check.sub_recipes import empty_inputs, missing_in_isolation, unknown_recipes
from amplihack.recipes.check.subject import CheckedRecipe
from amplihack.recipes.check.syntax import syntax_faults
from amplihack.recipes.extends import Located
from amplihack.recipes.model import SubRecipe
from amplihack.records import Record

_STAGES: Final[tuple[Callable[[CheckedRecipe], Iterator[Problem]], ...]] = (
    unknown_recipes,
    missing_in_isolation,
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
    search = _Search(subject)
    for call, called in _certain_calls(subject):
        problem = search.first_error(called)
        if problem:
            what = f"the recipe '{call.recipe.text.strip()}' can only fail: {problem.placed}"
            yield finding("failing-recipe", "error", what, call.recipe.where, problem.fix)


def _certain_calls(subject: CheckedRecipe) -> Iterator[tuple[SubRecipe, Located]]:
    for step in subject.steps:
        call = step.action
        if isinstance(call, SubRecipe) and subject.blame(step) == "error":
            found = subject.neighbours.resolve(call, subject.located.path)
            if isinstance(found, Located):
                yield call, found


class _Search:
    """Looks for errors below one recipe, at each recipe once."""

    def __init__(self, caller: CheckedRecipe) -> None:
        self._caller = caller
        self._known: dict[str, _Called] = {}
        self._answers: dict[str, Problem | None] = {}
        self._sound = {key(caller.located)}  # nothing was found there nor below; a circle is told elsewhere

    def first_error(self, called: Located) -> Problem | None:
        """Return an error of a called recipe or of those that it has to call."""
        name = key(called)
        if name not in self._answers:
            self._answers[name] = self._walk(called)
        return self._answers[name]

    def _walk(self, called: Located) -> Problem | None:
        """Go down the calls, which may lead deeper than Python's stack."""
        waiting, seen = [called], set[str]()
        while waiting:
            located = waiting.pop()
            if key(located) in seen or key(located) in self._sound:
                continue
            seen.add(key(located))
            look = self._look_at(located)
            if look.error:
                return look.error
            waiting.extend(reversed(look.calls))
        self._sound |= seen
        return None

    def _look_at(self, located: Located) -> _Called:
        name = key(located)
        if name not in self._known:
            self._known[name] = _look(self._caller.neighbour(located))
        return self._known[name]


def _look(subject: CheckedRecipe) -> _Called:
    own = (problem for stage in _STAGES for problem in stage(subject))
    errors = (each for each in own if each.severity == "error" and each.code not in _BY_VALUES)
    error = next(errors, None)
    return _Called(error, () if error else tuple(located for _, located in _certain_calls(subject)))
