"""Find what a run cannot survive, at a cost that a run can pay: the errors of the check and nothing else.

A recipe is asked only about what it has, so that a run imports only the stages that can find something in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

from amplihack.errors import Problem
from amplihack.recipes.check.subject import CheckedRecipe, study
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Bash, Foreach, SubRecipe
from amplihack.recipes.semantics import step_limit

if TYPE_CHECKING:
    from amplihack.recipes.check.bash_port import AskBash
    from amplihack.recipes.check.neighbours import Surroundings

Stage: TypeAlias = Callable[[CheckedRecipe], Iterator[Problem]]


def certain_failures(
    located: Located, world: Surroundings, *, bash: AskBash | None, final: bool = True
) -> tuple[Problem, ...]:
    """Return the errors of a recipe that is about to be run, in the order of its lines."""
    subject = study(located, world, bash=bash, final=final)
    found = {problem for stage in _STAGES for problem in stage(subject) if problem.severity == "error"}
    return tuple(sorted(found, key=place))


def meaningless(located: Located, world: Surroundings) -> tuple[Problem, ...]:
    """Return what a recipe that is about to be run says without any effect."""
    subject = study(located, world, final=True)
    found = {problem for problem in _without_effect(subject) if problem.severity == "warning"}
    return tuple(sorted(found, key=place))


def _without_effect(subject: CheckedRecipe) -> Iterator[Problem]:
    """Yield what the stages find that have something to look at; their imports are deferred, as below."""
    secrets = subject.recipe.secrets
    if secrets or any(step.retry or step.override for step in subject.steps):
        from amplihack.recipes.check.pointless import pointless_overrides, pointless_retries, unknown_secrets

        for stage in (pointless_overrides, pointless_retries, *((unknown_secrets,) if secrets else ())):
            yield from stage(subject)
    if any(isinstance(step.action, Bash) and "$" in step.action.command.text for step in subject.steps):
        from amplihack.recipes.check.shell_names import unexported_names

        yield from unexported_names(subject)
    tests = (step.condition for step in subject.steps if step.condition)
    if any(".status" in test.text for test in tests):
        from amplihack.recipes.check.statuses import unknown_statuses

        yield from unknown_statuses(subject)
    commands = [step.action.command.text for step in subject.steps if isinstance(step.action, Bash)]
    if any("{{" in command and "for " in command for command in commands):
        from amplihack.recipes.check.commands import word_loops

        yield from word_loops(subject)
    if any("\r" in command for command in commands):
        from amplihack.recipes.check.commands import returned_lines

        yield from returned_lines(subject)


def place(problem: Problem) -> tuple[str, int, int, str, str]:
    """Return a key that sorts problems by their lines."""
    where = problem.where
    at = (where.file, where.line, where.column) if where else ("", 0, 0)
    return *at, problem.code, problem.what


# Imports are deferred: each is for recipes that have something to judge.


def _calls(subject: CheckedRecipe) -> Iterator[Problem]:
    if any(isinstance(step.action, SubRecipe) for step in subject.steps):
        from amplihack.recipes.check.failing_recipes import failing_recipes
        from amplihack.recipes.check.nesting import bottomless_calls
        from amplihack.recipes.check.sub_recipes import (
            empty_inputs,
            missing_inputs,
            unknown_recipes,
            wrong_inputs,
        )

        inputs = (missing_inputs, empty_inputs, wrong_inputs)
        for stage in (unknown_recipes, *inputs, failing_recipes, bottomless_calls):
            yield from stage(subject)


def _counts(subject: CheckedRecipe) -> Iterator[Problem]:
    steps = subject.steps
    if len(steps) > step_limit(subject.recipe) or any(
        step.loop or isinstance(step.action, SubRecipe) for step in steps
    ):
        from amplihack.recipes.check.nesting import too_many_steps

        yield from too_many_steps(subject)


def _conditions(subject: CheckedRecipe) -> Iterator[Problem]:
    steps = subject.steps
    tested = any(stage.condition for stage in subject.recipe.stages)
    if tested or any(step.condition or step.loop for step in steps):
        from amplihack.recipes.check.sites import failing_conditions

        yield from failing_conditions(subject)


def _lists(subject: CheckedRecipe) -> Iterator[Problem]:
    if any(isinstance(step.loop.over, Foreach) for step in subject.steps if step.loop):
        from amplihack.recipes.check.pointless import constant_loops

        yield from constant_loops(subject)


def _numbers(subject: CheckedRecipe) -> Iterator[Problem]:
    if any(step.loop or step.retry or isinstance(step.timeout, str) for step in subject.steps):
        from amplihack.recipes.check.known_texts import wrong_numbers

        yield from wrong_numbers(subject)


def _order(subject: CheckedRecipe) -> Iterator[Problem]:
    if any(step.depends_on for step in subject.steps):
        from amplihack.recipes.check.order import dependencies

        yield from dependencies(subject)


def _names(subject: CheckedRecipe) -> Iterator[Problem]:
    if subject.strict:
        from amplihack.recipes.check.unknown import reserved_names

        yield from reserved_names(subject)


def _scripts(subject: CheckedRecipe) -> Iterator[Problem]:
    steps = subject.steps
    commands = [step.action.command.text for step in steps if isinstance(step.action, Bash)]
    if any("{{" in command for command in commands):
        from amplihack.recipes.check.commands import refused_values

        yield from refused_values(subject)
    if any(isinstance(step.action, Bash) and step.action.env for step in steps):
        from amplihack.recipes.check.commands import values_in_env

        yield from values_in_env(subject)
    if commands and subject.bash:
        from amplihack.recipes.check.syntax import syntax_faults

        yield from syntax_faults(subject)


_STAGES: Final[tuple[Stage, ...]] = (_calls, _counts, _conditions, _lists, _numbers, _order, _names, _scripts)
