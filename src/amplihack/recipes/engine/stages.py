"""Run the stages of a recipe in order, with the gates between them. A flat recipe is one unnamed stage."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from amplihack.errors import ConditionError
from amplihack.recipes.agent_port import Decision
from amplihack.recipes.engine.frame import Frame
from amplihack.recipes.engine.job import Run, Sequel, StepFailure, undefined
from amplihack.recipes.events import GateReached, StepFinished
from amplihack.recipes.model import Approval, Recipe, Stage, Step
from amplihack.recipes.results import StepResult, denial
from amplihack.recipes.semantics import APPROVAL_MESSAGE, still_run
from amplihack.recipes.templates import render_text
from amplihack.records import Record


class Ended(Record):
    """How the stages of a recipe ended."""

    results: tuple[StepResult, ...]
    success: bool


async def run_stages(run: Run, recipe: Recipe, frame: Frame) -> Ended:
    """Run every stage whose condition holds, until a step or a gate ends the recipe.

    After that, the steps of later stages that always run are still run, unless the run waits at the gate.
    """
    walk = _Stages(run, recipe, frame)
    try:
        for index, stage in enumerate(recipe.stages):
            try:
                await walk.stage(index, stage)
            except ConditionError as error:
                walk.end(error)
            except asyncio.CancelledError as error:
                if walk.broken or not frame.timed_out:
                    raise
                walk.end(error)
    finally:
        if len(walk.results) < len(recipe.steps):
            run.note_left(recipe.steps, frame)
    if walk.broken:
        raise walk.broken
    return Ended(tuple(walk.results), not walk.over)


class _Stages:
    """A walk through the stages of a recipe."""

    def __init__(self, run: Run, recipe: Recipe, frame: Frame) -> None:
        self._run, self._recipe, self._frame = run, recipe, frame
        self.results: list[StepResult] = []
        self.over = False
        self.broken: ConditionError | asyncio.CancelledError | None = None  # the first of what ended it

    async def stage(self, index: int, stage: Stage) -> None:
        frame = self._frame.with_facts(stage={"name": stage.name, "index": index})
        self.over = self.over or self._run.ends(frame)
        if self.over:
            await self._last_steps(index, stage, frame)
        elif not _wanted(self._run, stage, frame):
            self.results += _skipped(self._run, stage, frame)
        elif not await _may_pass(self._run, stage, frame, before=True):
            self.over = True
            await self._last_steps(index, stage, frame)
        else:
            sequel = await self._steps(index, stage, stage.steps, frame)
            self.over = sequel == "stop" or not await _may_pass(self._run, stage, frame, before=False)

    def end(self, error: ConditionError | asyncio.CancelledError) -> None:
        """End the recipe at a stage that could not be done to its end."""
        self.over, self.broken = True, self.broken or error

    async def _last_steps(self, index: int, stage: Stage, frame: Frame) -> None:
        """Run what always runs of a stage after the end of the recipe."""
        waits = self._run.ending == "waiting" and not frame.closing
        steps = () if waits else still_run(stage.steps)
        if steps and _wanted(self._run, stage, frame):
            await self._steps(index, stage, steps, frame.close())

    async def _steps(self, index: int, stage: Stage, steps: Sequence[Step], frame: Frame) -> Sequel:
        earlier = sum(len(each.steps) for each in self._recipe.stages[:index])
        earlier += stage.steps.index(steps[0]) if steps else 0
        ended = await self._run.steps(self._run, steps, frame.after(earlier, len(self._recipe.steps)))
        self.results += ended.results
        return ended.sequel


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
    from amplihack.recipes.engine.conditions import test_holds  # deferred: few stages have conditions

    steps = frame.recipe.steps
    before = steps[: steps.index(stage.steps[0])] if stage.steps else steps
    try:
        return test_holds(
            run,
            stage.condition,
            frame,
            frame.identity(stage.name),
            "condition",
            at=before[-1].id if before else "",
        )
    except (ConditionError, StepFailure) as error:
        what = f"stage '{stage.name}': {error.what}"
        raise ConditionError(what, where=stage.where, fix=error.fix) from error


async def _may_pass(run: Run, stage: Stage, frame: Frame, *, before: bool) -> bool:
    """Tell whether there is no gate here or it opens; otherwise end the whole run."""
    approval = stage.approval
    if approval is None or approval.before != before or run.options.dry_run:
        return True
    if run.ends(frame):  # at a gate elsewhere: nobody is asked about another one
        return False
    from amplihack.recipes.engine import gates  # deferred: few recipes have gates

    decision = await _decision(run, stage, approval, frame)
    if frame.closing and (decision is None or not decision.approved):
        run.warn(frame.identity(stage.name), "nobody approved its gate after the failure of the run")
        return False
    if decision is None:
        gates.wait(run, f"stage '{stage.name}'")
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
    due = run.world.clock.wall() + approval.timeout if approval.timeout else None
    # A gate that was reached before a crash keeps its deadline.
    due = gate.due if gate is not None else due
    expired = Decision(approval.approve_by_default, f"nobody answered in {approval.timeout:g} s")
    reached = GateReached(stage.name, rendered.text, identity, due)
    from amplihack.recipes.engine import gates  # deferred, as above

    return await gates.decide(run, reached, f"Approve stage '{stage.name}'?", expired=expired)
