"""What steps set, and what can keep them from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from amplihack.recipes.check.standing import UNGUARDED, Guards
from amplihack.recipes.conditions import And, Expression, show
from amplihack.recipes.model import Bash, Body, Recipe, Step, Test, While, every_step


def declared(recipe: Recipe) -> frozenset[str]:
    """The names that a recipe has from the start, or insists on."""
    return frozenset({*recipe.context, *recipe.inputs, *recipe.context_validation})


def own_results(step: Step) -> Iterator[str]:
    """The names that a step sets itself; a sub-recipe may set more."""
    if step.loop and step.loop.collect:
        yield step.loop.collect
    if step.output or not (step.loop and step.loop.collect):
        yield step.result_name
    if isinstance(step.action, Bash):
        yield from filter(None, (step.action.exit_code_to, step.action.stderr_to))
    if step.loop:
        yield from step.loop.update


def makers(steps: Iterable[Step]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for step in every_step(tuple(steps)):
        for name in own_results(step):
            found.setdefault(name, []).append(step.id)
    return {name: tuple(ids) for name, ids in found.items()}


def conjuncts(test: Test | None) -> frozenset[str]:
    """The parts that must all hold for a condition to hold."""
    return frozenset(_conjuncts(test.condition.tree)) if test else UNGUARDED


def _conjuncts(tree: Expression) -> Iterator[str]:
    if isinstance(tree, And):
        for operand in tree.operands:
            yield from _conjuncts(operand)
    else:
        yield show(tree)


def names_in_body(step: Step) -> tuple[str, ...]:
    if not isinstance(step.action, Body):
        return ()
    return tuple(makers(step.action.steps))


def own_guards(step: Step, name: str) -> Guards:
    """What can keep a step from setting this name, besides its condition."""
    guards = tags(step)
    if step.on_error == "continue" and not _set_on_failure(step, name):
        guards |= {f"success of {step.id}"}
    collected = step.loop is not None and name == step.loop.collect
    if may_be_empty(step) and not collected:
        guards |= {f"rounds of {step.id}"}
    return guards


def _set_on_failure(step: Step, name: str) -> bool:
    """A list of results has a gap for each failure, and an exit code is there to tell of it."""
    if step.loop and name == step.loop.collect:
        return True
    action = step.action
    return isinstance(action, Bash) and (action.any_exit or name in (action.exit_code_to, action.stderr_to))


def tags(step: Step) -> Guards:
    return frozenset({f"tags {' '.join(step.when_tags)}"}) if step.when_tags else UNGUARDED


def may_be_empty(step: Step) -> bool:
    """Whether a loop may end without a single round."""
    if step.loop is None:
        return False
    over = step.loop.over
    return isinstance(over, While) or not isinstance(over.items, tuple) or not over.items


def loop_names(recipe: Recipe) -> frozenset[str]:
    """The variables that loops give their rounds."""
    loops = (step.loop.over for step in every_step(recipe.steps) if step.loop)
    return frozenset(over.name for over in loops if not isinstance(over, While))
