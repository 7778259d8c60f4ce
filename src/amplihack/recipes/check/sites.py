"""List the conditions of a recipe, each with what it decides about, and report those that can only fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from amplihack.errors import ConditionError, Problem, Severity
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.subject import CheckedRecipe
from amplihack.recipes.conditions import Rules, known
from amplihack.recipes.model import Step, Test, While, every_step
from amplihack.recipes.semantics import rules_of
from amplihack.records import Record, replace


class Site(Record):
    """A condition and what it decides about, in words such as "step 'build'"."""

    test: Test
    about: str
    blame: Callable[[], Severity]  # tells how bad it is if the condition can only fail
    repeats: bool = False  # the condition of a loop: that it always holds is then no mistake


def sites(subject: CheckedRecipe) -> Iterator[Site]:
    """Yield the conditions of stages, steps and loops."""
    for stage in subject.recipe.stages:
        if stage.condition:
            yield Site(stage.condition, f"stage '{stage.name}'", lambda: "error")
        for step in every_step(stage.steps):
            yield from _step_sites(step, subject)


def _step_sites(step: Step, subject: CheckedRecipe) -> Iterator[Site]:
    if step.condition:
        # the step is there to be run, as far as its condition is concerned
        yield Site(
            step.condition,
            f"step '{step.id}'",
            lambda: subject.blame(replace(step, condition=None, loop=None)),
        )
    if step.loop and isinstance(step.loop.over, While):
        yield Site(
            step.loop.over.condition,
            f"the loop of step '{step.id}'",
            lambda: subject.blame(replace(step, loop=None)),
            repeats=True,
        )


def failing_conditions(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find conditions that have no value, whatever the variables hold."""
    rules = rules_of(subject.recipe)
    for site in sites(subject):
        if not site.test.references and (problem := failing(site, rules)):
            yield problem


def failing(site: Site, rules: Rules) -> Problem | None:
    """Return the finding for a condition that can only fail."""
    try:
        known(site.test.condition.tree, rules)
    except ConditionError as error:
        what = f"the condition can only fail: {error.what}"
        fix = "correct the value that it is about, or remove the condition"
        return finding("condition-fails", site.blame(), what, site.test.source.where, fix)
    return None
