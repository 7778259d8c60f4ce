"""The stages of a recipe in order, and the gates between them. A flat recipe is one stage without a name."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amplihack.errors import ConditionError
from amplihack.recipes.conditions import holds
from amplihack.recipes.engine.state import Frame, Run
from amplihack.recipes.events import GateDecided, GateReached
from amplihack.recipes.model import Approval, Recipe, Stage
from amplihack.recipes.ports import Decision
from amplihack.recipes.results import StepResult
from amplihack.recipes.templates import render_text

if TYPE_CHECKING:
    from amplihack.recipes.engine.actions import RunSteps


@dataclass(frozen=True, slots=True)
class Ended:
    """How the stages of a recipe ended."""

    results: tuple[StepResult, ...]
    success: bool
    never_reached: tuple[str, ...] = ()


async def run_stages(run: Run, recipe: Recipe, frame: Frame, run_steps: RunSteps) -> Ended:
    """Runs every stage whose condition holds, until a step or a gate ends the recipe."""
    results: list[StepResult] = []
    for index, stage in enumerate(recipe.stages):
        later = tuple(step.id for each in recipe.stages[index + 1 :] for step in each.steps)
        inner = frame.with_facts(stage={"name": stage.name, "index": index})
        if not _wanted(run, stage, inner):
            continue
        if stage.approval and stage.approval.before and not await _gate(run, stage, stage.approval, frame):
            return Ended(tuple(results), False, tuple(step.id for step in stage.steps) + later)
        ended = await run_steps(run, stage.steps, inner)
        results += ended.results
        if ended.sequel == "stop":
            return Ended(tuple(results), False, ended.never_reached + later)
        if (
            stage.approval
            and not stage.approval.before
            and not await _gate(run, stage, stage.approval, frame)
        ):
            return Ended(tuple(results), False, later)
    return Ended(tuple(results), True)


def _wanted(run: Run, stage: Stage, frame: Frame) -> bool:
    if stage.condition is None or run.options.dry_run:
        return True
    try:
        return holds(stage.condition.condition, frame.view(), frame.rules)
    except ConditionError as error:
        raise ConditionError(f"stage '{stage.name}': {error.what}", where=stage.where) from error


async def _gate(run: Run, stage: Stage, approval: Approval, frame: Frame) -> bool:
    """True when the run may go on; otherwise the run as a whole is over."""
    if run.options.dry_run:
        return True
    prompt = render_text(approval.prompt.text, frame.view()).text
    run.record(GateReached(stage.name, prompt))
    decision = await _decision(run, stage, approval, prompt)
    if decision is None:
        run.ending = "waiting"
        run.ending_reason = (
            f"stage '{stage.name}' waits for a person's approval, and there is no terminal to ask on; "
            "run it on a terminal, or with --yes to approve"
        )
        return False
    run.record(GateDecided(stage.name, decision.approved, decision.message))
    if not decision.approved:
        run.ending = "denied"
        run.ending_reason = f"stage '{stage.name}' was denied" + (
            f": {decision.message}" if decision.message else ""
        )
        return False
    frame.scope.write({"_approval_message": decision.message})
    return True


async def _decision(run: Run, stage: Stage, approval: Approval, prompt: str) -> Decision | None:
    if run.options.approve_all:
        return Decision(True)
    try:
        async with asyncio.timeout(approval.timeout or None):
            return await run.world.approver.decide(stage.name, prompt)
    except TimeoutError:
        return Decision(approval.approve_by_default, f"nobody answered in {approval.timeout:g} s")
