"""Evaluate the conditions of a run, and tell about names that nothing sets."""

from __future__ import annotations

from collections.abc import Mapping

from amplihack.errors import ConditionError
from amplihack.recipes.conditions import holds, references
from amplihack.recipes.conditions.flags import texts_that_say_no
from amplihack.recipes.conditions.tree import Expression
from amplihack.recipes.conditions.unordered import compares_order, unordered
from amplihack.recipes.engine.frame import Frame
from amplihack.recipes.engine.job import Job, Run, StepFailure
from amplihack.recipes.model import Recipe, Test, every_step
from amplihack.recipes.placeholders import show
from amplihack.recipes.semantics import BUILT_IN, handed_back, names_of_steps, set_later
from amplihack.recipes.values import Value, one_line, to_text


def step_test(job: Job, test: Test, field: str) -> bool:
    """Tell whether a condition of the step holds.

    Raises StepFailure if it cannot be evaluated, or if strict variables forbid one of its names.
    """
    try:
        return test_holds(job.run, test, job.frame, job.identity, field, at=job.step.id)
    except ConditionError as error:
        raise StepFailure(f"Condition error: {error.what}", fix=error.fix) from error


def test_holds(run: Run, test: Test, frame: Frame, identity: str, field: str, *, at: str) -> bool:
    """Tell whether a condition holds at a step. Raises ConditionError; with strict variables, StepFailure."""
    view, tree = frame.view(), test.condition.tree
    answer = holds(test.condition, view, frame.rules)
    names = references(tree)
    if any(len(each.path) > 1 and _is_variable(each.path[0], frame) for each in names):
        _tell_members(run, frame, identity, tree, field)
    if any(each.path[0] not in view for each in names):
        # Deferred: most runs have a value for every name.
        from amplihack.recipes.conditions.unset import bare_words, beside_constants, unset_names

        names_only = set(beside_constants(tree))
        words = {
            word.partition(".")[0]: word for word, column in bare_words(tree) if column not in names_only
        }
        for name in unset_names(tree, view, frame.rules):
            # What a skipped step would have set is null, as the author of the condition knows.
            if name in _set_by_steps(run, frame.recipe):
                if step := set_later(frame.recipe, at, name):
                    what = f"undefined in {field}: {name}"
                    _say(run, identity, what, f"step '{step}' sets it later, so it counts as null")
            else:
                hint = f" (if the text is meant, write '{words[name]}' in quotes)" if name in words else ""
                _tell(run, frame.recipe, identity, f"undefined in {field}: {name}", hint)
    if compares_order(tree):
        for left, right in unordered(tree, view, frame.rules):
            run.remark(identity, f"{field}: {_misled(left, right)}")
    for name, text in texts_that_say_no(tree, view, frame.rules):
        what = f'{name} is the text "{text}", and every text that is not empty holds'
        run.remark(identity, f"{field}: {what}; write {name} == 'true'")
    return answer


def _tell_members(run: Run, frame: Frame, identity: str, tree: Expression, field: str) -> None:
    """Tell of parts that a variable does not have, which count as null where they are compared."""
    from amplihack.recipes.conditions.unset import missing_members  # deferred: many conditions ask for none

    for path in missing_members(tree, frame.view(), frame.rules):
        if _is_variable(path[0], frame):
            hint = f" (where it may be absent, write default({show(path)}, '') or the like)"
            _say(run, identity, f"undefined in {field}: {show(path)}", "it counts as null", hint)


def _is_variable(name: str, frame: Frame) -> bool:
    """Tell whether a name is not one of the runner's own, or is taken from it by a variable."""
    return name not in BUILT_IN or name in frame.scope.values


def _misled(left: Value, right: Value) -> str:
    sides = f"{_kind(left)} and {_kind(right)}"
    if isinstance(left, str) and isinstance(right, str):
        return f"{sides} are compared as texts; write int(…) or float(…) around them to compare numbers"
    return f"{sides} have no order: never true"


def _kind(value: Value) -> str:
    """Name a value for a message: what it is, and how a text begins."""
    match value:
        case str():
            return f"the text {one_line(value, 40)!r}"
        case bool() | int() | float() | None:
            return to_text(value)
        case Mapping():
            return "a map"
        case _:
            return "a list"


def _set_by_steps(run: Run, recipe: Recipe) -> frozenset[str]:
    if recipe.name not in run.set_by_steps:
        run.set_by_steps[recipe.name] = names_of_steps(recipe)
    return run.set_by_steps[recipe.name]


def _tell(run: Run, recipe: Recipe, identity: str, what: str, hint: str) -> None:
    # A sub-recipe that was skipped, or comes later, would perhaps have set it.
    calls = any(map(handed_back, every_step(recipe.steps)))
    _say(run, identity, what, f"nothing {'has set' if calls else 'sets'} it, so it counts as null", hint)


def _say(run: Run, identity: str, what: str, why: str, hint: str = "") -> None:
    """Warn once for each step, however many rounds evaluate its condition."""
    if run.options.strict_vars:
        fix = "give it a value in `context:` or with --set, or ask `defined()` first"
        raise StepFailure(f"{what}{hint} (strict variables)", hopeless=True, fix=fix)
    run.remark(identity, f"{what}; {why}{hint}")
