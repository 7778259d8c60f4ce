"""What a step does, once: a shell command, a question to an agent, another recipe, or a body of steps.

Retries, time limits and JSON are the same for every kind and stand here, around the kinds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import assert_never

from amplihack.errors import AmplihackError
from amplihack.recipes.engine.agent import ask, correct_json
from amplihack.recipes.engine.bash import run_bash
from amplihack.recipes.engine.numbers import number_of
from amplihack.recipes.engine.state import Done, Job, StepFailure
from amplihack.recipes.engine.sub_recipe import call_recipe
from amplihack.recipes.events import Retrying
from amplihack.recipes.model import Agent, Bash, Body, Retry, Step, SubRecipe
from amplihack.recipes.outputs import find_json, stored_value
from amplihack.recipes.values import Missing, Value, to_json
from amplihack.records import replace

_BEGINNING = 200  # characters of an answer that was no JSON, shown in the error


async def act(job: Job) -> Done:
    """Do what the step says, again if it fails and may be tried again. Raises StepFailure."""
    retry = job.step.retry or Retry(max_attempts=1)
    attempts = max(1, int(number_of(retry.max_attempts, job.frame, "retry.max_attempts")))
    attempt = await _first_attempt(job)
    while True:
        try:
            return replace(await _once(job), attempts=attempt)
        except StepFailure as failure:
            failure.attempts = attempt
            if attempt >= attempts or not _worth_retrying(retry, failure):
                raise
            await _pause(job, retry, attempt, attempts, failure)
        attempt += 1


async def _first_attempt(job: Job) -> int:
    """Return the number of the attempt to begin with: in a later life, the one that was due when it ended."""
    known = job.run.state.instance(job.identity)
    if known is None or known.attempt == 1:
        return 1
    job.frame.budget.spend(known.wasted.executed)
    clock = job.run.world.clock
    await clock.sleep(max(0.0, known.due - clock.wall()))
    return known.attempt


def _worth_retrying(retry: Retry, failure: StepFailure) -> bool:
    return not failure.hopeless and (failure.transient or not retry.transient_only)


async def _pause(job: Job, retry: Retry, attempt: int, of: int, failure: StepFailure) -> None:
    """Wait before the next attempt; twice as long each time, where the recipe says so."""
    clock = job.run.world.clock
    grown = retry.initial_delay * (2.0 ** min(attempt - 1, 60) if retry.doubling else 1)
    wait = min(grown, retry.max_delay)
    due = clock.wall() + wait
    job.run.record(Retrying(job.identity, attempt + 1, of, wait, failure.what, due, failure.spent))
    await clock.sleep(wait)


async def _once(job: Job) -> Done:
    try:
        limit = _time_limit(job)
        match job.step.action:
            case Bash() as action:
                done = await run_bash(job, action, limit)
            case Agent() as action:
                done = await ask(job, action, limit)
            case SubRecipe() as action:
                done = await _within(limit, call_recipe(job, action))
            case Body() as action:
                done = await _within(limit, _run_body(job, action))
            case _:
                assert_never(job.step.action)
        return await _with_json(job, limit, done)
    except StepFailure as failure:
        if failure.timed_out:  # what earlier attempts and steps inside it left running goes with it
            await job.run.world.shell.end_step(job.identity)
        raise
    except AmplihackError as error:  # the world could not do it: no program, no room, no such character
        raise StepFailure(f"{job.step.kind} step failed: {error.what}", hopeless=True) from error


def _time_limit(job: Job) -> float | None:
    """Seconds that the step may take; none unless somebody asked for a limit.

    A default is for steps that do something themselves: those that hold others take as long as they do.
    """
    if job.step.timeout is not None:
        return number_of(job.step.timeout, job.frame, "timeout") or None
    if isinstance(job.step.action, Bash | Agent):
        return job.frame.default_timeout or job.run.options.step_timeout
    return None


async def _within(limit: float | None, work: Awaitable[Done]) -> Done:
    """Cancels the work, and every process below it, when its time is up."""
    try:
        async with asyncio.timeout(limit) as deadline:
            return await work
    except TimeoutError as error:
        if not deadline.expired():
            raise
        raise StepFailure(f"timed out after {limit:g}s", transient=True, timed_out=True) from error


async def _run_body(job: Job, body: Body) -> Done:
    ended = await job.run.steps(job.run, body.steps, job.frame)
    if ended.sequel == "stop":
        culprit = next((each for each in ended.results if each.status == "failed" and not each.allowed), None)
        raise StepFailure(culprit.error if culprit else "the body was stopped")
    last = body.steps[-1].result_name if body.steps else ""
    done = next((each for each in reversed(ended.results) if each.status in ("completed", "degraded")), None)
    return Done(
        text=done.output if done else "",
        value=job.frame.scope.values.get(last),
    )


async def _with_json(job: Job, limit: float | None, done: Done) -> Done:
    """Finds the JSON that the step promises; an agent gets one chance to answer better."""
    rule, action = job.step.json, job.step.action
    if rule is None or isinstance(action, Body) or not isinstance(done.value, Missing):
        return done
    found = find_json(done.text, rule.pick)
    if isinstance(found, Missing) and isinstance(action, Agent):
        done = await correct_json(job, action, limit, done)
        found = find_json(done.text, rule.pick)
    if not isinstance(found, Missing):
        return replace(done, value=found, text=to_json(found))
    if rule.required:
        raise StepFailure(
            f"parse_json failed: output is not valid JSON{_beginning(done.text)}",
            output=done.text,
            stderr=done.stderr,
            usage=done.usage,
            cost_usd=done.cost_usd,
        )
    return replace(done, degraded="parse_json found no JSON in the output; the raw text is kept")


def _beginning(text: str) -> str:
    line = " ".join(text[: _BEGINNING * 2].split())
    if not line:
        return ": it is empty"
    return f"; it begins: {line[:_BEGINNING]}" + ("…" if len(line) > _BEGINNING else "")


def result_value(step: Step, done: Done) -> Value:
    """What later steps find under the step's name."""
    if not isinstance(done.value, Missing):
        return done.value
    return stored_value(done.text, keep_text=step.keep_text)
