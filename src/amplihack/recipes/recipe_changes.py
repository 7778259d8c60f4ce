"""Compare the recipes of a run with what has become of them: what stays done, and what an edit undoes.

A finished step stays done if it means the same as before and reads nothing that an edit changes. Where things
stand in a file does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Literal, TypeAlias

from amplihack.recipes.check.variable_uses import (
    EVERYTHING,
    VariableMention,
    before_loop,
    between_rounds,
    environment_names,
    in_round,
    in_test,
)
from amplihack.recipes.events import Undone, below, identity_in
from amplihack.recipes.model import Body, Recipe, Stage, Step
from amplihack.recipes.run_parts import Instance
from amplihack.recipes.semantics import STEPS, VARIABLES, writes
from amplihack.recipes.values import Value
from amplihack.records import Record, replace

Shelf: TypeAlias = "Callable[[str], Recipe | None]"  # a recipe by its path


class Work(Record):
    """What a run has done: its steps, and the file of each sub-recipe that it entered."""

    instances: Mapping[str, Instance]
    entered: Mapping[str, str]  # the identity of a call -> the path of its recipe
    inputs: frozenset[str]  # names that the run was given, whatever the defaults say


class Changes(Record):
    """What an edit means for a run, by identities. `refused` says why the run cannot go on at all."""

    kept: tuple[str, ...]
    again: tuple[str, ...]
    new: tuple[str, ...]
    gone: tuple[str, ...]
    moved: tuple[str, ...]  # steps that the run has begun, and that stand in another order now
    undone: tuple[Undone, ...]
    refused: str = ""


def compare(work: Work, path: str, before: Shelf, now: Shelf) -> Changes:
    """Compare every recipe that the run has entered, from the one at `path` on."""
    walk = _Walk(work, before, now)
    walk.recipe("", path)
    return Changes(
        tuple(walk.kept),
        (*(each.identity for each in walk.undone if each.how == "again"), *walk.anyway),
        tuple(walk.new),
        tuple(each.identity for each in walk.undone if each.how == "gone"),
        tuple(walk.moved),
        tuple(walk.undone),
        walk.refused,
    )


class _Walk:
    def __init__(self, work: Work, before: Shelf, now: Shelf) -> None:
        self._work, self._before, self._now = work, before, now
        self._stale: set[str] = set()  # variables that an edit changes
        self.kept: list[str] = []
        self.anyway: list[str] = []  # run again in any case: they failed, or a secret is missing from them
        self.new: list[str] = []
        self.moved: list[str] = []
        self.undone: list[Undone] = []
        self.refused = ""

    def recipe(self, prefix: str, path: str) -> bool:
        """Compare a recipe; tell whether something inside it has to run."""
        old, new = self._before(path), self._now(path)
        if old is None or new is None:
            return old is not new
        secret = old.secrets | new.secrets  # their recorded values are no values
        self._stale |= _changed(old.context, new.context) - self._work.inputs - secret
        changed = self._look_for_new_gates(prefix, old, new)
        before = {step.id: step for step in old.steps}
        here = {step.id for step in new.steps}
        self.moved += self._moved(prefix, [name for name in before if name in here], new)
        for stage in new.stages:
            # Whether its steps run at all may be another question now.
            comparable = old.dialect == new.dialect and not self._stage_changed(old, stage)
            for step in stage.steps:
                early = takewhile(step.id.__ne__, before) if step.id in before else ()
                changed |= self._gone(prefix, before, [name for name in early if name not in here])
                was, identity = before.pop(step.id, None), identity_in(prefix, step.id)
                changed |= self._step(identity, was, step, comparable=comparable)
        return self._gone(prefix, before, list(before)) or changed

    def _moved(self, prefix: str, order: Sequence[str], new: Recipe) -> Iterator[str]:
        """Yield the steps that do not come where they came among those that are still there."""
        now = [step.id for step in new.steps if step.id in set(order)]
        for name, was in zip(now, order, strict=True):
            if name != was and identity_in(prefix, name) in self._work.instances:
                yield identity_in(prefix, name)

    def _stage_changed(self, old: Recipe, stage: Stage) -> bool:
        was = next((each.condition for each in old.stages if each.name == stage.name), None)
        if stage.condition is None:
            return was is not None
        return was != stage.condition or self._is_stale(mentioned(in_test(stage.condition)))

    def _gone(self, prefix: str, before: dict[str, Step], names: Sequence[str]) -> bool:
        """Undo steps that are no longer there, and take them out of `before`; tell whether they had begun."""
        begun = False
        for step in map(before.pop, names):
            identity = identity_in(prefix, step.id)
            if identity in self._work.instances:
                self._undo(identity, "gone", step)
                begun = True
        return begun

    def _step(self, identity: str, was: Step | None, step: Step, *, comparable: bool = True) -> bool:
        known = self._work.instances.get(identity)
        if known is None:
            if was is None:
                self.new.append(identity)
                self._stale.update(writes(step), [step.id])
            return was is None
        if not comparable or _work_of(was) != _work_of(step) or self._reads_stale(step):
            self._undo(identity, "again", step)
            return True
        if self._inside(identity, step):
            self._undo(identity, "inside", step)
            return True
        if known.finished:
            again = known.withheld or known.failed_for_good or known.is_due_again
            (self.anyway if again else self.kept).append(identity)
        return False

    def _inside(self, identity: str, step: Step) -> bool:
        """Compare what a step holds: a body, a sub-recipe, or rounds of them."""
        changed = False
        for place in (identity, *self._rounds(identity)):
            inner = False
            if isinstance(step.action, Body):
                for each in step.action.steps:
                    inner |= self._step(identity_in(f"{place}/", each.id), each, each)
            elif place in self._work.entered:
                inner = self.recipe(f"{place}/", self._work.entered[place])
            if inner and place != identity:
                self.undone.append(Undone(place, "inside"))
            changed |= inner
        return changed

    def _rounds(self, identity: str) -> Iterator[str]:
        index = 0
        while (place := f"{identity}[{index}]") in self._work.instances:
            yield place
            index += 1

    def _undo(self, identity: str, how: Literal["again", "inside", "gone"], step: Step) -> None:
        self.undone.append(Undone(identity, how))
        # By its id as well: others may ask for `steps.<id>`.
        self._stale.update(writes(step), [step.id], self._work.instances[identity].values)

    def _reads_stale(self, step: Step) -> bool:
        return bool(self._stale) and self._is_stale(reads(step))  # each step of a body is asked by itself

    def _is_stale(self, names: Iterable[str]) -> bool:
        read = set(names)
        if not self._stale:
            return False
        return EVERYTHING in read or any(name in read or name.lower() in read for name in self._stale)

    def _look_for_new_gates(self, prefix: str, old: Recipe, new: Recipe) -> bool:
        """Tell whether there is a gate that nobody has been asked at; refuse one that work has passed."""
        known = {(stage.name, stage.approval.before) for stage in old.stages if stage.approval}
        found = False
        for index, stage in enumerate(new.stages):
            if stage.approval is None or (stage.name, stage.approval.before) in known:
                continue
            found = True
            later = new.stages[index if stage.approval.before else index + 1 :]
            done = [identity for identity in _identities(prefix, later) if identity in self._work.instances]
            done += self._behind(prefix)
            if done:
                what = f"stage '{stage.name}' has a new gate, and work behind it is done already"
                self.refused = f"{what}: {', '.join(done)}"
        return found

    def _behind(self, prefix: str) -> list[str]:
        """Return what began after the call of the sub-recipe at a place, outside of it."""
        call = prefix.rstrip("/")
        order = list(self._work.instances)
        if call not in self._work.instances:  # the recipe of the run itself
            return []
        later = order[order.index(call) + 1 :]
        return [identity for identity in later if not below(identity, call)]


def _work_of(step: Step | None) -> Step | None:
    """Return what a step does, whatever became of those before it."""
    return replace(step, always=False) if step and step.always else step


def reads(step: Step) -> Iterator[str]:
    """Yield the variables that a step mentions, and the steps whose results it asks for."""
    yield from mentioned((*before_loop(step), *in_round(step), *between_rounds(step)))
    yield from environment_names(step)


def mentioned(mentions: Iterable[VariableMention]) -> Iterator[str]:
    """Yield the names of variables, also where they are part of `inputs`, and of steps in `steps`."""
    for mention in mentions:
        yield mention.name
        if mention.name == STEPS or mention.name in VARIABLES:
            yield mention.path[1] if len(mention.path) > 1 else EVERYTHING


def _changed(old: Mapping[str, Value], new: Mapping[str, Value]) -> set[str]:
    return {name for name in {*old, *new} if name not in old or name not in new or old[name] != new[name]}


def _identities(prefix: str, stages: Sequence[Stage]) -> Iterator[str]:
    return (identity_in(prefix, step.id) for stage in stages for step in stage.steps)
