"""Run a recipe from its first step to its result."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from amplihack.errors import AmplihackError, ConditionError
from amplihack.recipes.engine.frame import Budget, Frame, Scope, recipe_facts
from amplihack.recipes.engine.job import Options, Run, undefined
from amplihack.recipes.engine.pace import Pace
from amplihack.recipes.engine.preflight import preflight
from amplihack.recipes.engine.stages import Ended, run_stages
from amplihack.recipes.engine.steps import run_steps
from amplihack.recipes.events import RunFinished, RunStarted, StepFinished
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Recipe
from amplihack.recipes.ports import LeftRunning, World
from amplihack.recipes.results import RunResult, StepResult
from amplihack.recipes.run_parts import PREFLIGHT
from amplihack.recipes.run_state import RunState
from amplihack.recipes.semantics import depth_limit, step_limit
from amplihack.recipes.templates import render_text
from amplihack.recipes.values import Value

_MOST_TOLD = 20  # background processes of a step that are named; more are counted


async def run_recipe(
    located: Located, overrides: Mapping[str, Value], world: World, options: Options
) -> RunResult:
    """Run a recipe whose `extends` is already merged in.

    When cancelled, it ends what is running, records the result so far as `interrupted`, and stays cancelled.
    """
    recipe = located.recipe
    pace = Pace(world.clock, recipe.rate_limit, most=options.max_agents)
    run = Run(world, options, pace, run_steps, state=RunState(world.journal.history()))
    started = world.clock.now()
    run.record(RunStarted(options.run_id, recipe.name, recipe.version, len(recipe.steps)))
    frame = _first_frame(run, located, overrides)
    try:
        ended = await _run(run, recipe, frame)
        await _end_background(run, over=ended.success)
    except asyncio.CancelledError:
        # Cancelled by Ctrl-C or a caller: the listeners must still get a result before the run ends.
        run.ending, run.ending_reason = "interrupted", "the run was interrupted"
        try:
            await _end_background(run, over=False)
        finally:
            _finish(run, recipe, frame, Ended(run.state.results(), False), started)
        raise
    return _finish(run, recipe, frame, ended, started)


async def _end_background(run: Run, *, over: bool) -> None:
    """End processes that steps left running. This comes before the result, which lists them as warnings.

    `over` tells that nothing is left to do. Otherwise what is left may need what was ended.
    """
    try:
        left = await run.world.shell.close()
    except AmplihackError as error:
        run.warn("", error.what)
        return
    for step, commands in _by_step(left).items():
        known = run.state.instance(step)
        missed = not over and known is not None and known.finished and not known.recheck
        later = "; with `recheck: true`, the step starts it again when the run goes on" if missed else ""
        for command in commands[:_MOST_TOLD]:
            run.warn(
                step, f"a background process still ran at the end of the run and was ended{command}{later}"
            )
        if (more := len(commands) - _MOST_TOLD) > 0:
            run.warn(step, f"{more:,} more background processes still ran at its end and were ended")


def _by_step(left: Sequence[LeftRunning]) -> dict[str, list[str]]:
    """Return for each step the commands that it left running, with how many there were of the same."""
    counts: dict[str, dict[str, int]] = {}
    for each in left:
        of_step = counts.setdefault(each.step, {})
        of_step[each.command] = of_step.get(each.command, 0) + 1
    return {step: [_told(*each) for each in of_step.items()] for step, of_step in counts.items()}


def _told(command: str, count: int) -> str:
    text = f": {command}" if command else ""
    return f"{text} ({count} of them)" if count > 1 else text


def _first_frame(run: Run, located: Located, overrides: Mapping[str, Value]) -> Frame:
    recipe = located.recipe
    return Frame(
        recipe=recipe,
        path=located.path,
        depth=0,
        max_depth=depth_limit(recipe),
        budget=Budget(step_limit(recipe), used=run.state.executed()),
        scope=Scope({**recipe.context, **overrides}),
        default_timeout=recipe.default_step_timeout,
        facts={
            **recipe_facts(recipe),
            "session": {"id": run.options.run_id, "project": run.options.working_dir},
        },
    )


async def _run(run: Run, recipe: Recipe, frame: Frame) -> Ended:
    for remark in run.options.remarks:
        run.warn("", remark)
    if problem := preflight(run, recipe, frame.scope.values):
        failed = StepResult(
            step_id="preflight-validation",
            identity="preflight-validation",
            kind=PREFLIGHT,
            status="failed",
            error=problem,
        )
        run.record(StepFinished(failed, recipe.name, 0))
        run.note_left(recipe.steps, frame)
        return Ended((failed,), False)
    try:
        return await run_stages(run, recipe, frame)
    except ConditionError as error:
        run.ending_reason = error.what
        return Ended(run.state.results(), False)


def _finish(run: Run, recipe: Recipe, frame: Frame, ended: Ended, started: float) -> RunResult:
    summary = _summary(run, recipe, frame, ended)  # first: it may warn, or fail the run
    result = RunResult(
        run_id=run.options.run_id,
        recipe_name=recipe.name,
        ending=run.ending or ("completed" if ended.success else "failed"),
        step_results=run.state.results(),
        context=dict(frame.scope.values),
        duration=round(run.world.clock.now() - started, 6),
        error=run.ending_reason,
        warnings=run.state.warnings(),
        never_reached=run.state.never_reached(),
        summary=summary,
    )
    run.record(RunFinished(result))
    return result


def _summary(run: Run, recipe: Recipe, frame: Frame, ended: Ended) -> str:
    """Return the recipe's own closing text, if it has one and the run succeeded."""
    if recipe.summary is None or not ended.success or run.options.dry_run:
        return ""
    rendered = render_text(recipe.summary.text, frame.view())
    if rendered.missing:
        what = undefined(rendered.missing, "output")
        if run.options.strict_vars:
            run.ending, run.ending_reason = "failed", f"{what} (strict variables)"
            return ""
        run.warn("", f"{what}; it renders empty")
    return rendered.text.rstrip("\n")  # as the output of a step
