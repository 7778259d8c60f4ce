"""Find what a recipe that is about to be run says in vain, at a cost that a run can pay.

These are warnings of the check. A recipe is asked only about what it has: each stage is imported where it can
find something.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from amplihack.errors import Problem
from amplihack.recipes.check.certain import Stage, place
from amplihack.recipes.check.subject import CheckedRecipe, study
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Agent, Bash, SubRecipe

if TYPE_CHECKING:
    from amplihack.recipes.check.neighbours import Surroundings

_OPERATORS: Final = (" + ", " - ", " * ", " / ", " % ")


def meaningless(located: Located, world: Surroundings) -> tuple[Problem, ...]:
    """Return what a recipe that is about to be run says without any effect."""
    subject = study(located, world, final=True)
    found = {problem for stage in _STAGES for problem in stage(subject) if problem.severity == "warning"}
    return tuple(sorted(found, key=place))


def _fields(subject: CheckedRecipe) -> Iterator[Problem]:
    recipe, steps = subject.recipe, subject.steps
    asked = recipe.secrets or recipe.rate_limit or recipe.session_config
    if asked or any(step.retry or step.override for step in steps):
        from amplihack.recipes.check.pointless import (
            pointless_overrides,
            pointless_retries,
            settings_for_nobody,
            unknown_secrets,
        )

        for stage in (pointless_overrides, pointless_retries, settings_for_nobody):
            yield from stage(subject)
        if recipe.secrets:
            yield from unknown_secrets(subject)


def _groups(subject: CheckedRecipe) -> Iterator[Problem]:
    if any(step.parallel_group for step in subject.steps):
        from amplihack.recipes.check.order import split_groups

        yield from split_groups(subject)


def _scripts(subject: CheckedRecipe) -> Iterator[Problem]:
    commands = [step.action.command.text for step in subject.steps if isinstance(step.action, Bash)]
    if any("$" in command for command in commands):
        from amplihack.recipes.check.shell_names import unexported_names

        yield from unexported_names(subject)
    if any("{{" in command and "for " in command for command in commands):
        from amplihack.recipes.check.commands import word_loops

        yield from word_loops(subject)
    if any("\r" in command for command in commands):
        from amplihack.recipes.check.commands import returned_lines

        yield from returned_lines(subject)
    if not all(command.isascii() for command in commands):
        from amplihack.recipes.check.typographic import typographic_signs

        yield from typographic_signs(subject)


def _prompts(subject: CheckedRecipe) -> Iterator[Problem]:
    prompts = [step.action.prompt.text for step in subject.steps if isinstance(step.action, Agent)]
    if any("$" in prompt or "%" in prompt or _has_single_brace(prompt) for prompt in prompts):
        from amplihack.recipes.check.other_templates import signs_in_prompts

        yield from signs_in_prompts(subject)


def _has_single_brace(prompt: str) -> bool:
    return prompt.count("{") > 2 * prompt.count("{{")


def _conditions(subject: CheckedRecipe) -> Iterator[Problem]:
    loops = [step.loop for step in subject.steps if step.loop]
    tests = [
        *(step.condition for step in subject.steps),
        *(stage.condition for stage in subject.recipe.stages),
        *(loop.break_when for loop in loops),
    ]
    if any(test and "steps." in test.text for test in tests):
        from amplihack.recipes.check.statuses import unknown_statuses
        from amplihack.recipes.check.unknown import unknown_steps

        yield from unknown_statuses(subject)
        yield from unknown_steps(subject)


def _texts(subject: CheckedRecipe) -> Iterator[Problem]:
    summary = subject.recipe.summary
    if summary and "{{" not in summary.text:
        from amplihack.recipes.check.pointless import names_as_text

        yield from names_as_text(subject)
    loops = (step.loop.update for step in subject.steps if step.loop)
    calls = (step.action.context for step in subject.steps if isinstance(step.action, SubRecipe))
    values = [value for given in (*loops, *calls) for value in given.values() if isinstance(value, str)]
    if any(sign in value for value in values for sign in _OPERATORS):
        from amplihack.recipes.check.pointless import sums_as_text

        yield from sums_as_text(subject)


_STAGES: Final[tuple[Stage, ...]] = (_fields, _groups, _scripts, _prompts, _conditions, _texts)
