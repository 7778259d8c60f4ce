"""Repeat a step: for each item of a list, or while a condition holds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence

from amplihack.recipes.brief_error import cause
from amplihack.recipes.engine.actions import act, result_value
from amplihack.recipes.engine.conditions import step_test
from amplihack.recipes.engine.frame import Frame
from amplihack.recipes.engine.job import Done, Job, StepFailure, completed, failed, run_ended
from amplihack.recipes.engine.numbers import count_of
from amplihack.recipes.events import IterationFinished, IterationStarted, OutputStored
from amplihack.recipes.model import Foreach, Loop, Text, While
from amplihack.recipes.results import StepResult
from amplihack.recipes.rounds import as_list, list_path, round_facts, too_long
from amplihack.recipes.run_parts import Instance
from amplihack.recipes.semantics import LOOP, LOOP_INDEX, LOOP_ITERATION, loop_names
from amplihack.recipes.templates import render_value
from amplihack.recipes.values import MISSING, Missing, Value, lookup
from amplihack.records import Record, field, replace

EMPTY = "foreach: the list is empty"  # why a loop is skipped
_NO_ROUND = "no round: the while_condition did not hold at the start"


class Rounds(Record, frozen=False):
    """The results of the rounds of a loop so far, by their index."""

    values: dict[int, Value] = field(default_factory=dict)
    results: dict[int, StepResult] = field(default_factory=dict)
    failures: dict[int, StepFailure] = field(default_factory=dict)
    limit_reached: bool = False
    unset: tuple[str, ...] = ()  # what had no value when the condition did not hold

    def all_values(self) -> list[Value]:
        return [self.values[index] for index in sorted(self.values)]

    def all_results(self) -> tuple[StepResult, ...]:
        return tuple(self.results[index] for index in sorted(self.results))


async def run_loop(job: Job, loop: Loop) -> Done:
    """Run all rounds of a loop. Raises StepFailure."""
    rounds = Rounds()
    try:
        match loop.over:
            case Foreach() as over:
                await _foreach(job, loop, over, rounds)
            case While() as over:
                await _while(job, loop, over, rounds)
    except StepFailure as failure:
        failure.writes = _collected(loop, rounds)
        raise
    return _done(loop, rounds)


def _done(loop: Loop, rounds: Rounds) -> Done:
    values, results = rounds.all_values(), rounds.all_results()
    empty = isinstance(loop.over, Foreach) and not results
    return Done(
        text=results[-1].output if results else "",
        value=values[-1] if values else None,
        skipped=EMPTY if empty else "",
        idle="" if results or empty else _no_round(rounds.unset),
        degraded="; ".join(_shortfalls(loop, rounds)),
        writes=_collected(loop, rounds),
    )


def _shortfalls(loop: Loop, rounds: Rounds) -> Iterator[str]:
    """Yield in which ways the rounds are less than what was asked for."""
    of = len(rounds.results)
    if failed := len(rounds.failures):
        yield f"{failed} of {of} rounds failed"
    if degraded := sum(each.status == "degraded" for each in rounds.results.values()):
        yield f"{degraded} of {of} rounds {'is' if degraded == 1 else 'are'} degraded"
    if rounds.limit_reached:
        yield f"the loop still wanted to go on after {loop.max_iterations} rounds"


def _no_round(unset: Sequence[str]) -> str:
    return f"{_NO_ROUND} ({', '.join(unset)} had no value)" if unset else _NO_ROUND


def _collected(loop: Loop, rounds: Rounds) -> dict[str, Value]:
    return {loop.collect: rounds.all_values()} if loop.collect else {}


# for each ---------------------------------------------------------------------------------------------


async def _foreach(job: Job, loop: Loop, over: Foreach, rounds: Rounds) -> None:
    items = _items(job, over)
    if len(items) > loop.max_iterations:
        raise StepFailure(
            too_long(len(items), loop),
            fix=f"write `max_iterations: {len(items)}`, or shorten the list",
        )
    if over.parallel is None:
        await _one_by_one(job, loop, over.name, items, rounds)
        return
    width = count_of(over.parallel, job.frame, "parallel", least=1) or len(items)
    await _at_once(job, over.name, items, width, rounds)


def _items(job: Job, over: Foreach) -> list[Value]:
    """Return the list to loop over. Raises StepFailure if there is none."""
    if not isinstance(over.items, Text):
        rendered, missing = render_value(list(over.items), job.frame.view())
        job.missing(missing, "foreach")
        return list(rendered) if isinstance(rendered, list) else []
    value = _named(over.items.text, job.frame)
    items = as_list(value)
    if items is None:
        undefined = isinstance(value, Missing) or value == ""
        raise StepFailure(
            f"foreach: {over.items.text} is not {'defined' if undefined else 'a list'}",
            fix='give it a list, such as the output of a step that prints JSON: ["a", "b"]',
        )
    return items


def _named(text: str, frame: Frame) -> Value | Missing:
    if (path := list_path(text)) is not None:
        return lookup(frame.view(), path)
    value, missing = render_value(text, frame.view())
    return MISSING if missing else value


async def _one_by_one(job: Job, loop: Loop, name: str, items: list[Value], rounds: Rounds) -> None:
    with job.frame.scope.lending(loop_names(loop)):
        for index, item in enumerate(items):
            _stop_at_gate(job)
            job.frame.scope.values[name] = item
            at = _at(job, index, items)
            await _round(at, index, len(items), rounds, {name: item})
            _go_on_or_raise(job, index, rounds)
            if _ends(at, loop):
                break


async def _at_once(job: Job, name: str, items: list[Value], width: int, rounds: Rounds) -> None:
    """Run the items in parallel, each on a copy of the variables. All end before a failure is raised."""
    slots = asyncio.Semaphore(max(1, min(width, job.run.options.max_parallel)))

    async def item(index: int) -> None:
        async with slots:
            # Forked inside the slot: the copy of the variables exists only while its round runs.
            beside = replace(job, frame=job.frame.fork())
            beside.frame.scope.values[name] = items[index]
            await _round(_at(beside, index, items), index, len(items), rounds, {name: items[index]})

    async with asyncio.TaskGroup() as tasks:
        for index in range(len(items)):
            tasks.create_task(item(index))
    for index in sorted(rounds.failures):
        _go_on_or_raise(job, index, rounds)


# while ------------------------------------------------------------------------------------------------


async def _while(job: Job, loop: Loop, over: While, rounds: Rounds) -> None:
    index = 0
    with job.frame.scope.lending(loop_names(loop)):
        while step_test(at := _at(job, index), over.condition, "while_condition"):
            if index >= loop.max_iterations:
                rounds.limit_reached = True
                return
            _stop_at_gate(job)
            job.frame.scope.values.update({LOOP_INDEX: index, LOOP_ITERATION: index + 1})
            await _round(at, index, None, rounds, {})
            _go_on_or_raise(job, index, rounds)
            if _ends(at, loop):
                return
            index += 1
        if not index:
            rounds.unset = _unset(at, over)


def _unset(job: Job, over: While) -> tuple[str, ...]:
    """Return the names without a value that decided about the condition."""
    from amplihack.recipes.conditions.unset import unset_names  # deferred: for loops without a round alone

    return unset_names(over.condition.condition.tree, job.frame.view(), job.frame.rules)


# one round --------------------------------------------------------------------------------------------


def _stop_at_gate(job: Job) -> None:
    """Raise StepFailure if a gate ends the run: it comes back to the rounds that are left when it goes on."""
    if job.run.ends(job.frame):
        raise run_ended(job.run)


def _at(job: Job, index: int, items: Sequence[Value] | None = None) -> Job:
    """Return the job as one round sees it, with `loop`; a list has an end that is known."""
    facts = round_facts(index, items, job.frame.facts.get(LOOP))
    return Job(job.run, job.step, job.frame.with_facts(**{LOOP: facts}), job.identity, job.name)


async def _round(job: Job, index: int, of: int | None, rounds: Rounds, item: Mapping[str, Value]) -> None:
    """Run the body once and store its result, also a failed one."""
    run, one = job.run, job.round(index)
    # Rounds are recalled one by one: a loop that was cut off continues at the round it had reached.
    if (recalled := one.recall()) is not None:
        _note_recalled(job, index, recalled, rounds)
        return
    run.record(IterationStarted(job.identity, index, of, item))
    executed = 0
    started = run.world.clock.now()
    with job.frame.scope.watching() as written:
        try:
            executed = one.claim()
            done = await act(one)
        except StepFailure as failure:
            rounds.failures[index], rounds.values[index] = failure, None
            allowed = job.allows(failure)
            begun, took = one.begun(executed), job.since(started)
            result = failed(begun, failure, failure.what, allowed=allowed, duration=took)
        else:
            rounds.values[index] = value = result_value(job.step, done)
            job.frame.scope.write({**done.writes, job.step.result_name: value})
            if done.degraded:
                one.warn(done.degraded)
            result = completed(one, executed, done, job.since(started))
    if written.values or written.ledger:
        run.record(OutputStored(one.identity, written.values, written.ledger))
    rounds.results[index] = run.state.complete(result)
    run.record(IterationFinished(rounds.results[index]))


def _note_recalled(job: Job, index: int, recalled: Instance, rounds: Rounds) -> None:
    rounds.results[index] = result = recalled.result
    if result.status != "failed":
        rounds.values[index] = recalled.values.get(job.step.result_name)
    else:
        rounds.values[index] = None  # whatever its steps have written
        # A failure that the step's own policy could not allow was final.
        final = not result.allowed and job.step.on_error != "fail"
        rounds.failures[index] = StepFailure(result.error, final=final)


def _go_on_or_raise(job: Job, index: int, rounds: Rounds) -> None:
    """Raise StepFailure for a failed round, unless the recipe says to continue."""
    failure = rounds.failures.get(index)
    if failure is None:
        return
    if job.step.on_error == "continue" and not failure.final:
        job.run.warn(f"{job.identity}[{index}]", f"this round failed: {cause(rounds.results[index])}")
        return
    what = f"round {index + 1}: {failure.what}"
    raise StepFailure(what, final=failure.final, waits=failure.waits, fix=failure.fix) from failure


def _ends(job: Job, loop: Loop) -> bool:
    """Apply `update_context` after a round, then tell whether the loop is over."""
    if loop.update:
        updated, missing = render_value(dict(loop.update), job.frame.view())
        job.missing(missing, "update_context")
        if isinstance(updated, dict):
            job.frame.scope.write(updated)
    return loop.break_when is not None and step_test(job, loop.break_when, "break_when")
