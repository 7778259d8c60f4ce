"""Steps in their order: one path for a step alone, in a group, in a loop and in a sub-recipe."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from amplihack.errors import AmplihackError, ConditionError
from amplihack.recipes.conditions import holds
from amplihack.recipes.engine.actions import act
from amplihack.recipes.engine.hooks import run_hook
from amplihack.recipes.engine.loops import run_loop
from amplihack.recipes.engine.state import Done, Frame, Run, Scope, Sequel, StepFailure
from amplihack.recipes.events import OutputStored, StepFinished, StepStarted
from amplihack.recipes.model import Step
from amplihack.recipes.outputs import stored_value
from amplihack.recipes.results import StepResult
from amplihack.recipes.values import Missing, Value

DRY_RUN_VALUE = "(dry-run)"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a sequence of steps."""

    results: tuple[StepResult, ...]
    sequel: Sequel
    never_reached: tuple[str, ...] = ()


async def run_steps(run: Run, steps: Sequence[Step], frame: Frame) -> Outcome:
    """Runs the steps in order until one of them ends the sequence."""
    results: list[StepResult] = []
    position = 0
    for group in groups(steps):
        finished = await _run_group(run, group, frame, position, len(steps))
        results += finished
        position += len(group)
        sequel = _sequel(run, group, finished)
        if sequel != "next":
            return Outcome(tuple(results), sequel, tuple(step.id for step in steps[position:]))
    return Outcome(tuple(results), "next")


def groups(steps: Sequence[Step]) -> list[list[Step]]:
    """Adjacent steps of one parallel group, together; every other step alone.

    A member that depends on an earlier member of its group waits for it: a new group begins there.
    """
    found: list[list[Step]] = []
    for step in steps:
        last = found[-1] if found else []
        together = step.parallel_group is not None and last and last[0].parallel_group == step.parallel_group
        if together and not any(member.id in step.depends_on for member in last):
            last.append(step)
        else:
            found.append([step])
    return found


def _sequel(run: Run, group: Sequence[Step], results: Sequence[StepResult]) -> Sequel:
    sequel: Sequel = "next"
    for step, result in zip(group, results, strict=True):
        if run.ending is not None or (result.status == "failed" and step.on_error == "fail"):
            return "stop"
        if result.status == "failed" and step.on_error == "skip_remaining":
            sequel = "leave"
    return sequel


async def _run_group(run: Run, group: list[Step], frame: Frame, position: int, of: int) -> list[StepResult]:
    """One step with the frame's own variables, or several at once, each with a copy of them."""
    if len(group) == 1:
        return [await run_step(run, group[0], frame, position + 1, of)]
    frames = [replace(frame, scope=frame.scope.fork()) for _ in group]
    slots = asyncio.Semaphore(run.options.max_parallel)

    async def member(index: int) -> StepResult:
        async with slots:
            return await run_step(run, group[index], frames[index], position + index + 1, of)

    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(member(index)) for index in range(len(group))]
    merge(run, frame, [(step.id, each.scope) for step, each in zip(group, frames, strict=True)])
    return [task.result() for task in running]


def merge(run: Run, frame: Frame, members: Sequence[tuple[str, Scope]]) -> None:
    """Takes over what members wrote, in the order of their definition; says which names clash."""
    writer: dict[str, str] = {}
    for member, scope in members:
        for name in scope.written:
            if name in writer:
                run.warn(
                    frame.identity(member), f"'{name}' is written by '{writer[name]}' too; this one counts"
                )
            writer[name] = member
        frame.scope.write(scope.changes())


async def run_step(run: Run, step: Step, frame: Frame, number: int, of: int) -> StepResult:
    """Runs one step to its end, whatever its kind; never raises but for cancellation and our own bugs."""
    identity = frame.identity(step.id)
    if (recalled := run.world.journal.recall(identity)) is not None:
        frame.scope.write(recalled.values)
        _enter_ledger(frame, step, recalled.result)
        return recalled.result
    run.record(
        StepStarted(
            identity, step.id, step.kind, step.title or step.id, frame.recipe.name, frame.depth, number, of
        )
    )
    started = run.world.clock.now()
    inner = frame.with_facts(step={"id": step.id, "index": number - 1})
    result = await _decide_and_run(run, step, inner, identity)
    if result.skip_reason != "tags":
        result = replace(result, duration=run.world.clock.now() - started)
    _enter_ledger(frame, step, result)
    run.record(StepFinished(result, frame.recipe.name, frame.depth))
    if frame.depth == 0 and identity == step.id:
        run.top_results.append(result)
    return result


async def _decide_and_run(run: Run, step: Step, frame: Frame, identity: str) -> StepResult:
    blank = StepResult(step_id=step.id, identity=identity, kind=step.kind, status="skipped")
    if excluded_by_tags(run, step):
        return replace(blank, skip_reason="tags")
    if (limit := frame.budget.exhausted()) is not None:
        return replace(blank, status="failed", error=f"Total step limit ({limit}) exceeded")
    if run.options.dry_run:
        return _dry(step, frame, blank)
    try:
        if step.condition and not holds(step.condition.condition, frame.view(), frame.rules):
            return replace(blank, skip_reason=f"condition: {step.condition.text.strip()}")
    except ConditionError as error:
        return replace(blank, status="failed", error=f"Condition error: {error.what}", allowed=_allowed(step))
    return await _run(run, step, frame, blank)


def excluded_by_tags(run: Run, step: Step) -> bool:
    tags = frozenset(step.when_tags)
    if not tags:
        return False
    wanted = run.options.include_tags
    return bool(tags & run.options.exclude_tags) or bool(wanted and not tags & wanted)


def _dry(step: Step, frame: Frame, blank: StepResult) -> StepResult:
    frame.scope.write({step.result_name: DRY_RUN_VALUE})
    output = f'{{"dry_run":true,"step":"{step.id}"}}' if step.json else "[dry run]"
    return replace(blank, output=output, skip_reason="dry run")


async def _run(run: Run, step: Step, frame: Frame, blank: StepResult) -> StepResult:
    warnings_before = len(run.warnings)
    await run_hook(run, "pre_step", frame, blank)
    try:
        done = await _loop_or_act(run, step, frame, blank.identity)
    except StepFailure as failure:
        result = _failed(step, frame, blank, failure)
    except AmplihackError as error:
        result = replace(blank, status="failed", error=f"Step '{step.id}' failed: {error.what}")
    else:
        result = _finished(run, step, frame, blank, done)
    result = replace(result, allowed=result.status == "failed" and _allowed(step))
    await run_hook(run, "on_error" if result.status == "failed" else "post_step", frame, result)
    own = [each for each in run.warnings[warnings_before:] if each.startswith(f"{blank.identity}: ")]
    return replace(result, warnings=tuple(each.removeprefix(f"{blank.identity}: ") for each in own))


async def _loop_or_act(run: Run, step: Step, frame: Frame, identity: str) -> Done:
    if step.loop is not None:
        return await run_loop(run, step, step.loop, frame, identity, run_steps)
    return await act(run, step, frame, identity, run_steps)


def _allowed(step: Step) -> bool:
    return step.on_error != "fail"


def _finished(run: Run, step: Step, frame: Frame, blank: StepResult, done: Done) -> StepResult:
    values: dict[str, Value] = dict(done.writes)
    values[step.result_name] = result_value(step, done)
    frame.scope.write(values)
    run.record(OutputStored(blank.identity, values))
    if done.degraded:
        run.warn(blank.identity, done.degraded)
    return replace(
        blank,
        status="degraded" if done.degraded else "completed",
        output=done.text,
        stderr=done.stderr,
        exit_code=done.exit_code,
        attempts=done.attempts,
        children=done.children,
        usage=done.usage,
        cost_usd=done.cost_usd,
    )


def result_value(step: Step, done: Done) -> Value:
    if not isinstance(done.value, Missing):
        return done.value
    return stored_value(done.text, keep_text=step.keep_text)


def _failed(step: Step, frame: Frame, blank: StepResult, failure: StepFailure) -> StepResult:
    """A failure that the recipe allows still leaves what the step printed, or null."""
    if _allowed(step):
        frame.scope.write({step.result_name: failure.output or None, **failure.writes})
    return replace(
        blank,
        status="failed",
        error=f"Step '{step.id}' failed: {failure.what}",
        output=failure.output,
        stderr=failure.stderr,
        exit_code=failure.status_code,
        attempts=failure.attempts,
        children=failure.children,
    )


def _enter_ledger(frame: Frame, step: Step, result: StepResult) -> None:
    value = frame.scope.values.get(step.result_name)
    frame.ledger[step.id] = {
        "status": result.status,
        "output": value,
        "result": value,
        "outputs": value,
        "exit_code": result.exit_code,
        "error": result.error,
    }
