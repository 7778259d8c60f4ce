"""Which variables are there at each mention, on every path through one recipe.

A recipe runs forward: steps may be skipped, repeated or run side by side, but never jump back. So one pass is
enough. It remembers for each name under which guards it was set; a guard is a condition, a tag or anything
else that can keep a step from leaving its result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby

from amplihack.recipes.check import mentions
from amplihack.recipes.check.mentions import Mention
from amplihack.recipes.check.names import BUILT_IN, IN_HOOKS
from amplihack.recipes.check.results import (
    conjuncts,
    declared,
    makers,
    may_be_empty,
    names_in_body,
    own_guards,
    own_results,
    tags,
)
from amplihack.recipes.check.standing import (
    SURE,
    UNGUARDED,
    UNKNOWN,
    Call,
    Flow,
    Guards,
    Later,
    Look,
    Maybe,
    Sibling,
    Standing,
    Use,
)
from amplihack.recipes.model import Body, Foreach, Recipe, Stage, Step, SubRecipe, Test, While


def follow(recipe: Recipe, look: Look) -> Flow:
    """Follows the data through a recipe; `look` tells what a sub-recipe does."""
    walk = _Walk(recipe, look)
    walk.run()
    return walk.flow()


class _Walk:
    def __init__(self, recipe: Recipe, look: Look) -> None:
        self.recipe, self.look = recipe, look
        self.declared = declared(recipe)
        self.makers = makers(recipe.steps)
        self.set: dict[str, list[tuple[str, Guards]]] = {}
        self.loop_names: list[str] = []
        self.guards: Guards = UNGUARDED
        self.tested: frozenset[str] = frozenset()
        self.siblings: dict[str, str] = {}
        self.running: list[str] = []
        self.open = False
        self.uses: list[Use] = []
        self.calls: list[Call] = []
        self.made: set[str] = set(self.makers)
        self.used: set[str] = set()

    def flow(self) -> Flow:
        sure = {name for name, ways in self.set.items() if any(not guards for _, guards in ways)}
        return Flow(
            tuple(self.uses),
            tuple(self.calls),
            frozenset(sure) | self.declared,
            self.makers,
            frozenset(self.made),
            frozenset(self.used),
            self.open,
        )

    def run(self) -> None:
        for name, value in self.recipe.context.items():
            place = self.recipe.context_places.get(name, self.recipe.where)
            self._use(None, mentions.in_value(value, place, soft=True))
        for stage in self.recipe.stages:
            self._stage(stage)
        self._hooks()
        if self.recipe.summary:
            self._use_anywhere(mentions.in_text(self.recipe.summary, soft=True))

    # the parts of a recipe

    def _stage(self, stage: Stage) -> None:
        if stage.condition:
            self._use(None, mentions.in_test(stage.condition))
        if stage.approval and stage.approval.before:
            self._use(None, mentions.in_text(stage.approval.prompt))
        with self._guarded(stage.condition):
            self._steps(stage.steps)
            if stage.approval and not stage.approval.before:
                self._use(None, mentions.in_text(stage.approval.prompt))

    def _hooks(self) -> None:
        hooks = self.recipe.hooks
        for text in filter(None, (hooks.pre_step, hooks.post_step, hooks.on_error)):
            found = mentions.in_command(text)
            self._use_anywhere(each for each in found if each.name not in IN_HOOKS)

    def _use_anywhere(self, found: Iterable[Mention]) -> None:
        """Texts that are rendered at many times, so that any result may be there."""
        for mention in found:
            self.used.add(mention.name)
            there = mention.name in self.made or mention.name in self.declared or mention.name in BUILT_IN
            self.uses.append(Use(mention, None, SURE if there else UNKNOWN, self.open))

    def _steps(self, steps: tuple[Step, ...]) -> None:
        for group, members in groupby(steps, key=lambda step: step.parallel_group):
            if group is None:
                for step in members:
                    self._step(step)
                    self._store(step)
            else:
                self._side_by_side(tuple(members))

    def _side_by_side(self, members: tuple[Step, ...]) -> None:
        """No member sees what another one sets until all are done."""
        outside = self.siblings
        self.siblings = {**outside, **{name: step.id for step in members for name in own_results(step)}}
        for step in members:
            self.running.append(step.id)
            self._step(step)
            self.running.pop()
        self.siblings = outside
        for step in members:
            self._store(step)

    def _step(self, step: Step) -> None:
        self.used.update(mentions.environment_names(step))
        with self._guarded(step.condition):
            self._use(step, mentions.before_loop(step))
            with self._loop(step):
                self._use(step, mentions.in_round(step))
                if isinstance(step.action, Body):
                    self._steps(step.action.steps)
                elif isinstance(step.action, SubRecipe):
                    self._call(step, step.action)
                self._between_rounds(step)

    def _between_rounds(self, step: Step) -> None:
        results = {*own_results(step), *names_in_body(step)}
        for mention in mentions.between_rounds(step):
            if mention.name in results:
                self.used.add(mention.name)
            else:
                self._use(step, (mention,))

    def _call(self, step: Step, call: SubRecipe) -> None:
        callee = self.look(call)
        inherits = call.mode == "inherit"
        if callee is None:
            self.open = self.open or inherits
            return
        given = set(call.context)
        missing = tuple(sorted(name for name in callee.required - given if self._lacks(name, inherits)))
        unmet = callee.needs - given - callee.required
        used = tuple(sorted(name for name in unmet if self._lacks(name, inherits)))
        self.calls.append(Call(step, missing, used, self.open))
        if inherits:
            self.used |= callee.used
            self.open = self.open or callee.open

    def _lacks(self, name: str, inherits: bool) -> bool:
        if not inherits:
            return True
        return not (name in self.declared or name in self.set or name in self.loop_names)

    # what is set

    def _store(self, step: Step) -> None:
        guards = self.guards | conjuncts(step.condition)
        for name in own_results(step):
            self._set(name, step.id, guards | own_guards(step, name))
        if isinstance(step.action, SubRecipe) and step.action.mode == "inherit":
            self._store_from(step, step.action, guards)

    def _store_from(self, step: Step, call: SubRecipe, guards: Guards) -> None:
        callee = self.look(call)
        if callee is None:
            return
        self.made |= callee.made
        for name in (callee.made | callee.declared) - set(call.context):
            certain = name in callee.made and name in callee.sure
            inside = UNGUARDED if certain else frozenset({f"inside {step.id}"})
            self._set(name, step.id, guards | inside | own_guards(step, name))

    def _set(self, name: str, step: str, guards: Guards) -> None:
        ways = self.set.setdefault(name, [])
        if not guards:
            ways[:] = [(step, guards)]
        elif len(ways) < 8 and not any(not known for _, known in ways):
            ways.append((step, guards))

    @contextmanager
    def _guarded(self, test: Test | None) -> Iterator[None]:
        guards, tested = self.guards, self.tested
        if test:
            self.guards = guards | conjuncts(test)
            self.tested = tested | {each.name for each in mentions.in_test(test)}
        yield
        self.guards, self.tested = guards, tested

    @contextmanager
    def _loop(self, step: Step) -> Iterator[None]:
        """Inside a loop its variable is there, and perhaps what an earlier round has set."""
        if step.loop is None:
            yield
            return
        over, guards = step.loop.over, self.guards
        if isinstance(over, Foreach):
            self.loop_names.append(over.name)
        if isinstance(over, While) or over.parallel is None:
            again = frozenset({f"an earlier round of {step.id}"})
            for name in (*names_in_body(step), *own_results(step)):
                self._set(name, step.id, guards | again)
        if may_be_empty(step):
            self.guards = guards | {f"rounds of {step.id}"}
        yield
        self.guards = guards
        if isinstance(over, Foreach):
            self.loop_names.pop()

    # what is used

    def _use(self, step: Step | None, found: Iterable[Mention]) -> None:
        for mention in found:
            self.used.add(mention.name)
            self.uses.append(Use(mention, step, self._standing(step, mention.name), self.open))

    def _standing(self, step: Step | None, name: str) -> Standing:
        if name in self.loop_names:
            return SURE
        ways = self.set.get(name)
        sibling = self.siblings.get(name)
        if sibling is not None and sibling not in self.running:
            return Sibling(sibling, earlier=ways is not None or name in self.declared)
        if name in self.declared or name in BUILT_IN:
            return SURE
        if ways:
            return SURE if self._certain(step, name, ways) else Maybe(ways[-1][0])
        later = self.makers.get(name)
        return Later(later[0]) if later else UNKNOWN

    def _certain(self, step: Step | None, name: str, ways: list[tuple[str, Guards]]) -> bool:
        here = self.guards | (tags(step) if step else UNGUARDED)
        return name in self.tested or any(guards <= here for _, guards in ways)
