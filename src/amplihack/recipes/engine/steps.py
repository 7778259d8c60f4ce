"""Run steps in order. Single steps, groups, loops and sub-recipes all take this one path."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import TypeAlias

from amplihack.errors import AmplihackError, TemplateError
from amplihack.recipes.engine.actions import act, result_value
from amplihack.recipes.engine.frame import Frame, Scope
from amplihack.recipes.engine.hooks import run_hook
from amplihack.recipes.engine.job import Done, Job, Outcome, Run, Sequel, StepFailure, completed, failed
from amplihack.recipes.events import OutputStored, StepFinished, StepStarted
from amplihack.recipes.model import Bash, Loop, Step, Test
from amplihack.recipes.outputs import stored_value
from amplihack.recipes.placeholders import find_placeholders
from amplihack.recipes.results import StepResult
from amplihack.recipes.semantics import LOOP, STEP_FACTS, batches, loop_names, still_run
from amplihack.recipes.templates.shell import prepare_scripts
from amplihack.recipes.values import Value, one_line, to_json
from amplihack.records import replace

_LONGEST_TITLE = 120  # characters

DRY_RUN_VALUE = "(dry-run)"
Numbered: TypeAlias = tuple[int, Step]  # its place among the steps of the recipe, from 1, and a step


async def run_steps(run: Run, steps: Sequence[Step], frame: Frame) -> Outcome:
    """Run the steps in order until one of them ends the sequence; after it, those that always run."""
    prepare_scripts(step.action.command.text for step in steps if isinstance(step.action, Bash))
    results: list[StepResult] = []
    position, of = frame.before, frame.of or len(steps)
    sequel: Sequel = "next"
    cut_off: asyncio.CancelledError | None = None
    for group in batches(steps):
        numbered = list(enumerate(group, start=position + 1))
        position += len(group)
        if run.ends(frame):  # at a gate beside these steps: what is left of them waits too
            sequel = "stop"
        if sequel != "next":
            wanted = still_run(group) if run.ending != "waiting" or frame.closing else ()
            numbered = [(number, step) for number, step in numbered if step in wanted]
        if not numbered:
            continue
        inner = frame.close() if sequel == "stop" else frame
        try:
            finished = await _run_group(run, numbered, inner, of)
        except asyncio.CancelledError as error:
            if not inner.timed_out:
                raise
            sequel, cut_off = "stop", error
            continue
        results += finished
        sequel = max(sequel, _sequel(numbered, finished), key=_SEQUELS.index)
    if cut_off is not None:
        raise cut_off
    return Outcome(tuple(results), sequel)


_SEQUELS: tuple[Sequel, ...] = ("next", "leave", "stop")


def _sequel(group: Sequence[Numbered], results: Sequence[StepResult]) -> Sequel:
    if any(result.status == "waiting" for result in results):
        return "stop"
    failures = [
        (step, result) for (_, step), result in zip(group, results, strict=True) if result.status == "failed"
    ]
    if any(not result.allowed for _, result in failures):
        return "stop"
    return "leave" if failures and any(step.on_error == "skip_remaining" for step, _ in failures) else "next"


async def _run_group(run: Run, group: Sequence[Numbered], frame: Frame, of: int) -> list[StepResult]:
    """Run one step on the frame's own variables, or several in parallel, each on a copy."""
    if len(group) == 1:
        number, step = group[0]
        return [await run_step(run, step, frame, number, of)]
    # Copies for every member at once, so that none sees what another writes, however they are scheduled.
    frames = [frame.fork() for _ in group]
    slots = asyncio.Semaphore(run.options.max_parallel)

    async def member(index: int) -> StepResult:
        number, step = group[index]
        async with slots:
            return await run_step(run, step, frames[index], number, of)

    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(member(index)) for index in range(len(group))]
    # Merged after all have ended, in order of definition: the result does not depend on timing.
    merge(run, frame, [(step.id, each.scope) for (_, step), each in zip(group, frames, strict=True)])
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
            _title(job),
            frame.recipe.name,
            frame.depth,
            number,
            of,
            step.idempotent,
            after_failure=frame.closing and step.always,
            recheck=step.recheck,
        )
    )
    result = run.state.complete(await _decide_and_run(job))
    _enter_ledger(frame, step, result)
    run.record(StepFinished(result, frame.recipe.name, frame.depth))
    return result


def _title(job: Job) -> str:
    """Return the name of a step with its placeholders filled in, as far as they have values."""
    title = job.step.title
    if title is None or "{{" not in title:
        return title or job.step.id
    from amplihack.recipes.templates.text import render_text  # deferred: few names have placeholders

    try:
        text = render_text(_of_all_rounds(title, job.step.loop), job.frame.view()).text
        return one_line(text, _LONGEST_TITLE) or job.step.id
    except TemplateError:  # longer than any text may be
        return title


def _of_all_rounds(title: str, loop: Loop | None) -> str:
    """Return the name of a step without the item of a round: it stands for all of them."""
    hidden = (*loop_names(loop), LOOP) if loop else ()
    for found in reversed(find_placeholders(title)):
        if found.path[0] in hidden:
            title = f"{title[: found.start]}…{title[found.end :]}"
    return title


async def _decide_and_run(job: Job) -> StepResult:
    if job.run.options.excludes(job.step.when_tags):
        return replace(job.blank, skip_reason=f"tags: {', '.join(job.step.when_tags)}")
    if job.run.options.dry_run:
        return _dry(job)
    try:
        wanted = job.step.condition is None or _holds(job, job.step.condition)
        executed = job.claim() if wanted and job.step.loop is None else 0
    except StepFailure as failure:
        return replace(
            job.blank, status="failed", error=failure.what, allowed=job.allows(failure), duration=0.0
        )
    if not wanted:
        condition = job.step.condition.text.strip() if job.step.condition else ""
        return replace(job.blank, skip_reason=f"condition: {condition}", duration=0.0)
    return await _run(job, executed)


def _dry(job: Job) -> StepResult:
    _store(job, {job.step.result_name: DRY_RUN_VALUE})
    output = to_json({"dry_run": True, "step": job.step.id}) if job.step.json else "[dry run]"
    return replace(job.blank, output=output, skip_reason="dry run", duration=0.0)


def _holds(job: Job, test: Test) -> bool:
    from amplihack.recipes.engine.conditions import step_test  # deferred: many recipes have no conditions

    return step_test(job, test, "condition")


async def _run(job: Job, executed: int) -> StepResult:
    run, hooks = job.run, job.frame.recipe.hooks
    if hooks.pre_step is not None:
        await run_hook(run, "pre_step", job.frame, job.begun(executed))
    if job.step.loop is None:
        result = await _result(job, executed, act(job))
    else:
        from amplihack.recipes.engine.loops import run_loop  # deferred: many recipes have no loop

        with job.frame.scope.watching() as written:
            result = await _result(job, executed, run_loop(job, job.step.loop))
            if written.values or written.ledger:  # what its rounds wrote belongs to it as well
                run.record(OutputStored(job.identity, written.values, written.ledger))
    if result.status == "waiting":
        return result  # nothing failed, and a run that goes on comes back
    if result.status == "failed" and hooks.on_error is not None:
        await run_hook(run, "on_error", job.frame, result)
    elif result.status != "failed" and hooks.post_step is not None:
        await run_hook(run, "post_step", job.frame, result)
    return result


async def _result(job: Job, executed: int, work: Awaitable[Done]) -> StepResult:
    started = job.run.world.clock.now()
    try:
        done = await work
    except AmplihackError as error:
        # A template or a port may raise other errors of ours: they fail the step, not the run.
        failure = error if isinstance(error, StepFailure) else StepFailure(error.what, fix=error.fix)
        return _failed(job, executed, failure, started)
    return _completed(job, executed, done, started)


def _completed(job: Job, executed: int, done: Done, started: float) -> StepResult:
    # A step with nothing to do is skipped: like every skipped step it leaves no result.
    values: dict[str, Value] = {} if done.skipped else {job.step.result_name: result_value(job.step, done)}
    # Without an `output` of its own, a step leaves alone what a sub-recipe stored under the same name; and a
    # list of all results says more than the last of them.
    last = job.step.output and not (job.step.loop and job.step.loop.collect)
    values = {**done.writes, **values} if last else {**values, **done.writes}
    _store(job, values)
    if done.degraded:
        job.warn(done.degraded)
    return completed(job, executed, done, job.since(started))


def _failed(job: Job, executed: int, failure: StepFailure, started: float) -> StepResult:
    """Return the failed result. If the failure is allowed, store what the step printed, or null."""
    allowed = job.allows(failure)
    if allowed:
        printed = stored_value(failure.output, keep_text=job.step.keep_text) if failure.output else None
        _store(job, {job.step.result_name: printed, **failure.writes})
    what = f"Step '{job.step.id}' failed: {failure.what}"
    return failed(job.begun(executed), failure, what, allowed=allowed, duration=job.since(started))


def _store(job: Job, values: dict[str, Value]) -> None:
    job.frame.scope.write(values)
    job.run.record(OutputStored(job.identity, values))


def _enter_ledger(frame: Frame, step: Step, result: StepResult) -> None:
    value = frame.scope.values.get(step.result_name)
    facts = (result.status, value, value, value, result.exit_code, result.error)
    entry: dict[str, Value] = dict(zip(STEP_FACTS, facts, strict=True))
    frame.scope.write({}, {step.id: entry})
