"""A step that repeats: for each item of a list, or while a condition holds."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from amplihack.errors import ConditionError
from amplihack.recipes.conditions import holds
from amplihack.recipes.engine.actions import RunSteps, act
from amplihack.recipes.engine.numbers import number_of
from amplihack.recipes.engine.state import Done, Frame, Run, StepFailure, missing_names
from amplihack.recipes.events import IterationStarted
from amplihack.recipes.model import Foreach, Loop, Step, Test, Text, While
from amplihack.recipes.outputs import stored_value
from amplihack.recipes.results import StepResult, add_usage
from amplihack.recipes.templates import find_placeholders, render_value
from amplihack.recipes.values import MISSING, Missing, Value, from_json, lookup


@dataclass(slots=True)
class Rounds:
    """What the rounds of a loop have brought so far, in the order of the items."""

    values: list[Value]
    results: list[StepResult]
    failures: int = 0
    limit_reached: bool = False


async def run_loop(
    run: Run, step: Step, loop: Loop, frame: Frame, identity: str, run_steps: RunSteps
) -> Done:
    """All rounds of a step's loop. Raises StepFailure."""
    match loop.over:
        case Foreach() as over:
            rounds = await _foreach(run, step, loop, over, frame, identity, run_steps)
        case While() as over:
            rounds = await _while(run, step, loop, over, frame, identity, run_steps)
    return _done(loop, rounds)


def _done(loop: Loop, rounds: Rounds) -> Done:
    last: Value = rounds.values[-1] if rounds.values else None
    degraded = ""
    if rounds.failures:
        degraded = f"{rounds.failures} of {len(rounds.values)} rounds failed"
    elif rounds.limit_reached:
        degraded = f"the loop still wanted to go on after {loop.max_iterations} rounds"
    usage = add_usage(result.usage for result in rounds.results)
    costs = [result.cost_usd for result in rounds.results if result.cost_usd is not None]
    return Done(
        text=rounds.results[-1].output if rounds.results else "",
        value=list(rounds.values) if loop.collect is None and not rounds.values else last,
        degraded=degraded,
        writes={loop.collect: list(rounds.values)} if loop.collect else {},
        children=tuple(rounds.results),
        usage=usage,
        cost_usd=sum(costs) if costs else None,
    )


# for each ---------------------------------------------------------------------------------------------


async def _foreach(
    run: Run, step: Step, loop: Loop, over: Foreach, frame: Frame, identity: str, run_steps: RunSteps
) -> Rounds:
    items = _items(run, over, frame, identity)
    if len(items) > loop.max_iterations:
        raise StepFailure(f"the list has {len(items)} items; max_iterations allows {loop.max_iterations}")
    if over.parallel is None:
        return await _one_by_one(run, step, loop, over, items, frame, identity, run_steps)
    width = int(number_of(over.parallel, frame, "parallel"))
    return await _at_once(run, step, over, items, width or len(items), frame, identity, run_steps)


def _items(run: Run, over: Foreach, frame: Frame, identity: str) -> list[Value]:
    """The list to go through; text that is a JSON list counts as one."""
    if not isinstance(over.items, Text):
        rendered, missing = render_value(list(over.items), frame.view())
        missing_names(run, identity, missing, "foreach")
        return list(rendered) if isinstance(rendered, list) else []
    value = _named(over.items.text, frame)
    if isinstance(value, str):
        try:
            value = from_json(value)
        except ValueError:
            value = value or MISSING
    if isinstance(value, Missing):
        raise StepFailure(f"foreach: {over.items.text} is not defined")
    if isinstance(value, Sequence) and not isinstance(value, str):
        return list(value)
    raise StepFailure(f"foreach: {over.items.text} is not a list")


def _named(text: str, frame: Frame) -> Value | Missing:
    found = find_placeholders(text)
    if len(found) == 1 and (found[0].start, found[0].end) == (0, len(text)):
        return lookup(frame.view(), found[0].path)
    if not found:
        return lookup(frame.view(), tuple(text.split("."))) if text else MISSING
    value, missing = render_value(text, frame.view())
    return MISSING if missing else value


async def _one_by_one(
    run: Run,
    step: Step,
    loop: Loop,
    over: Foreach,
    items: list[Value],
    frame: Frame,
    identity: str,
    run_steps: RunSteps,
) -> Rounds:
    rounds = Rounds([], [])
    before = {over.name: frame.scope.values.get(over.name, MISSING)}
    try:
        for index, item in enumerate(items):
            frame.scope.values[over.name] = item
            await _round(run, step, frame, identity, index, len(items), rounds, run_steps)
            if _ends(run, step, loop, frame):
                break
    finally:
        _restore(frame, before)
    return rounds


async def _at_once(
    run: Run,
    step: Step,
    over: Foreach,
    items: list[Value],
    width: int,
    frame: Frame,
    identity: str,
    run_steps: RunSteps,
) -> Rounds:
    """Every item on a copy of the variables; all run to the end, then a failure counts."""
    slots = asyncio.Semaphore(max(1, min(width, run.options.max_parallel)))
    each = [Rounds([], []) for _ in items]
    tolerant = replace(step, on_error="continue")

    async def item(index: int) -> None:
        async with slots:
            inner = replace(frame, scope=frame.scope.fork())
            inner.scope.values[over.name] = items[index]
            await _round(run, tolerant, inner, identity, index, len(items), each[index], run_steps)

    async with asyncio.TaskGroup() as tasks:
        for index in range(len(items)):
            tasks.create_task(item(index))
    rounds = Rounds(
        [value for one in each for value in one.values],
        [result for one in each for result in one.results],
        sum(one.failures for one in each),
    )
    if rounds.failures and step.on_error != "continue":
        failed = next(result for result in rounds.results if result.status == "failed")
        raise StepFailure(
            f"{rounds.failures} of {len(items)} rounds failed; first {failed.step_id}: {failed.error}",
            children=tuple(rounds.results),
        )
    return rounds


# while ------------------------------------------------------------------------------------------------


async def _while(
    run: Run, step: Step, loop: Loop, over: While, frame: Frame, identity: str, run_steps: RunSteps
) -> Rounds:
    rounds = Rounds([], [])
    before = {name: frame.scope.values.get(name, MISSING) for name in ("_loop_index", "_loop_iteration")}
    try:
        index = 0
        while _holds(over.condition, frame):
            if index >= loop.max_iterations:
                rounds.limit_reached = True
                break
            frame.scope.values.update({"_loop_index": index, "_loop_iteration": index + 1})
            await _round(run, step, frame, identity, index, None, rounds, run_steps)
            if _ends(run, step, loop, frame):
                break
            index += 1
    finally:
        _restore(frame, before)
    return rounds


# one round --------------------------------------------------------------------------------------------


async def _round(
    run: Run,
    step: Step,
    frame: Frame,
    identity: str,
    index: int,
    of: int | None,
    rounds: Rounds,
    run_steps: RunSteps,
) -> None:
    """Runs the body once and notes what came of it; raises StepFailure if that ends the loop."""
    name = f"{identity}[{index}]"
    if (limit := frame.budget.exhausted()) is not None:
        raise StepFailure(f"Total step limit ({limit}) exceeded", children=tuple(rounds.results))
    run.record(IterationStarted(identity, index, of))
    started = run.world.clock.now()
    blank = StepResult(step_id=f"{step.id}[{index}]", identity=name, kind=step.kind, status="completed")
    try:
        done = await act(run, step, frame.inside(f"{name}/"), name, run_steps)
    except StepFailure as failure:
        rounds.failures += 1
        rounds.values.append(None)
        rounds.results.append(
            replace(
                blank,
                status="failed",
                error=failure.what,
                output=failure.output,
                stderr=failure.stderr,
                exit_code=failure.status_code,
                children=failure.children,
                allowed=step.on_error != "fail",
                duration=run.world.clock.now() - started,
            )
        )
        if step.on_error == "continue":
            run.warn(name, f"this round failed: {failure.what}")
            return
        raise StepFailure(f"round {index + 1}: {failure.what}", children=tuple(rounds.results)) from failure
    value = (
        done.value
        if not isinstance(done.value, Missing)
        else stored_value(done.text, keep_text=step.keep_text)
    )
    frame.scope.write({**done.writes, step.result_name: value})
    rounds.values.append(value)
    rounds.results.append(
        replace(
            blank,
            status="degraded" if done.degraded else "completed",
            output=done.text,
            stderr=done.stderr,
            exit_code=done.exit_code,
            children=done.children,
            usage=done.usage,
            cost_usd=done.cost_usd,
            duration=run.world.clock.now() - started,
        )
    )


def _ends(run: Run, step: Step, loop: Loop, frame: Frame) -> bool:
    """Applies `update_context` after a round; true when `break_when` holds or the run is over."""
    if loop.update:
        updated, missing = render_value(dict(loop.update), frame.view())
        missing_names(run, frame.identity(step.id), missing, "update_context")
        if isinstance(updated, dict):
            frame.scope.write(updated)
    if run.ending is not None:
        return True
    return loop.break_when is not None and _holds(loop.break_when, frame)


def _holds(test: Test, frame: Frame) -> bool:
    try:
        return holds(test.condition, frame.view(), frame.rules)
    except ConditionError as error:
        raise StepFailure(f"Condition error: {error.what}") from error


def _restore(frame: Frame, before: dict[str, Value | Missing]) -> None:
    """Puts a loop's own variables back to what they were."""
    for name, value in before.items():
        if isinstance(value, Missing):
            frame.scope.values.pop(name, None)
        else:
            frame.scope.values[name] = value
