"""Define what a recipe means, in one place.

The engine, the static check, the dry run and `explain` all ask here, so that they cannot disagree. Everything
is a pure function of the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

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
from amplihack.recipes.values import Value

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


def every_loop_name(recipe: Recipe) -> frozenset[str]:
    """Return the names that any loop of the recipe sets for its rounds."""
    return frozenset(name for step in every_step(recipe.steps) if step.loop for name in loop_names(step.loop))


# What a recipe starts with ----------------------------------------------------------------------------


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
