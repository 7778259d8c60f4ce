"""Do the action of a step: a shell command, an agent's answer, another recipe, or a body of steps.

Retries, time limits and JSON work the same for every kind of action, so they stand here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import assert_never

from amplihack.errors import AmplihackError
from amplihack.recipes.engine.bash import run_bash
from amplihack.recipes.engine.job import Done, Job, StepFailure, degraded_inside, run_ended
from amplihack.recipes.engine.numbers import count_of, seconds_of
from amplihack.recipes.engine.room import has_room
from amplihack.recipes.events import Retrying
from amplihack.recipes.model import Agent, Bash, Body, JsonRule, Retry, Step, SubRecipe
from amplihack.recipes.outputs import find_json, stored_value
from amplihack.recipes.results import StepResult
from amplihack.recipes.semantics import still_run
from amplihack.recipes.values import Missing, Value, to_json
from amplihack.records import replace

_ONCE = Retry(max_attempts=1)
_BEGINNING = 200  # characters of an answer that was no JSON, which messages show


async def act(job: Job) -> Done:
    """Do the action of the step, with retries. Raises StepFailure."""
    if isinstance(job.step.action, Agent):
        from amplihack.recipes.engine.staging import stages, staging  # deferred: many recipes ask no agent

        if stages(job, job.step.action):
            return await staging(job, lambda: _attempts(job))
    return await _attempts(job)


async def _attempts(job: Job) -> Done:
    retry = job.step.retry or _ONCE
    attempts = count_of(retry.max_attempts, job.frame, "retry.max_attempts", least=1)
    attempt = await _first_attempt(job, retry)
    while True:
        try:
            done = await _once(job)
            return done if attempt == 1 else replace(done, attempts=attempt)
        except StepFailure as failure:
            failure.attempts = attempt
            if attempt >= attempts or not _worth_retrying(retry, failure):
                raise
            await _pause(job, retry, attempt, attempts, failure)
        attempt += 1


async def _first_attempt(job: Job, retry: Retry) -> int:
    """Return the first attempt to make. After a crash it is the attempt that was due then."""
    known = job.run.state.instance(job.identity)
    if known is None or known.attempt == 1:
        return 1
    clock = job.run.world.clock
    # Never longer than the whole pause: the clock may have been set back meanwhile.
    await clock.sleep(min(max(0.0, known.due - clock.wall()), _delay(retry, known.attempt - 1)))
    return known.attempt


def _worth_retrying(retry: Retry, failure: StepFailure) -> bool:
    return not failure.hopeless and (failure.transient or not retry.transient_only)


def _delay(retry: Retry, attempt: int) -> float:
    """Return the seconds between a failed attempt and the next."""
    # The exponent is limited because a float overflows at 2**1024.
    grown = retry.initial_delay * (2.0 ** min(attempt - 1, 60) if retry.doubling else 1)
    return min(grown, retry.max_delay)


async def _pause(job: Job, retry: Retry, attempt: int, of: int, failure: StepFailure) -> None:
    """Wait before the next attempt, and say until when."""
    clock = job.run.world.clock
    wait = _delay(retry, attempt)
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
                from amplihack.recipes.engine.agent import ask  # deferred: many recipes ask no agent

                done = await ask(job, action, limit)
            case SubRecipe() | Body() if not has_room():
                raise StepFailure(
                    "the steps are nested too deeply to go on",
                    hopeless=True,
                    fix="call fewer recipes inside each other, or lower `max_depth` to stop earlier",
                )
            case SubRecipe() as call:
                from amplihack.recipes.engine.sub_recipe import call_recipe  # deferred, as above

                done = await _within(limit, job, lambda inner: call_recipe(inner, call))
            case Body() as body:
                done = await _within(limit, job, lambda inner: _run_body(inner, body))
            case _:
                assert_never(job.step.action)
        return await _with_json(job, limit, done)
    except StepFailure as failure:
        if failure.timed_out:  # what earlier attempts and steps inside it left running goes with it
            await job.run.world.shell.end_step(job.identity)
        raise
    except AmplihackError as error:  # the world could not do it: no program, no room, no such character
        what = f"{job.step.kind} step failed: {error.what}"
        raise StepFailure(what, hopeless=True, fix=error.fix) from error


def _time_limit(job: Job) -> float | None:
    """Return the seconds that the step may take, or None without a limit.

    The default limit is for steps that work themselves. A step that holds others takes as long as they do.
    """
    if job.step.timeout is not None:
        return seconds_of(job.step.timeout, job.frame, "timeout") or None
    if isinstance(job.step.action, Bash | Agent):
        return job.frame.default_timeout or job.run.options.step_timeout
    return None


async def _within(limit: float | None, job: Job, work: Callable[[Job], Awaitable[Done]]) -> Done:
    """Cancel the work, and every process below it, when its time is up. What always runs is still done."""
    if limit is None:
        return await work(job)
    try:
        async with asyncio.timeout(limit) as deadline:
            return await work(replace(job, frame=job.frame.until(deadline)))
    except TimeoutError as error:
        # A TimeoutError from inside the work is not ours.
        if not deadline.expired():
            raise
        raise StepFailure(f"timed out after {limit:g}s", transient=True, timed_out=True) from error


async def _run_body(job: Job, body: Body) -> Done:
    try:
        ended = await job.run.steps(job.run, body.steps, job.frame)
    finally:
        job.run.note_left(body.steps, job.frame)
    if ended.sequel == "stop":
        if job.run.ends(job.frame):
            raise run_ended(job.run)
        culprit = next((each for each in ended.results if each.status == "failed" and not each.allowed), None)
        raise StepFailure(culprit.error if culprit else "the body was stopped")
    told = _last_told(ended.results, body, ("completed", "degraded"))
    # A step that was skipped has set nothing: what stands under its name is of another round.
    ran = _last_told(ended.results, body, ("completed", "degraded", "failed"))
    name = next((step.result_name for step in body.steps if ran and step.id == ran.step_id), "")
    return Done(
        text=told.output if told else "",
        value=job.frame.scope.values.get(name),
        degraded=degraded_inside(ended.results),
    )


def _last_told(results: Sequence[StepResult], body: Body, statuses: tuple[str, ...]) -> StepResult | None:
    """Return the last result with one of these statuses; steps that clean up count only without another."""
    found = [each for each in reversed(results) if each.status in statuses]
    tidying = {step.id for step in still_run(body.steps)}
    return next((each for each in found if each.step_id not in tidying), found[0] if found else None)


async def _with_json(job: Job, limit: float | None, done: Done) -> Done:
    """Find the JSON that the step promises. An agent is asked once more if it gave none that fits."""
    rule, action = job.step.json, job.step.action
    if rule is None or isinstance(action, Body) or not isinstance(done.value, Missing):
        return done
    found, mismatch = _look_for(rule, done.text)
    if isinstance(action, Agent) and (mismatch or isinstance(found, Missing)):
        from amplihack.recipes.engine.agent import correct_json

        second = await correct_json(job, action, limit, done, mismatch)
        done = replace(second, text=_kept(job, rule, done.text, second.text))
        found, mismatch = _look_for(rule, done.text)
    none = isinstance(found, Missing)
    if rule.required and (none or mismatch):
        what = "parse_json failed: output is not valid JSON" + _beginning(done.text)
        raise StepFailure(
            what if none else f"the JSON of the output does not fit json_schema: {mismatch}",
            output=done.text,
            stderr=done.stderr,
            usage=done.usage,
            cost_usd=done.cost_usd,
        )
    if isinstance(found, Missing):
        kept = "; the raw text is kept" if done.text.strip() else ""
        what = f"parse_json found no JSON in the output{kept}{_beginning(done.text)}"
        return replace(done, degraded=what)
    unfit = f"the JSON of the output does not fit json_schema: {mismatch}; it is kept as it is"
    return replace(done, value=found, text=to_json(found), degraded=unfit if mismatch else done.degraded)


def _kept(job: Job, rule: JsonRule, first: str, second: str) -> str:
    """Return what is kept of the two answers of an agent: the later one with JSON, or both."""
    for text in (second, first):
        if not isinstance(_look_for(rule, text)[0], Missing):
            return text
    if first.strip() == second.strip():
        return first
    job.warn("the second answer was not JSON either: both are kept, the second below the first")
    return f"{first}\n\n{second}"


def _look_for(rule: JsonRule, text: str) -> tuple[Value | Missing, str]:
    """Return the JSON in a text, or MISSING, and why it does not fit the schema of the step."""
    if rule.schema is None:
        return find_json(text, rule.pick), ""
    from amplihack.recipes.answer_schema import mismatch  # deferred: most recipes have no schema

    schema = rule.schema
    found = find_json(text, rule.pick, lambda value: not mismatch(value, schema))
    return found, "" if isinstance(found, Missing) else mismatch(found, schema)


def _beginning(text: str) -> str:
    line = " ".join(text[: _BEGINNING * 2].split())
    if not line:
        return ": it is empty"
    return f"; it begins: {line[:_BEGINNING]}" + ("…" if len(line) > _BEGINNING else "")


def result_value(step: Step, done: Done) -> Value:
    """Return the value that later steps find under the step's name."""
    if not isinstance(done.value, Missing):
        return done.value
    return stored_value(done.text, keep_text=step.keep_text)
