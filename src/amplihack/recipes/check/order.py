"""Check the order of steps: what they wait for, which run at the same time, and what these write."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import groupby

from amplihack.errors import Problem, Severity
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.flow import names_set
from amplihack.recipes.check.spelling import Spelling
from amplihack.recipes.check.subject import CheckedRecipe
from amplihack.recipes.conditions import And, Rules
from amplihack.recipes.conditions.certain import verdict
from amplihack.recipes.model import Body, Step, every_step
from amplihack.recipes.semantics import batches, rounds_are_apart, rules_of


def dependencies(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find dependencies on steps that do not come before."""
    recipe = subject.recipe
    all_ids = {step.id for step in every_step(recipe.steps)}
    spelling = Spelling(all_ids)
    before: set[str] = set()
    for step in _in_order(recipe.steps):
        for wanted in step.depends_on:
            if wanted not in before and "{{" not in wanted:
                what = f"step '{step.id}' depends on '{wanted}', which "
                meant = spelling.meant(wanted)
                if wanted in all_ids:
                    what += "is the step itself" if wanted == step.id else "comes later"
                    fix = "let it depend on earlier steps only"
                else:
                    what += "does not exist"
                    fix = f"did you mean '{meant}'?" if meant else "remove it"
                yield finding("unknown-dependency", "error", what, step.where, fix)
        before.add(step.id)


def _in_order(steps: tuple[Step, ...]) -> Iterator[Step]:
    for step in steps:
        if isinstance(step.action, Body):
            yield from _in_order(step.action.steps)
        yield step


def split_groups(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find members of a parallel group that do not stand together, and so do not run together."""
    for steps in _sequences(subject):
        seen: dict[str, str] = {}
        for group, members in groupby(steps, key=lambda step: step.parallel_group):
            first, *others, last = [*members] * 2
            if group is not None and group in seen:
                what = f"step '{first.id}' does not run with step '{seen[group]}' of the group '{group}': "
                fix = "move it up to the other members, or give it a group of its own"
                yield finding("split-group", "warning", what + "other steps stand between", first.where, fix)
            if group is not None:
                seen[group] = last.id
                if not others and sum(step.parallel_group == group for step in steps) == 1:
                    what = f"step '{first.id}' is alone in the group '{group}', so nothing runs beside it"
                    fix = "give the steps that run with it the same group, or remove `parallel_group`"
                    yield finding("split-group", "warning", what, first.where, fix)


def _sequences(subject: CheckedRecipe) -> Iterator[tuple[Step, ...]]:
    """Yield every list of steps that run in order: those of stages and those of loop bodies."""
    for stage in subject.recipe.stages:
        yield stage.steps
    for step in subject.steps:
        if isinstance(step.action, Body):
            yield step.action.steps


def parallel_writes(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find steps or rounds that run at the same time and write the same variable."""
    for steps in _sequences(subject):
        for batch in batches(steps):
            yield from _conflicts(batch, subject)
    for step in subject.steps:
        yield from _rounds(step, subject.flow.used)


def _conflicts(batch: tuple[Step, ...], subject: CheckedRecipe) -> Iterator[Problem]:
    if len(batch) == 1:
        return
    look = partial(subject.neighbours.look, subject.located.path)
    first: dict[str, tuple[Step, bool]] = {}
    for step in batch:
        for name, itself in names_set(step, look).items():
            one, too = first.setdefault(name, (step, itself))
            severity = _severity(one, step, itself and too, rules_of(subject.recipe))
            if one is not step and severity:
                yield _conflict(name, one, step, severity)


def _severity(one: Step, other: Step, themselves: bool, rules: Rules) -> Severity | None:
    if not themselves:
        return "note"
    if one.condition is None and other.condition is None:
        return "warning"
    if one.condition and other.condition:
        both = And((one.condition.condition.tree, other.condition.condition.tree))
        return None if verdict(both, rules) is False else "note"
    return "note"


def _conflict(name: str, one: Step, other: Step, severity: Severity) -> Problem:
    return finding(
        "parallel-conflict",
        severity,
        f"step '{other.id}' and step '{one.id}' run at the same time and both set {name}",
        other.where,
        "give each its own `output:`",
    )


def _rounds(step: Step, used: frozenset[str]) -> Iterator[Problem]:
    """Find a parallel loop whose rounds all write one variable that somebody reads."""
    if step.loop is None or step.loop.collect or not rounds_are_apart(step):
        return
    if step.output and step.output in used:
        what = f"every round of step '{step.id}' sets {step.output} at the same time; one result is kept"
        yield finding("parallel-conflict", "warning", what, step.where, f"use `collect: {step.output}`")
