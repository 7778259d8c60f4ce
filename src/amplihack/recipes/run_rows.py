"""Lay out a run as a tree of rows: steps as they happened, in the stages and parallel groups of the recipe.

Stages and parallel groups are no events. They come from the recipe as it was recorded; without it, their
steps stand side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeAlias

from amplihack.recipes.events import identity_in
from amplihack.recipes.model import Agent, Bash, Body, Recipe, Step
from amplihack.recipes.results import StepResult
from amplihack.recipes.run_history import RunHistory
from amplihack.recipes.run_parts import Gate
from amplihack.recipes.run_story import RunStory
from amplihack.recipes.semantics import batches
from amplihack.records import Record

RecordedRecipes: TypeAlias = "Callable[[str], Recipe | None]"  # a recipe by its path
_WORST = ("failed", "interrupted", "running", "waiting", "denied", "degraded", "completed", "approved")


class RunRow(Record, kw_only=True):
    """One row. `result` is that of a step or a round, `gate` a gate; stages and groups have neither."""

    identity: str
    name: str
    kind: str
    status: str
    started: float | None
    ended: float | None
    result: StepResult | None = None
    gate: Gate | None = None
    written: str = ""  # the command or prompt as the recipe has it
    forgiven: bool = False  # it failed, and something around it went on
    children: tuple[RunRow, ...] = ()


class RunRows(Record):
    """Makes the rows of one run. `recipe` is the path of its main recipe."""

    history: RunHistory
    story: RunStory
    recipes: RecordedRecipes
    recipe: str

    def rows(self) -> tuple[RunRow, ...]:
        """Return the rows of the run; each holds those inside it."""
        return tuple(self._recipe("", self.history.steps(), self.recipes(self.recipe), forgiven=False))

    def _recipe(
        self, prefix: str, results: Sequence[StepResult], recipe: Recipe | None, *, forgiven: bool
    ) -> Iterator[RunRow]:
        """Yield the rows of a recipe: its stages with their gates, then what it does not know."""
        left = {result.identity: result for result in results}
        gates = self._gates(prefix)
        for stage in recipe.stages if recipe else ():
            gate = gates.pop(identity_in(prefix, stage.name), None)
            known = {identity_in(prefix, step.id): step for step in stage.steps}
            found = [left.pop(identity) for identity in list(left) if identity in known]
            rows = tuple(self._batches(known, stage.steps, found, forgiven=forgiven))
            if stage.name and rows:
                rows = (_around("stage", stage.name, identity_in(prefix, stage.name), rows),)
            if gate is not None:
                first = stage.approval is not None and stage.approval.before
                rows = (gate, *rows) if first else (*rows, gate)
            yield from rows
        yield from (self._step(result, None, forgiven=forgiven) for result in left.values())
        yield from gates.values()

    def _batches(
        self, known: dict[str, Step], steps: Sequence[Step], results: Iterable[StepResult], *, forgiven: bool
    ) -> Iterator[RunRow]:
        """Yield the rows of steps; those of a parallel group are inside one row."""
        together = {id(step): number for number, batch in enumerate(batches(steps)) for step in batch}
        for _, batch in groupby(results, lambda result: together[id(known[result.identity])]):
            members = list(batch)
            rows = tuple(self._step(each, known[each.identity], forgiven=forgiven) for each in members)
            group = known[members[0].identity].parallel_group
            yield from (_around("parallel", group, "", rows),) if group and len(rows) > 1 else rows

    def _step(self, result: StepResult, step: Step | None, *, forgiven: bool) -> RunRow:
        status = self.history.status(result)
        ok = forgiven or result.allowed or status not in ("failed", "interrupted")
        rounds = any(child.identity.endswith("]") for child in result.children)
        return RunRow(
            identity=result.identity,
            name=result.step_id,
            kind="loop" if rounds else result.kind,
            status=status,
            started=self.history.started(result),
            ended=self.history.ended(result),
            result=result,
            written=_written(step),
            forgiven=forgiven or result.allowed,
            children=tuple(self._inside(result, step, forgiven=ok)),
        )

    def _inside(self, result: StepResult, step: Step | None, *, forgiven: bool) -> Iterator[RunRow]:
        rounds = [child for child in result.children if child.identity.endswith("]")]
        yield from (self._step(each, step, forgiven=forgiven) for each in rounds)
        results = [child for child in result.children if not child.identity.endswith("]")]
        prefix = f"{result.identity}/"
        if step is not None and isinstance(step.action, Body):
            known = {identity_in(prefix, each.id): each for each in step.action.steps}
            inner = [each for each in results if each.identity in known]
            yield from self._batches(known, step.action.steps, inner, forgiven=forgiven)
            results = [each for each in results if each.identity not in known]
        entered = self.story.entered.get(result.identity)
        recipe = self.recipes(entered.path) if entered and entered.path else None
        yield from self._recipe(prefix, results, recipe, forgiven=forgiven)

    def _gates(self, prefix: str) -> dict[str, RunRow]:
        """Return the gates of one recipe by their identities."""
        found = self.history.state.gates()
        return {
            identity: self._gate(identity, gate)
            for identity, gate in found.items()
            if identity[: identity.rfind("/") + 1] == prefix
        }

    def _gate(self, identity: str, gate: Gate) -> RunRow:
        reached, decided = self.story.gates.get(identity, (None, None))
        status = "waiting" if gate.approved is None else "approved" if gate.approved else "denied"
        return RunRow(
            identity=identity,
            name=gate.stage,
            kind="gate",
            status=status,
            started=reached,
            ended=gate.at or decided,
            gate=gate,
        )


def _around(kind: str, name: str, identity: str, rows: tuple[RunRow, ...]) -> RunRow:
    """Return a row that holds others and has their worst status."""
    begun = [row.started for row in rows if row.started is not None]
    ended = [row.ended for row in rows]
    found = {row.status for row in rows if not row.forgiven}
    return RunRow(
        identity=identity,
        name=name,
        kind=kind,
        status=next((each for each in _WORST if each in found), "skipped"),
        started=min(begun, default=None),
        ended=None if any(each is None for each in ended) else max(each for each in ended if each),
        forgiven=all(row.forgiven for row in rows),
        children=rows,
    )


def _written(step: Step | None) -> str:
    match step.action if step else None:
        case Bash(command):
            return command.text
        case Agent(prompt):
            return prompt.text
        case _:
            return ""
