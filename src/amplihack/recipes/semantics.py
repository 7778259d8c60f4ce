"""Define what a recipe means, in one place.

The engine, the static check, the dry run and `explain` all ask here, so that they cannot disagree. Everything
is a pure function of the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from amplihack.documents.suggest import closest
from amplihack.recipes.model import (
    Agent,
    Bash,
    Body,
    Foreach,
    Limits,
    Loop,
    Recipe,
    Step,
    SubRecipe,
    While,
    every_step,
)
from amplihack.recipes.placeholders import find_placeholders
from amplihack.recipes.values import KeyPath, Missing, Value, from_json

if TYPE_CHECKING:
    from amplihack.recipes.conditions import Rules

# Names that the runner provides -----------------------------------------------------------------------

APPROVAL_MESSAGE: Final = "_approval_message"
LOOP_INDEX: Final = "_loop_index"
LOOP_ITERATION: Final = "_loop_iteration"
ITEM: Final = "item"  # of a `foreach` without `as`
LOOP: Final = "loop"  # what a round knows about its loop; a variable of this name hides it
STEPS: Final = "steps"  # what is known about the steps that have ended, by their ids
VARIABLES: Final = frozenset({"inputs", "parameters"})  # the variables as one map
BUILT_IN: Final = frozenset({"recipe", "session", "step", "stage", STEPS, APPROVAL_MESSAGE}) | VARIABLES
FACTS: Final = {  # what the runner tells under a name of its own
    "recipe": ("name", "version", "description"),
    "session": ("id", "project"),
    "stage": ("name", "index"),
    "step": ("id", "index"),
}
RESERVED: Final = frozenset({"recipe", "session", "step"})  # in the other dialect no result may be called so
STEP_FACTS: Final = ("status", "output", "result", "outputs", "exit_code", "error")  # of `steps.ID`
HOOK_NAMES: Final = frozenset({"step_id", "step_type", "step_status", "step_error", "recipe_name"})


# Order and skipping -----------------------------------------------------------------------------------


def batches(steps: Sequence[Step]) -> list[tuple[Step, ...]]:
    """Split steps into the batches that run one after another; the members of a batch run at the same time.

    Adjacent steps of one parallel group form a batch; every other step is alone. A member that depends on an
    earlier member waits for it, so a new batch begins there.
    """
    found: list[list[Step]] = []
    for step in steps:
        last = found[-1] if found else []
        together = step.parallel_group is not None and last and last[0].parallel_group == step.parallel_group
        waits = step.depends_on and any(member.id in step.depends_on for member in last)
        if together and not waits:
            last.append(step)
        else:
            found.append([step])
    return [tuple(batch) for batch in found]


def still_run(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return those of the steps that run even though a step before them has failed."""
    return tuple(step for step in steps if step.always)


def result_step(steps: Sequence[Step]) -> Step | None:
    """Return the step whose result is that of the whole list: the last one that is not there to clean up."""
    return next((step for step in reversed(steps) if not step.always), steps[-1] if steps else None)


def can_be_skipped(step: Step) -> bool:
    """Tell whether a condition or tags can keep the step from running."""
    return step.condition is not None or bool(step.when_tags)


def may_have_no_round(loop: Loop | None) -> bool:
    """Tell whether a loop can end without a single round."""
    if loop is None:
        return False
    return isinstance(loop.over, While) or not isinstance(loop.over.items, tuple) or not loop.over.items


def least_rounds(loop: Loop | None) -> int:
    """Return how many rounds a step makes at least; a step without a loop is one round."""
    if loop is None:
        return 1
    if may_have_no_round(loop) or not isinstance(loop.over, Foreach):
        return 0
    return 1 if loop.break_when else len(loop.over.items if isinstance(loop.over.items, tuple) else ())


def allows_failure(step: Step) -> bool:
    """Tell whether the run can continue, or be recovered, after the step has failed."""
    recovers = isinstance(step.action, SubRecipe) and step.action.recovery
    return step.on_error != "fail" or recovers


def reached_steps(recipe: Recipe) -> Iterator[Step]:
    """Yield the steps that every successful run reaches, whether it then skips them or not."""
    for stage in recipe.stages:
        if stage.condition is None:
            yield from _reached(stage.steps)


def _reached(steps: Sequence[Step]) -> Iterator[Step]:
    rest = True
    for step in steps:
        if not rest and not step.always:
            continue
        yield step
        if isinstance(step.action, Body) and unavoidable(step):
            yield from _reached(step.action.steps)
        # When it fails, the rest is not reached and the run still succeeds.
        rest = rest and step.on_error != "skip_remaining"


def unavoidable(step: Step) -> bool:
    """Tell whether a step, once reached, must run and succeed."""
    return not can_be_skipped(step) and not allows_failure(step) and not may_have_no_round(step.loop)


# Names that steps set ---------------------------------------------------------------------------------


def rounds_are_apart(step: Step) -> bool:
    """Tell whether the rounds of a step run in parallel, each on its own copy of the variables.

    The variables of such a round are dropped when it ends; only its result is kept.
    """
    over = step.loop.over if step.loop else None
    return isinstance(over, Foreach) and over.parallel is not None


def writes(step: Step) -> tuple[str, ...]:
    """Return the names that a step sets by its own fields; its body or sub-recipe may set more."""
    names = [step.result_name]
    if step.loop and step.loop.collect:
        names.append(step.loop.collect)
    if isinstance(step.action, Bash):
        names += kept_of_rounds(step, filter(None, (step.action.exit_code_to, step.action.stderr_to)))
    if step.loop:
        names += kept_of_rounds(step, step.loop.update)
    return tuple(dict.fromkeys(names))


def names_of_steps(recipe: Recipe) -> frozenset[str]:
    """Return every name that a step of the recipe sets by its own fields, whether it is kept or not."""
    return frozenset(name for step in every_step(recipe.steps) for name in writes(step))


def set_later(recipe: Recipe, here: str, name: str) -> str:
    """Return the step that sets a name, if only steps after the step `here` do; empty if one before it may.

    Steps in one loop with it are before it too, in the next round. Without `here`, all steps come later.
    """
    position = next((at for at, step in enumerate(recipe.steps) if _holds(step, here)), -1)
    for step in every_step(recipe.steps[: position + 1]):
        if name in writes(step) or handed_back(step):
            return ""
    later = every_step(recipe.steps[position + 1 :])
    return next((step.id for step in later if name in writes(step)), "")


def _holds(step: Step, identifier: str) -> bool:
    return any(each.id == identifier for each in every_step((step,)))


def kept_of_rounds(step: Step, names: Iterable[str]) -> list[str]:
    """Return those of the names set in the rounds of a step that still exist after its loop."""
    if rounds_are_apart(step):
        return []
    own = loop_names(step.loop) if step.loop else ()
    return [name for name in names if name not in own]


def kept_body(step: Step) -> tuple[Step, ...]:
    """Return the steps of a loop body whose results still exist after the loop."""
    return step.action.steps if isinstance(step.action, Body) and not rounds_are_apart(step) else ()


def handed_back(step: Step) -> SubRecipe | None:
    """Return the call whose sub-recipe writes its names back to the caller, or None.

    An isolated sub-recipe returns one value, the result of the step.
    """
    match step.action:
        case SubRecipe(mode="inherit") as call if not rounds_are_apart(step):
            return call
        case _:
            return None


def written_on_failure(step: Step, name: str) -> bool:
    """Tell whether a step that fails, and may fail, still gives this name a value of its own."""
    if step.loop and name == step.loop.collect:
        return True  # the list of results has a gap for each failed round
    if not isinstance(step.action, Bash):
        return False
    kept = (step.action.exit_code_to, step.action.stderr_to) if step.loop is None else ()
    return step.action.any_exit or name in kept


def loop_names(loop: Loop) -> tuple[str, ...]:
    """Return the names that a loop sets for its rounds and removes at its end."""
    return (loop.over.name,) if isinstance(loop.over, Foreach) else (LOOP_INDEX, LOOP_ITERATION)


_EVERY_ROUND: Final = ("index", "index0", "first", "depth", "parent")
LOOP_FACTS: Final = (*_EVERY_ROUND, "item", "last", "length", "revindex", "revindex0")


def loop_facts(loop: Loop) -> tuple[str, ...]:
    """Return the members of `loop` in the rounds of a loop: only a list has an end that is known."""
    return LOOP_FACTS if isinstance(loop.over, Foreach) else _EVERY_ROUND


def round_facts(index: int, items: Sequence[Value] | None, around: Value) -> dict[str, Value]:
    """Return what `loop` holds in one round; `index` counts from 0, `around` is `loop` outside of it."""
    outer = around if isinstance(around, Mapping) else {}
    depth = outer.get("depth")
    facts: dict[str, Value] = {
        "index": index + 1,
        "index0": index,
        "first": index == 0,
        "depth": depth + 1 if isinstance(depth, int) else 1,
        "parent": dict(outer) or None,
    }
    if items is None:
        return facts
    left = len(items) - index
    counted = {"length": len(items), "last": left == 1, "revindex": left, "revindex0": left - 1}
    return {**facts, "item": items[index], **counted}


def too_long(items: int, loop: Loop) -> str:
    """Return why a list is refused that has more items than the loop may have rounds."""
    return f"the list has {items} items; max_iterations allows {loop.max_iterations}"


def every_loop_name(recipe: Recipe) -> frozenset[str]:
    """Return the names that any loop of the recipe sets for its rounds."""
    return frozenset(name for step in every_step(recipe.steps) if step.loop for name in loop_names(step.loop))


def list_path(text: str) -> KeyPath | None:
    """Return the path of the list that a `foreach` text names; None if the text is a larger template.

    A list is named with or without braces, so a text without a placeholder is a name too.
    """
    found = find_placeholders(text)
    if not found:
        return tuple(text.split("."))
    if found[0].constant is not None:
        return None
    whole = len(found) == 1 and (found[0].start, found[0].end) == (0, len(text))
    return found[0].path if whole else None


def as_list(value: Value | Missing) -> list[Value] | None:
    """Return the list that a `foreach` iterates over; a text that is a JSON list counts as one."""
    if isinstance(value, str):
        try:
            value = from_json(value)
        except (ValueError, RecursionError):
            return None
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else None


# What a recipe starts with ----------------------------------------------------------------------------

INSISTING_RULES: Final = frozenset({"nonempty", "path", "git_repo"})
CONTEXT_RULES: Final = (*sorted(INSISTING_RULES), "optional")  # what `context_validation` can ask for


def rule_meant(rule: str) -> str:
    """Return what to write for a rule of `context_validation` that nobody knows."""
    meant = closest(rule, CONTEXT_RULES)
    return f"did you mean '{meant}'?" if meant else f"use one of {', '.join(CONTEXT_RULES)}"


def is_blank(value: Value) -> bool:
    """Tell whether an input counts as missing."""
    return value is None or (isinstance(value, str) and not value.strip())


def required_names(recipe: Recipe) -> frozenset[str]:
    """Return the names that a recipe requires and has no value for."""
    elsewhere = {name for name, declared in recipe.declared.items() if declared.env}
    expected = map(variable_of, recipe.inputs - elsewhere)
    without = frozenset(name for name in expected if is_blank(recipe.context.get(name)))
    return insisted_names(recipe) | without


def variable_of(name: str) -> str:
    """Return the variable that holds an input: recipes describe members of a map too, as `setup.path`."""
    return name.partition(".")[0]


def insisted_names(recipe: Recipe) -> frozenset[str]:
    """Return the names without which a recipe does not begin, and which have no value."""
    insisted = {name for name, rule in recipe.context_validation.items() if rule.strip() in INSISTING_RULES}
    required = {name for name, declared in recipe.declared.items() if declared.required}
    elsewhere = {name for name, declared in recipe.declared.items() if declared.env}
    named = (insisted | required) - elsewhere
    return frozenset(name for name in named if is_blank(recipe.context.get(name)))


def declared_names(recipe: Recipe) -> frozenset[str]:
    """Return the names that a recipe has from the start, or expects from its caller."""
    return frozenset({*recipe.context, *map(variable_of, recipe.inputs), *recipe.context_validation})


def first_values(
    call: SubRecipe, recipe: Recipe, outer: Mapping[str, Value], passed: Mapping[str, Value]
) -> dict[str, Value]:
    """Return the variables that a sub-recipe starts with. Values that the call passes win."""
    return {**recipe.context, **(outer if call.mode == "inherit" else {}), **passed}


def rules_of(recipe: Recipe) -> Rules:
    """Return the rules for evaluating the conditions of a recipe."""
    from amplihack.recipes.conditions import AMPLIFIER, AMPLIHACK  # deferred: many recipes have no conditions

    return AMPLIFIER if recipe.dialect == "amplifier" else AMPLIHACK


# Limits -----------------------------------------------------------------------------------------------

DEFAULT_DEPTH: Final = 6
DEEPEST: Final = 50  # levels of sub-recipes, whatever a recipe allows: Python's stack has an end
DEFAULT_STEPS: Final = 200


def depth_limit(recipe: Recipe) -> int:
    """Return how many levels of sub-recipes may stand below a recipe that is run by itself."""
    return DEFAULT_DEPTH if recipe.limits.max_depth is None else min(recipe.limits.max_depth, DEEPEST)


def step_limit(recipe: Recipe) -> int:
    """Return how many steps a recipe that is run by itself may execute, sub-recipes included."""
    return DEFAULT_STEPS if recipe.limits.max_total_steps is None else recipe.limits.max_total_steps


def levels_for_call(levels: int, call: Limits) -> int:
    """Return how many of the caller's remaining levels a call may use; 0 forbids the call."""
    return levels if call.max_depth is None else min(levels, call.max_depth)


def levels_inside(levels: int, call: Limits, recipe: Recipe) -> int:
    """Return how many levels are left inside a called recipe, which can only tighten the limit."""
    left = levels_for_call(levels, call) - 1
    return left if recipe.limits.max_depth is None else min(left, recipe.limits.max_depth)


def tighter_step_limit(call: Limits, recipe: Recipe) -> int | None:
    """Return the limit that a call and the called recipe add to those around them, or None."""
    stated = [each for each in (call.max_total_steps, recipe.limits.max_total_steps) if each is not None]
    return min(stated, default=None)


def counts_as_step(step: Step) -> bool:
    """Tell whether a step counts against the limit; one that only holds others does not."""
    return isinstance(step.action, Bash | Agent)
