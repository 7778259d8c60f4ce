"""Run the stages of a recipe in order, with the gates between them. A flat recipe is one unnamed stage."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from amplihack.errors import ConditionError
from amplihack.recipes.engine.conditions import test_holds
from amplihack.recipes.engine.frame import Frame
from amplihack.recipes.engine.job import Run, StepFailure, undefined
from amplihack.recipes.events import GateDecided, GateReached, StepFinished
from amplihack.recipes.model import Approval, Recipe, Stage
from amplihack.recipes.ports import Decision
from amplihack.recipes.results import StepResult, denial
from amplihack.recipes.semantics import APPROVAL_MESSAGE
from amplihack.recipes.templates import render_text
from amplihack.records import Record


class Ended(Record):
    """How the stages of a recipe ended."""

    results: tuple[StepResult, ...]
    success: bool
    never_reached: tuple[str, ...] = ()


async def run_stages(run: Run, recipe: Recipe, frame: Frame) -> Ended:
    """Run every stage whose condition holds, until a step or a gate ends the recipe."""
    results: list[StepResult] = []
    left: tuple[str, ...] = ()  # steps of a stage that was left early
    for index, stage in enumerate(recipe.stages):
        later = tuple(step.id for each in recipe.stages[index + 1 :] for step in each.steps)
        inner = frame.with_facts(stage={"name": stage.name, "index": index})
        if not _wanted(run, stage, inner):
            results += _skipped(run, stage, inner)
            continue
        if not await _may_pass(run, stage, inner, before=True):
            return Ended(tuple(results), False, left + tuple(step.id for step in stage.steps) + later)
        earlier = sum(len(each.steps) for each in recipe.stages[:index])
        ended = await run.steps(run, stage.steps, inner.after(earlier, len(recipe.steps)))
        results += ended.results
        left += ended.never_reached
        if ended.sequel == "stop" or not await _may_pass(run, stage, inner, before=False):
            return Ended(tuple(results), False, left + later)
    return Ended(tuple(results), True, left)


def _skipped(run: Run, stage: Stage, frame: Frame) -> Iterator[StepResult]:
    """Record and yield a skipped result for every step of a stage that is not wanted."""
    for step in stage.steps:
        result = StepResult(
            step_id=step.id,
            identity=frame.identity(step.id),
            kind=step.kind,
            status="skipped",
            skip_reason=f"stage '{stage.name}' is skipped by its condition",
        )
        if run.state.finished(result.identity) is None:
            run.record(StepFinished(result, frame.recipe.name, frame.depth))
        yield result


def _wanted(run: Run, stage: Stage, frame: Frame) -> bool:
    if stage.condition is None or run.options.dry_run:
        return True
    try:
        return test_holds(run, stage.condition, frame, frame.identity(stage.name), "condition")
    except (ConditionError, StepFailure) as error:
        what = f"stage '{stage.name}': {error.what}"
        raise ConditionError(what, where=stage.where, fix=error.fix) from error


async def _may_pass(run: Run, stage: Stage, frame: Frame, *, before: bool) -> bool:
    """Tell whether there is no gate here or it opens; otherwise end the whole run."""
    approval = stage.approval
    if approval is None or approval.before != before or run.options.dry_run:
        return True
    decision = await _decision(run, stage, approval, frame)
    if decision is None:
        run.ending = "waiting"
        run.ending_reason = (
            f"stage '{stage.name}' waits for a person's approval, and there is no terminal to ask on; "
            f"{run.options.how_to_answer}"
        )
        return False
    if not decision.approved:
        run.ending = "denied"
        run.ending_reason = denial(stage.name, decision.message)
        return False
    frame.scope.write({APPROVAL_MESSAGE: decision.message})
    return True


async def _decision(run: Run, stage: Stage, approval: Approval, frame: Frame) -> Decision | None:
    """Return the decision recorded before a crash, or ask for one; None if there is nobody to ask."""
    identity = frame.identity(stage.name)
    gate = run.state.gate(identity)
    if gate is not None and gate.approved is not None:
        return Decision(gate.approved, gate.message)
    rendered = render_text(approval.prompt.text, frame.view())
    if rendered.missing:
        run.warn(identity, f"{undefined(rendered.missing, 'approval')}; it renders empty")
    prompt = rendered.text
    due = run.world.clock.wall() + approval.timeout if approval.timeout else None
    # A gate that was reached before a crash keeps its deadline.
    due = gate.due if gate is not None else due
    run.record(GateReached(stage.name, prompt, identity, due))
    decision = await _ask(run, stage, approval, prompt, due)
    if decision is not None:
        now = run.world.clock.wall()
        run.record(GateDecided(stage.name, decision.approved, decision.message, identity, decision.by, now))
    return decision


async def _ask(run: Run, stage: Stage, approval: Approval, prompt: str, due: float | None) -> Decision | None:
    if run.options.approve_all:
        return Decision(True, by="--yes")
    expired = Decision(approval.approve_by_default, f"nobody answered in {approval.timeout:g} s")
    async with run.person:
        left = None if due is None else due - run.world.clock.wall()
        if left is not None and left <= 0:  # nobody can answer any more, not even at a terminal
            return expired
        try:
            async with asyncio.timeout(left):
                return await run.world.approver.decide(stage.name, prompt)
        except TimeoutError:
            return expired
