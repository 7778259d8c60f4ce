"""Report conditions that do not test anything, and steps that never run because of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amplihack.errors import Problem, Severity
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.sites import Site, failing, sites
from amplihack.recipes.check.subject import CheckedRecipe
from amplihack.recipes.conditions import (
    And,
    Compare,
    Constant,
    Expression,
    ListLiteral,
    Or,
    Rules,
    show,
)
from amplihack.recipes.conditions.certain import compared, contradiction, lost_items, verdict
from amplihack.recipes.conditions.tree import Index, Name, PlaceholderNode, Property
from amplihack.recipes.conditions.used_variables import mentions_variables
from amplihack.recipes.model import Step, Text, While
from amplihack.recipes.semantics import rules_of
from amplihack.recipes.values import Missing, Value, lookup

_COMPARE_FIX = "compare it with something that it can be"


def pointless_conditions(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find conditions with one answer only, and loops that never run."""
    rules = rules_of(subject.recipe)
    for site in sites(subject):
        yield from _findings(site, rules)
        yield from _lengths(site, subject.recipe.context)
    for step in subject.steps:
        yield from _empty_loop(step)


def _findings(site: Site, rules: Rules) -> Iterator[Problem]:
    tree = site.test.condition.tree
    if not site.test.references:
        if problem := failing(site, rules):
            yield problem
        else:
            yield from _constant(site, rules)
        return
    if impossible := list(_impossible(tree, site.test.source, rules)):
        yield from impossible
        return
    answer = verdict(tree, rules, all_compared=True)
    if answer is not None:
        yield _decided(site, answer, _reason(tree, rules))
    else:
        yield from _partly(tree, site.test.source, rules)


def _lengths(site: Site, context: Mapping[str, Value]) -> Iterator[Problem]:
    """Find `x.length`, which other languages know: here it is a key, and lists and texts have none."""
    if "length" not in site.test.source.text:
        return
    for node in inside(site.test.condition.tree):
        if isinstance(node, Property) and node.key == "length":
            path = (*(str(part) for part in path_of(node.base)), node.key)
            if isinstance(lookup(context, path), Missing):
                shown = show(node.base)
                what = f"{shown}.length is empty, unless {shown} is a map with that key"
                where = site.test.source.at(node.column)
                yield finding("unknown-key", "warning", what, where, f"write len({shown})")


def path_of(node: Expression) -> tuple[str, ...]:
    """Return the variable that an expression is, with its keys; a name that no variable has for any other."""
    match node:
        case Name(name):
            return (name,)
        case PlaceholderNode(path):
            return path
        case Property(base, key):
            return (*path_of(base), key)
        case Index(base, Constant(str() as key)):
            return (*path_of(base), key)
        case _:
            return ("",)


def _constant(site: Site, rules: Rules) -> Iterator[Problem]:
    """Report a condition without variables; a plain `true` or `false` is a switch, set on purpose."""
    tree = site.test.condition.tree
    holds = bool(verdict(tree, rules))
    if holds and site.repeats:
        return
    is_text = isinstance(tree, Constant) and isinstance(tree.value, str)  # such as 'false', which holds
    deliberate = not is_text and (holds or isinstance(tree, Constant))
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
    """Return what decides the whole: a part that has one answer only, or two that exclude each other."""
    for node in inside(tree):
        if isinstance(node, And) and (why := contradiction(node.operands, rules)):
            return why
    for part, answer in _decided_parts(tree, rules):
        return f"{show(part)} {'always' if answer else 'never'} does"
    return "its parts leave no other way" if isinstance(tree, Or) else ""


def _decided_parts(tree: Expression, rules: Rules) -> list[tuple[Expression, bool]]:
    """Return the smallest operands that have one answer only, where no comparison of variables has."""
    found: list[tuple[Expression, bool]] = []
    joined = isinstance(tree, And | Or)
    for operand in tree.inner:
        smaller = _decided_parts(operand, rules) if operand.inner else []
        found += smaller
        answer = verdict(operand, rules, all_compared=True) if joined and not smaller else None
        if answer is not None:
            found.append((operand, answer))
    return found


def inside(tree: Expression) -> Iterator[Expression]:
    """Yield an expression and all its parts."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.inner)


def _impossible(tree: Expression, source: Text, rules: Rules) -> Iterator[Problem]:
    for node in inside(tree):
        if not isinstance(node, Compare) or not mentions_variables(node):
            continue
        answer, why = compared(node, rules)
        if answer is not None:
            always = "always holds" if answer else "never holds"
            what = f"{show(node)} {always}: {why}"
            yield finding("never-equal", "warning", what, source.at(node.left.column), _COMPARE_FIX)
            continue
        for item, lost in lost_items(node, rules) if isinstance(node.right, ListLiteral) else ():
            what = f"{show(item)} in this list can never match: {lost}"
            yield finding("never-equal", "warning", what, source.at(item.column), _COMPARE_FIX)


def _partly(tree: Expression, source: Text, rules: Rules) -> Iterator[Problem]:
    """Report parts that have one answer only, in a condition that as a whole still has two."""
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
