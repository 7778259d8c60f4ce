"""Conditions that do not test anything, and steps that never run because of them."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.errors import ConditionError, Problem, Severity
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.subject import CheckedRecipe
from amplihack.recipes.conditions import (
    And,
    Compare,
    Constant,
    Expression,
    Or,
    Rules,
    known,
    references,
    show,
)
from amplihack.recipes.conditions.certain import compared, constant_value, contradiction, lost_items, verdict
from amplihack.recipes.conditions.tree import children
from amplihack.recipes.model import Step, Test, Text, While, every_step
from amplihack.recipes.semantics import rules_of
from amplihack.recipes.values import Missing
from amplihack.records import Record, replace

_COMPARE_FIX = "compare it with something that it can be"


class Site(Record):
    """A condition and what it decides about, in words such as "step 'build'"."""

    test: Test
    about: str
    repeats: bool = False  # the condition of a loop: that it always holds is then no mistake
    blame: Severity = "warning"  # how bad it is if the condition can only fail


def sites(subject: CheckedRecipe) -> Iterator[Site]:
    """Yield the conditions of stages, steps and loops."""
    for stage in subject.recipe.stages:
        if stage.condition:
            yield Site(stage.condition, f"stage '{stage.name}'", blame="error")
        for step in every_step(stage.steps):
            yield from _step_sites(step, subject)


def _step_sites(step: Step, subject: CheckedRecipe) -> Iterator[Site]:
    if step.condition:
        # the step is there to be run, as far as its condition is concerned
        blame = subject.blame(replace(step, condition=None, loop=None))
        yield Site(step.condition, f"step '{step.id}'", blame=blame)
    if step.loop and isinstance(step.loop.over, While):
        blame = subject.blame(replace(step, loop=None))
        yield Site(step.loop.over.condition, f"the loop of step '{step.id}'", repeats=True, blame=blame)


def pointless_conditions(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find conditions with one answer only, and loops that never run."""
    rules = rules_of(subject.recipe)
    for site in sites(subject):
        yield from _findings(site, rules)
    for step in every_step(subject.recipe.steps):
        yield from _empty_loop(step)


def _findings(site: Site, rules: Rules) -> Iterator[Problem]:
    tree = site.test.condition.tree
    if failure := _failure(tree, rules):
        what = f"the condition can only fail: {failure}"
        yield finding("condition-fails", site.blame, what, site.test.source.where)
        return
    if not isinstance(constant_value(tree, rules), Missing):
        yield from _constant(site, rules)
        return
    impossible = list(_impossible(tree, site.test.source, rules))
    yield from impossible
    if impossible:
        return
    answer = verdict(tree, rules)
    if answer is not None:
        yield _decided(site, answer, _reason(tree, rules))
    else:
        yield from _partly(tree, site.test.source, rules)


def _failure(tree: Expression, rules: Rules) -> str:
    try:
        known(tree, rules)
    except ConditionError as error:
        return error.what
    return ""


def _constant(site: Site, rules: Rules) -> Iterator[Problem]:
    """A condition without variables; a plain `true` or `false` is a switch that somebody set on purpose."""
    tree = site.test.condition.tree
    holds = bool(verdict(tree, rules))
    if holds and site.repeats:
        return
    deliberate = holds or isinstance(tree, Constant)
    yield _decided(site, holds, "it mentions no variable", "note" if deliberate else "warning")


def _decided(site: Site, holds: bool, why: str, severity: Severity = "warning") -> Problem:
    because = f": {why}" if why else ""
    if holds:
        what, code = f"the condition of {site.about} always holds{because}", "condition-constant"
        return finding(
            code, severity, what, site.test.source.where, "remove it, or test what it was meant to"
        )
    what = f"{site.about} never runs, because its condition never holds{because}"
    return finding("never-runs", severity, what, site.test.source.where, "correct the condition")


def _reason(tree: Expression, rules: Rules) -> str:
    """What decides the whole: a part that has one answer only, or two that exclude each other."""
    for node in inside(tree):
        if isinstance(node, And) and (why := contradiction(node.operands, rules)):
            return why
    for part, answer in _decided_parts(tree, rules):
        return f"{show(part)} {'always' if answer else 'never'} does"
    return "its parts leave no other way" if isinstance(tree, Or) else ""


def _decided_parts(tree: Expression, rules: Rules) -> Iterator[tuple[Expression, bool]]:
    """The smallest operands that have one answer only."""
    for operand in tree.operands if isinstance(tree, And | Or) else children(tree):
        smaller = list(_decided_parts(operand, rules))
        yield from smaller
        answer = verdict(operand, rules) if isinstance(tree, And | Or) and not smaller else None
        if answer is not None:
            yield operand, answer


def inside(tree: Expression) -> Iterator[Expression]:
    """Yield an expression and all its parts."""
    yield tree
    for child in children(tree):
        yield from inside(child)


def _impossible(tree: Expression, source: Text, rules: Rules) -> Iterator[Problem]:
    for node in inside(tree):
        if not isinstance(node, Compare) or not references(node):
            continue
        answer, why = compared(node, rules)
        if answer is not None:
            always = "always holds" if answer else "never holds"
            yield finding(
                "never-equal", "warning", f"{show(node)} {always}: {why}", source.at(node.left.column)
            )
            continue
        for item, lost in lost_items(node, rules):
            what = f"{show(item)} in this list can never match: {lost}"
            yield finding("never-equal", "warning", what, source.at(item.column), _COMPARE_FIX)


def _partly(tree: Expression, source: Text, rules: Rules) -> Iterator[Problem]:
    """Parts that have one answer only, in a condition that as a whole still has two."""
    for part, answer in _decided_parts(tree, rules):
        yield _part(part, answer, source)


def _part(node: Expression, answer: bool, source: Text) -> Problem:
    word = isinstance(node, Constant) and isinstance(node.value, str)
    fix = "write the comparison again for it, or use `in [...]`" if word else "leave this part out"
    severity: Severity = "note" if isinstance(node, Constant) and not word else "warning"
    what = f"{show(node)} {'always' if answer else 'never'} holds, whatever the variables are"
    return finding("condition-constant", severity, what, source.at(node.column), fix)


def _empty_loop(step: Step) -> Iterator[Problem]:
    if step.loop is None:
        return
    over = step.loop.over
    empty = not isinstance(over, While) and over.items == ()
    if empty or step.loop.max_iterations == 0:
        why = "its list is empty" if empty else "it may run no rounds at all"
        what = f"the loop of step '{step.id}' never runs: {why}"
        yield finding("never-runs", "warning", what, step.where, "give it something to do, or remove it")
