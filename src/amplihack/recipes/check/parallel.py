"""Steps that run at the same time and write the same variable."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from amplihack.errors import Problem, Severity
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.conditions import rules_of
from amplihack.recipes.check.library import Library
from amplihack.recipes.check.results import own_results
from amplihack.recipes.check.verdicts import verdict
from amplihack.recipes.conditions import And, Rules
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Body, Foreach, Step, SubRecipe


def parallel_writes(located: Located, library: Library) -> Iterator[Problem]:
    used = library.flow(located).used
    for stage in located.recipe.stages:
        yield from _conflicts(stage.steps, located, library, used)


def _conflicts(
    steps: tuple[Step, ...], located: Located, library: Library, used: frozenset[str]
) -> Iterator[Problem]:
    for group, members in groupby(steps, key=lambda step: step.parallel_group):
        if group is not None:
            yield from _group(tuple(members), located, library)
    for step in steps:
        yield from _rounds(step, used)
        if isinstance(step.action, Body):
            yield from _conflicts(step.action.steps, located, library, used)


def _group(members: tuple[Step, ...], located: Located, library: Library) -> Iterator[Problem]:
    rules = rules_of(located.recipe)
    first: dict[str, tuple[Step, bool]] = {}
    for step in members:
        for name, itself in _writes(step, located, library).items():
            earlier = first.setdefault(name, (step, itself))
            if earlier[0] is not step:
                severity = _severity(earlier[0], step, itself and earlier[1], rules)
                if severity:
                    yield _conflict(name, earlier[0], step, severity)


def _writes(step: Step, located: Located, library: Library) -> dict[str, bool]:
    """The names that a member sets, and whether it does so itself or through a sub-recipe."""
    names = dict.fromkeys(own_results(step), True)
    if isinstance(step.action, SubRecipe) and step.action.mode == "inherit":
        found = library.resolve(step.action, located.path)
        if isinstance(found, Located):
            names = {**dict.fromkeys(sorted(library.callee(found).made), False), **names}
    return names


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
    """A parallel loop whose rounds all write one variable that somebody reads."""
    loop = step.loop
    if loop is None or not isinstance(loop.over, Foreach) or loop.over.parallel is None or loop.collect:
        return
    if step.output and step.output in used:
        what = f"every round of step '{step.id}' sets {step.output} at the same time; one result is kept"
        yield finding("parallel-conflict", "warning", what, step.where, f"use `collect: {step.output}`")
