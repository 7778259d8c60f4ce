"""What a step does, once: a shell command, a question to an agent, another recipe, or a body of steps.

Retries, time limits and JSON are the same for every kind and stand here, around the kinds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, assert_never

from amplihack.recipes.engine.agent import ask, correct_json
from amplihack.recipes.engine.bash import run_bash
from amplihack.recipes.engine.numbers import number_of
from amplihack.recipes.engine.state import Done, Frame, Run, StepFailure
from amplihack.recipes.engine.sub_recipe import call_recipe
from amplihack.recipes.events import Retrying
from amplihack.recipes.model import Agent, Bash, Body, Retry, Step, SubRecipe
from amplihack.recipes.outputs import find_json
from amplihack.recipes.values import Missing, to_json

if TYPE_CHECKING:
    from amplihack.recipes.engine.steps import Outcome

RunSteps: TypeAlias = "Callable[[Run, Sequence[Step], Frame], Awaitable[Outcome]]"


async def act(run: Run, step: Step, frame: Frame, identity: str, run_steps: RunSteps) -> Done:
    """Does what the step says, again if it fails and may be tried again. Raises StepFailure."""
    retry = step.retry or Retry(max_attempts=1)
    attempts = max(1, int(number_of(retry.max_attempts, frame, "retry.max_attempts") or 1))
    delay = retry.initial_delay
    for attempt in range(1, attempts + 1):
        try:
            done = await _once(run, step, frame, identity, run_steps)
        except StepFailure as failure:
            failure.attempts = attempt
            if attempt == attempts or not _worth_retrying(retry, failure):
                raise
            wait = min(delay, retry.max_delay)
            run.record(Retrying(identity, attempt + 1, attempts, wait, failure.what))
            await run.world.clock.sleep(wait)
            delay = delay * 2 if retry.doubling else delay
        else:
            return replace(done, attempts=attempt)
    raise AssertionError("unreachable: the last attempt returns or raises")


def _worth_retrying(retry: Retry, failure: StepFailure) -> bool:
    return not failure.hopeless and (failure.transient or not retry.transient_only)


async def _once(run: Run, step: Step, frame: Frame, identity: str, run_steps: RunSteps) -> Done:
    limit = time_limit(run, step, frame)
    match step.action:
        case Bash() as action:
            frame.budget.take()
            done = await run_bash(run, step, action, frame, identity, limit)
        case Agent() as action:
            frame.budget.take()
            done = await ask(run, step, action, frame, identity, limit)
        case SubRecipe() as action:
            done = await _within(limit, call_recipe(run, step, action, frame, identity, run_steps))
        case Body() as action:
            done = await _within(limit, _run_body(run, action, frame, run_steps))
        case _:
            assert_never(step.action)
    return await _with_json(run, step, frame, identity, limit, done)


def time_limit(run: Run, step: Step, frame: Frame) -> float | None:
    """Seconds that the step may take; none unless somebody asked for a limit."""
    if step.timeout is not None:
        return number_of(step.timeout, frame, "timeout") or None
    return frame.recipe.default_step_timeout or run.options.step_timeout


async def _within(limit: float | None, work: Awaitable[Done]) -> Done:
    """Cancels the work, and every process below it, when its time is up."""
    try:
        async with asyncio.timeout(limit) as deadline:
            return await work
    except TimeoutError as error:
        if not deadline.expired():
            raise
        raise StepFailure(f"timed out after {limit:g}s", transient=True) from error


async def _run_body(run: Run, body: Body, frame: Frame, run_steps: RunSteps) -> Done:
    ended = await run_steps(run, body.steps, frame)
    if ended.sequel == "stop":
        failed = next((each for each in ended.results if each.status == "failed" and not each.allowed), None)
        raise StepFailure(failed.error if failed else "the body was stopped", children=ended.results)
    last = body.steps[-1].result_name if body.steps else ""
    done = next((each for each in reversed(ended.results) if each.status in ("completed", "degraded")), None)
    return Done(
        text=done.output if done else "",
        value=frame.scope.values.get(last),
        children=ended.results,
    )


async def _with_json(
    run: Run, step: Step, frame: Frame, identity: str, limit: float | None, done: Done
) -> Done:
    """Finds the JSON that the step promises; an agent gets one chance to answer better."""
    if step.json is None or isinstance(step.action, Body) or not isinstance(done.value, Missing):
        return done
    found = find_json(done.text, step.json.pick)
    if isinstance(found, Missing) and isinstance(step.action, Agent):
        done = await correct_json(run, step, step.action, frame, identity, limit, done)
        found = find_json(done.text, step.json.pick)
    if not isinstance(found, Missing):
        return replace(done, value=found, text=to_json(found))
    if step.json.required:
        raise StepFailure("parse_json failed: output is not valid JSON", stderr=done.stderr)
    return replace(done, degraded="parse_json found no JSON in the output; the raw text is kept")
