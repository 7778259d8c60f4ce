"""A step that runs another recipe: what goes in, what comes out, and what a failure tells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from amplihack.errors import AmplihackError
from amplihack.recipes.engine.preflight import preflight
from amplihack.recipes.engine.recovery import recover
from amplihack.recipes.engine.stages import run_stages
from amplihack.recipes.engine.state import Done, Frame, Run, Scope, StepFailure, missing_names
from amplihack.recipes.events import RecipeEntered
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Recipe, Step, SubRecipe
from amplihack.recipes.results import RunResult, StepResult
from amplihack.recipes.templates import render_text, render_value
from amplihack.recipes.values import Value, tail, to_json

if TYPE_CHECKING:
    from amplihack.recipes.engine.actions import RunSteps

_OUTPUT_TAIL = 200


async def call_recipe(
    run: Run, step: Step, action: SubRecipe, frame: Frame, identity: str, run_steps: RunSteps
) -> Done:
    """Runs the sub-recipe to its end. Raises StepFailure."""
    name, located = _find(run, action, frame, identity)
    passed = _passed(run, action, frame, identity)
    scope = _scope_in(action, located.recipe, frame, passed)
    inner = frame.enter(located.recipe, located.path, scope, identity, action.limits)
    if problem := preflight(run, located.recipe, scope.values):
        raise StepFailure(problem)
    run.record(RecipeEntered(identity, located.recipe.name, len(located.recipe.steps), inner.depth))
    ended = await run_stages(run, located.recipe, inner, run_steps)
    if not ended.success:
        return await _after_failure(run, step, action, frame, identity, name, ended.results)
    return _scope_out(run, action, located.recipe, scope, passed, ended.results)


def _find(run: Run, action: SubRecipe, frame: Frame, identity: str) -> tuple[str, Located]:
    if frame.depth >= frame.max_depth:
        raise StepFailure(
            f"Maximum recipe recursion depth ({frame.max_depth}) exceeded. "
            "Check for circular recipe references.",
            hopeless=True,
        )
    rendered = render_text(action.recipe.text, frame.view())
    missing_names(run, identity, rendered.missing, "recipe")
    if not rendered.text.strip():
        raise StepFailure("Recipe step is missing the 'recipe' field", hopeless=True)
    try:
        return rendered.text, run.world.recipes.sub_recipe(rendered.text.strip(), frame.path)
    except AmplihackError as error:
        raise StepFailure(_problems(rendered.text, error), hopeless=True) from error


def _problems(name: str, error: AmplihackError) -> str:
    if error.exit_code == 3:
        return error.what
    lines = [
        f"{problem.where}: {problem.what}" if problem.where else problem.what for problem in error.problems
    ]
    return f"Failed to parse sub-recipe '{name}': " + "\n".join(lines)


def _passed(run: Run, action: SubRecipe, frame: Frame, identity: str) -> dict[str, Value]:
    passed, missing = render_value(dict(action.context), frame.view())
    missing_names(run, identity, missing, "context")
    return dict(passed) if isinstance(passed, dict) else {}


def _scope_in(action: SubRecipe, recipe: Recipe, frame: Frame, passed: dict[str, Value]) -> Scope:
    inherited = frame.scope.values if action.mode == "inherit" else {}
    return Scope({**recipe.context, **inherited, **passed})


def _scope_out(
    run: Run,
    action: SubRecipe,
    recipe: Recipe,
    scope: Scope,
    passed: dict[str, Value],
    results: tuple[StepResult, ...],
) -> Done:
    """Inherited: what the child wrote flows back. Isolated: it comes back as one value."""
    summary = RunResult(
        run_id=run.options.run_id, recipe_name=recipe.name, ending="completed", step_results=results
    )
    degraded = _degraded(results)
    if action.mode == "inherit":
        return Done(
            text=summary.to_text().strip(), writes=scope.changes(), children=results, degraded=degraded
        )
    value = {name: each for name, each in scope.values.items() if name not in passed or name in scope.written}
    return Done(text=to_json(value), value=value, children=results, degraded=degraded)


def _degraded(results: Iterable[StepResult]) -> str:
    names = [result.step_id for result in results if result.status == "degraded"]
    return f"degraded inside: {', '.join(names)}" if names else ""


async def _after_failure(
    run: Run,
    step: Step,
    action: SubRecipe,
    frame: Frame,
    identity: str,
    name: str,
    results: tuple[StepResult, ...],
) -> Done:
    summary = _failure_summary(results)
    if run.ending is not None:
        raise StepFailure(f"Sub-recipe '{name}' ended: {run.ending_reason}", children=results, hopeless=True)
    if action.recovery:
        return await recover(run, step, frame, identity, name, summary, results)
    raise StepFailure(f"Sub-recipe '{name}' failed.\n{summary}", children=results)


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
