"""Run another recipe as a step: pass values in, return values, and summarise a failure."""

from __future__ import annotations

from collections.abc import Sequence

from amplihack.errors import AmplihackError
from amplihack.recipes.engine.frame import Frame, Scope
from amplihack.recipes.engine.job import Done, Job, StepFailure, degraded_inside, run_ended
from amplihack.recipes.engine.preflight import preflight
from amplihack.recipes.engine.stages import run_stages
from amplihack.recipes.events import RecipeEntered
from amplihack.recipes.extends import Located
from amplihack.recipes.inputs import conformed
from amplihack.recipes.model import SubRecipe
from amplihack.recipes.results import RunResult, StepResult
from amplihack.recipes.semantics import APPROVAL_MESSAGE, first_values, levels_for_call
from amplihack.recipes.templates import render_text, render_value
from amplihack.recipes.values import DEEPEST_MADE, Value, is_too_deep, tail, to_json
from amplihack.records import replace

_OUTPUT_TAIL = 200


async def call_recipe(job: Job, action: SubRecipe) -> Done:
    """Run the sub-recipe to its end. Raises StepFailure."""
    run = job.run
    name, located = _find(job, action)
    for what in located.remarks:
        run.warn("", what)
    passed = _passed(job, action)
    first = first_values(action, located.recipe, job.frame.scope.values, passed)
    scope = Scope(conformed(located.recipe, first))
    inner = job.frame.enter(located.recipe, located.path, scope, job.identity, action.limits)
    if problem := preflight(run, located.recipe, scope.values):
        run.note_left(located.recipe.steps, inner)
        raise StepFailure(problem, hopeless=True)
    recipe = located.recipe
    # The masking listeners must learn the values before the first step can print one.
    hidden = {name: scope.values[name] for name in recipe.secrets if name in scope.values}
    count = len(recipe.steps)
    run.record(RecipeEntered(job.identity, recipe.name, count, inner.depth, hidden, located.path))
    if inner.budget is not job.frame.budget:
        inner.budget.used = run.state.executed(inner.prefix)
    ended = await run_stages(run, located.recipe, inner)
    if not ended.success:
        return await _after_failure(job, action, name, ended.results)
    return _scope_out(job, action, inner, passed, ended.results)


def _find(job: Job, action: SubRecipe) -> tuple[str, Located]:
    frame = job.frame
    levels = levels_for_call(frame.levels, action.limits)
    if levels <= 0:
        raise StepFailure(
            f"Maximum recipe recursion depth ({frame.depth + levels}) exceeded. "
            "Check for circular recipe references.",
            hopeless=True,
        )
    rendered = render_text(action.recipe.text, frame.view())
    job.missing(rendered.missing, "recipe")
    name = rendered.text.strip()
    if not name:
        written = action.recipe.text.strip()
        raise StepFailure(
            f"'recipe: {written}' names no recipe: it renders empty"
            if written
            else "Recipe step is missing the 'recipe' field",
            hopeless=True,
            fix="give the name or the path of a recipe",
        )
    try:
        return name, job.run.world.recipes.sub_recipe(name, frame.path)
    except AmplihackError as error:
        fix = error.fix if error.exit_code == 3 else ""  # the problems of a file have their own
        raise StepFailure(_problems(name, error), hopeless=True, fix=fix) from error


def _problems(name: str, error: AmplihackError) -> str:
    if error.exit_code == 3:
        return error.what
    lines = [
        f"{problem.placed}\n  fix: {problem.fix}" if problem.fix else problem.placed
        for problem in error.problems
    ]
    return f"Failed to parse sub-recipe '{name}': " + "\n".join(lines)


def _passed(job: Job, action: SubRecipe) -> dict[str, Value]:
    passed, missing = render_value(dict(action.context), job.frame.view())
    job.missing(missing, "context")
    return dict(passed) if isinstance(passed, dict) else {}


def _scope_out(
    job: Job, action: SubRecipe, inner: Frame, passed: dict[str, Value], results: tuple[StepResult, ...]
) -> Done:
    """Return what the child leaves behind.

    Inherited: what it wrote flows back. Isolated, or where the caller reaches into the result: it comes back
    as one value. Where the child has an `output:`, that is the value of the step; callers of the other
    dialect expect the isolated value all the same.
    """
    done = Done(text="", degraded=degraded_inside(results))
    scope, words = inner.scope, inner.recipe.summary
    if words is not None and job.frame.recipe.dialect == "amplihack":
        rendered = render_text(words.text, inner.view())
        job.missing(rendered.missing, f"the output of '{inner.recipe.name}'")
        text = rendered.text.rstrip("\n")
        return replace(done, text=text, writes=scope.changes() if action.mode == "inherit" else {})
    writes = scope.changes() if action.mode == "inherit" else {}
    if action.mode == "inherit" and not _reached_into(job):
        summary = RunResult(
            run_id=job.run.options.run_id,
            recipe_name=inner.recipe.name,
            ending="completed",
            # Without times: the value of a step should not be another one each time it runs.
            step_results=tuple(replace(each, duration=None) for each in results),
        )
        return replace(done, text=summary.to_text().strip(), writes=writes)
    own = scope.values if action.mode == "isolated" else inner.recipe.context  # the rest is the caller's
    value = {  # sorted: the order of writing is another one after a crash
        name: each
        for name, each in sorted(scope.values.items())
        if ((name in own and name not in passed) or name in scope.written) and name != APPROVAL_MESSAGE
    }
    if is_too_deep(value):
        what = f"the result of '{inner.recipe.name}' is nested more than {DEEPEST_MADE} levels deep"
        raise StepFailure(what, hopeless=True, fix="do not put a value into a list or map again and again")
    return replace(done, text=to_json(value), value=value, writes=writes)


def _reached_into(job: Job) -> bool:
    """Tell whether the calling recipe uses parts of the step's result, as in `{{call.part}}`, or collects it.

    A list of summaries would tell nobody anything.
    """
    if job.step.loop and job.step.loop.collect:
        return True
    from amplihack.recipes.check.variable_uses import reached_into  # deferred: hardly any run needs it

    known, recipe = job.run.reached_into, job.frame.recipe
    if recipe.name not in known:
        known[recipe.name] = reached_into(recipe)
    return job.step.result_name in known[recipe.name]


async def _after_failure(job: Job, action: SubRecipe, name: str, results: tuple[StepResult, ...]) -> Done:
    summary = _failure_summary(results)
    if job.run.ends(job.frame):
        raise run_ended(job.run, f"Sub-recipe '{name}' ended: ")
    if action.recovery:
        from amplihack.recipes.engine.recovery import recover  # deferred: hardly any recipe asks for it

        return await recover(job, name, summary, results)
    raise StepFailure(f"Sub-recipe '{name}' failed.\n{summary}")


def _failure_summary(results: Sequence[StepResult]) -> str:
    failed = [_failed_line(result) for result in results if result.status == "failed" and not result.allowed]
    completed = [result.step_id for result in results if result.status in ("completed", "degraded")]
    if not failed and not completed:
        return "No child step details captured."
    lines = ["Failed steps:", *failed] if failed else []
    return "\n".join([*lines, *([f"Completed steps: {', '.join(completed)}"] if completed else [])])


def _failed_line(result: StepResult) -> str:
    if result.error:
        return f"- {result.step_id} [error]: {result.error}"
    if result.output:
        return f"- {result.step_id} [output tail]: {tail(result.output, _OUTPUT_TAIL)}"
    return f"- {result.step_id} [no detail]"
