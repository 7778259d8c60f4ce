"""Run steps in order. Single steps, groups, loops and sub-recipes all take this one path."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence

from amplihack.errors import AmplihackError
from amplihack.recipes.engine.actions import act, result_value
from amplihack.recipes.engine.conditions import step_test
from amplihack.recipes.engine.frame import Frame, Scope
from amplihack.recipes.engine.hooks import run_hook
from amplihack.recipes.engine.job import Done, Job, Outcome, Run, Sequel, StepFailure, completed, failed
from amplihack.recipes.engine.loops import run_loop
from amplihack.recipes.events import OutputStored, StepFinished, StepStarted
from amplihack.recipes.model import Step
from amplihack.recipes.outputs import stored_value
from amplihack.recipes.results import StepResult
from amplihack.recipes.semantics import STEP_FACTS, batches
from amplihack.recipes.values import Value, to_json
from amplihack.records import replace

DRY_RUN_VALUE = "(dry-run)"


async def run_steps(run: Run, steps: Sequence[Step], frame: Frame) -> Outcome:
    """Run the steps in order until one of them ends the sequence."""
    results: list[StepResult] = []
    position, of = 0, frame.of or len(steps)
    for group in batches(steps):
        finished = await _run_group(run, group, frame, frame.before + position, of)
        results += finished
        position += len(group)
        sequel = _sequel(run, group, finished)
        if sequel != "next":
            return Outcome(tuple(results), sequel, tuple(step.id for step in steps[position:]))
    return Outcome(tuple(results), "next")


def _sequel(run: Run, group: Sequence[Step], results: Sequence[StepResult]) -> Sequel:
    failures = [
        (step, result) for step, result in zip(group, results, strict=True) if result.status == "failed"
    ]
    if run.ending is not None or any(not result.allowed for _, result in failures):
        return "stop"
    return "leave" if any(step.on_error == "skip_remaining" for step, _ in failures) else "next"


async def _run_group(
    run: Run, group: Sequence[Step], frame: Frame, position: int, of: int
) -> list[StepResult]:
    """Run one step on the frame's own variables, or several in parallel, each on a copy."""
    if len(group) == 1:
        return [await run_step(run, group[0], frame, position + 1, of)]
    # Copies for every member at once, so that none sees what another writes, however they are scheduled.
    frames = [frame.fork() for _ in group]
    slots = asyncio.Semaphore(run.options.max_parallel)

    async def member(index: int) -> StepResult:
        async with slots:
            return await run_step(run, group[index], frames[index], position + index + 1, of)

    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(member(index)) for index in range(len(group))]
    # Merged after all have ended, in order of definition: the result does not depend on timing.
    merge(run, frame, [(step.id, each.scope) for step, each in zip(group, frames, strict=True)])
    return [task.result() for task in running]


def merge(run: Run, frame: Frame, members: Sequence[tuple[str, Scope]]) -> None:
    """Copy what the members wrote into the frame, in order of definition, and warn about clashing names."""
    writer: dict[str, str] = {}
    for member, scope in members:
        for name in scope.written:
            if name in writer:
                run.warn(
                    frame.identity(member), f"'{name}' is written by '{writer[name]}' too; this one counts"
                )
            writer[name] = member
        frame.scope.write(scope.changes(), {member: scope.ledger[member]})


async def run_step(run: Run, step: Step, frame: Frame, number: int, of: int) -> StepResult:
    """Run one step of any kind to its end. Only cancellation and our own bugs raise."""
    identity = frame.identity(step.id)
    job = Job(run, step, frame.with_facts(step={"id": step.id, "index": number - 1}), identity, step.id)
    if (recalled := job.recall()) is not None:
        _enter_ledger(frame, step, recalled.result)
        return recalled.result
    run.record(
        StepStarted(
            identity,
            step.id,
            step.kind,
            step.title or step.id,
            frame.recipe.name,
            frame.depth,
            number,
            of,
            step.idempotent,
        )
    )
    result = run.state.complete(await _decide_and_run(job))
    _enter_ledger(frame, step, result)
    run.record(StepFinished(result, frame.recipe.name, frame.depth))
    return result


async def _decide_and_run(job: Job) -> StepResult:
    if job.run.options.excludes(job.step.when_tags):
        return replace(job.blank, skip_reason="tags")
    if job.run.options.dry_run:
        return _dry(job)
    try:
        wanted = step_test(job, job.step.condition, "condition")
        blank = job.claim() if wanted and job.step.loop is None else job.blank
    except StepFailure as failure:
        return replace(
            job.blank, status="failed", error=failure.what, allowed=job.allows(failure), duration=0.0
        )
    if not wanted:
        condition = job.step.condition.text.strip() if job.step.condition else ""
        return replace(blank, skip_reason=f"condition: {condition}", duration=0.0)
    return await _run(job, blank)


def _dry(job: Job) -> StepResult:
    _store(job, {job.step.result_name: DRY_RUN_VALUE})
    output = to_json({"dry_run": True, "step": job.step.id}) if job.step.json else "[dry run]"
    return replace(job.blank, output=output, skip_reason="dry run", duration=0.0)


async def _run(job: Job, blank: StepResult) -> StepResult:
    run = job.run
    await run_hook(run, "pre_step", job.frame, blank)
    if job.step.loop is None:
        result = await _result(job, blank, act(job))
    else:
        with job.frame.scope.watching() as written:
            result = await _result(job, blank, run_loop(job, job.step.loop))
            if written.values or written.ledger:  # what its rounds wrote belongs to it as well
                run.record(OutputStored(job.identity, written.values, written.ledger))
    if result.status == "failed" and run.ending == "waiting":
        return result  # a gate inside waits for a person: nothing failed, and a run that goes on comes back
    await run_hook(run, "on_error" if result.status == "failed" else "post_step", job.frame, result)
    return result


async def _result(job: Job, blank: StepResult, work: Awaitable[Done]) -> StepResult:
    started = job.run.world.clock.now()
    try:
        done = await work
    except AmplihackError as error:
        # A template or a port may raise other errors of ours: they fail the step, not the run.
        failure = error if isinstance(error, StepFailure) else StepFailure(error.what, fix=error.fix)
        return _failed(job, blank, failure, started)
    return _completed(job, blank, done, started)


def _completed(job: Job, blank: StepResult, done: Done, started: float) -> StepResult:
    # A step with nothing to do is skipped: like every skipped step it leaves no result.
    values: dict[str, Value] = {} if done.skipped else {job.step.result_name: result_value(job.step, done)}
    # Without an `output` of its own, a step leaves alone what a sub-recipe stored under the same name.
    values = {**done.writes, **values} if job.step.output else {**values, **done.writes}
    _store(job, values)
    if done.degraded:
        job.warn(done.degraded)
    return completed(blank, done, job.since(started))


def _failed(job: Job, blank: StepResult, failure: StepFailure, started: float) -> StepResult:
    """Return the failed result. If the failure is allowed, store what the step printed, or null."""
    allowed = job.allows(failure)
    if allowed:
        printed = stored_value(failure.output, keep_text=job.step.keep_text) if failure.output else None
        _store(job, {job.step.result_name: printed, **failure.writes})
    what = f"Step '{job.step.id}' failed: {failure.what}"
    return failed(blank, failure, what, allowed=allowed, duration=job.since(started))


def _store(job: Job, values: dict[str, Value]) -> None:
    job.frame.scope.write(values)
    job.run.record(OutputStored(job.identity, values))


def _enter_ledger(frame: Frame, step: Step, result: StepResult) -> None:
    value = frame.scope.values.get(step.result_name)
    facts = (result.status, value, value, value, result.exit_code, result.error)
    entry: dict[str, Value] = dict(zip(STEP_FACTS, facts, strict=True))
    frame.scope.write({}, {step.id: entry})
