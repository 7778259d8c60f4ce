"""Follow the data through one recipe, and tell which variables are there at each mention, on every path.

A recipe runs forward: steps may be skipped, repeated or run side by side, but never jump back. So one pass is
enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from amplihack.recipes.check import variable_uses
from amplihack.recipes.check.assignments import (
    UNGUARDED,
    Assignments,
    Guards,
    Ways,
    own_guards,
    rounds,
    success,
    tags,
)
from amplihack.recipes.check.availability import (
    SURE,
    UNKNOWN,
    Availability,
    CallNeeds,
    Flow,
    Later,
    LookInto,
    Maybe,
    Sibling,
    Use,
)
from amplihack.recipes.check.variable_uses import VariableMention
from amplihack.recipes.inputs import declared_names
from amplihack.recipes.model import Body, Loop, Recipe, Stage, Step, SubRecipe, Test, every_step
from amplihack.recipes.rounds import loop_facts
from amplihack.recipes.semantics import (
    BUILT_IN,
    HOOK_NAMES,
    LOOP,
    STEPS,
    batches,
    every_loop_name,
    handed_back,
    kept_body,
    kept_of_rounds,
    loop_names,
    rounds_are_apart,
    still_run,
    writes,
)
from amplihack.recipes.templates.asked_names import by_shell_name, meant_path
from amplihack.recipes.values import KeyPath
from amplihack.records import replace


def follow(recipe: Recipe, look: LookInto) -> Flow:
    """Follow the data through a recipe; `look` tells what a sub-recipe does."""
    walk = _Walk(recipe, look)
    walk.run()
    return walk.flow()


def names_set(step: Step, look: LookInto) -> dict[str, bool]:
    """Return every name that a step leaves behind, and whether no sub-recipe is needed for it."""
    call = handed_back(step)
    callee = look(call) if call else None
    names = dict.fromkeys(sorted(callee.made), False) if callee else {}
    for inner in kept_body(step):
        names |= names_set(inner, look)
    kept = {name: names[name] for name in kept_of_rounds(step, names)}
    return {**kept, **dict.fromkeys(writes(step), True)}


_Outside: TypeAlias = tuple[Guards, frozenset[str], frozenset[str]]  # guards, names tested, names asked about


class _Walk:
    def __init__(self, recipe: Recipe, look: LookInto) -> None:
        self.recipe, self.look = recipe, look
        self.declared = declared_names(recipe)
        self.makers = self._makers()
        self.set = Assignments()
        self.loop_names: list[str] = []
        self.loops: list[tuple[str, ...]] = []  # what `loop` tells in each loop around the position
        self.repeated: list[frozenset[str]] = []  # the steps of each loop around the position
        self.ids = frozenset(step.id for step in every_step(recipe.steps))
        self.guards: Guards = UNGUARDED
        self.lists: list[
            tuple[Guards, dict[str, Ways]]
        ] = []  # what is known at the start of the lists around
        self.tested: frozenset[str] = frozenset()
        self.asked: frozenset[str] = frozenset()
        self.siblings: dict[str, list[str]] = {}
        self.running: list[str] = []
        self.done: set[str] = set()
        self.open = False
        self.uses: list[Use] = []
        self.calls: list[CallNeeds] = []
        self.made: set[str] = set(self.makers)
        self.mentioned: set[str] = set()
        self.in_scripts: set[str] = set()
        self.shell_names: dict[str, str] | None = None  # of the variables of the recipe

    def _makers(self) -> dict[str, list[str]]:
        """Return for each name the steps that set it, themselves or through a sub-recipe."""
        found: dict[str, list[str]] = {}
        for step in every_step(self.recipe.steps):
            call = handed_back(step)
            callee = self.look(call) if call else None
            for name in (*writes(step), *(callee.made if callee else ())):
                found.setdefault(name, []).append(step.id)
        return found

    def flow(self) -> Flow:
        return Flow(
            tuple(self.uses),
            tuple(self.calls),
            self.set.sure(),
            {name: tuple(ids) for name, ids in self.makers.items()},
            frozenset(self.made),
            self.set.names(),
            frozenset(self.mentioned),
            frozenset(self.in_scripts),
            self.open,
        )

    def run(self) -> None:
        for name, value in self.recipe.context.items():
            place = self.recipe.context_places.get(name, self.recipe.where)
            self._use(None, variable_uses.in_value(value, place, soft=True))
        for stage in self.recipe.stages:
            self._stage(stage)
        self._hooks()
        if self.recipe.summary:
            self._use_anywhere(variable_uses.in_text(self.recipe.summary))

    # the parts of a recipe

    def _stage(self, stage: Stage) -> None:
        if stage.condition:
            self._use(None, variable_uses.in_test(stage.condition))
        if stage.approval and stage.approval.before:
            self._use(None, variable_uses.in_text(stage.approval.prompt))
        outside = self._enter(stage.condition)
        self._steps(stage.steps, since={})  # a failure in an earlier stage counts too
        if stage.approval and not stage.approval.before:
            self._use(None, variable_uses.in_text(stage.approval.prompt))
        self._leave(outside)

    def _hooks(self) -> None:
        hooks = self.recipe.hooks
        looping = any(step.loop for step in every_step(self.recipe.steps))
        given = HOOK_NAMES | ({LOOP} if looping else set())  # hooks run in rounds as well
        for text in filter(None, (hooks.pre_step, hooks.post_step, hooks.on_error)):
            for mention in variable_uses.in_command(text):
                if mention.manner == "environment" or mention.name not in given:
                    self._use_anywhere((mention,))

    def _use_anywhere(self, found: Iterable[VariableMention]) -> None:
        """Note uses in texts that are rendered at many times, so that any result may be there."""
        for mention in map(self._meant, found):
            self.mentioned.add(mention.name)
            there = mention.name in self.made or mention.name in self.declared or self._built_in(mention)
            self.uses.append(Use(mention, None, SURE if there else UNKNOWN, self.open))

    def _steps(self, steps: tuple[Step, ...], since: dict[str, Ways] | None = None) -> None:
        guards = self.guards
        if always := still_run(steps):
            self.lists.append((guards, self.set.all_ways() if since is None else since))
        for batch in batches(steps):
            self._batch(batch)
            for step in batch:
                if step.on_error == "skip_remaining":
                    self.guards |= success(step)  # otherwise the steps after it are not reached
        self.guards = guards
        if always:
            self.lists.pop()

    def _batch(self, batch: tuple[Step, ...]) -> None:
        """Follow steps that run at the same time: none sees what another one sets until all are done."""
        outside = self.siblings
        if len(batch) > 1:
            self.siblings = dict(outside)
            for step in batch:
                for name in self._names_set(step):
                    self.siblings[name] = [*self.siblings.get(name, ()), step.id]
        ended = [(step, *self._member(step, alone=len(batch) == 1)) for step in batch]
        self.siblings = outside
        for step, guards, since in ended:
            self.set.merge(since)
            self._store(step, guards)

    def _member(self, step: Step, *, alone: bool) -> tuple[Guards, dict[str, Ways]]:
        """Follow a member of a batch; returns its guards, and what its rounds set beside other members."""
        apart = not alone and step.loop is not None
        if apart:
            self.set.fork()
        self.running.append(step.id)
        guards = self._always(step) if step.always else self._step(step)
        self.done.add(self.running.pop())
        return guards, self.set.join() if apart else {}

    def _always(self, step: Step) -> Guards:
        """Follow a step that runs whatever became of those before it: their results may be missing."""
        outside, guard = self.guards, f"no failure before {step.id}"
        self.guards, sure = self.lists[-1]
        known = self.set.doubt(sure, guard)
        guards = self._step(step)
        self.set.believe(known, guard)
        self.guards = outside
        return guards

    def _names_set(self, step: Step) -> dict[str, bool]:
        return names_set(step, self.look)

    def _step(self, step: Step) -> Guards:
        """Follow one step; returns the guards of its condition as they were before it ran."""
        self.in_scripts.update(variable_uses.environment_names(step))
        outside = self._enter(step.condition)
        guards = self.guards
        self._use(step, variable_uses.before_loop(step))
        if step.loop is None:
            self._round(step)
        else:
            with self._loop(step, step.loop):
                self._round(step)
                self._between_rounds(step)
        self._leave(outside)
        return guards

    def _round(self, step: Step) -> None:
        self._use(step, variable_uses.in_round(step))
        if isinstance(step.action, Body):
            self._steps(step.action.steps)
        elif isinstance(step.action, SubRecipe):
            self._call(step, step.action)

    def _between_rounds(self, step: Step) -> None:
        results = self._names_set(step)
        for mention in variable_uses.between_rounds(step):
            if mention.name in results:
                self.mentioned.add(mention.name)
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
        self.calls.append(CallNeeds(step, missing, callee.insists, used, self.open))
        if inherits:
            self.mentioned |= callee.mentioned
            self.in_scripts |= callee.in_scripts
            self.open = self.open or callee.open

    def _lacks(self, name: str, inherits: bool) -> bool:
        if not inherits:
            return True
        return not (name in self.declared or self.set.ways(name) or name in self.loop_names)

    def _in_loop(self, path: KeyPath) -> bool:
        """Tell whether a path that begins with `loop` leads to something here."""
        loops = self.loops
        members = path[1:]
        while loops and members[:1] == ("parent",):
            loops, members = loops[:-1], members[1:]
        return bool(loops) and (not members or members[0] in loops[-1])

    # what is set

    def _store(self, step: Step, guards: Guards) -> None:
        for name in writes(step):
            self.set.add(name, step.id, guards | own_guards(step, name))
        call = handed_back(step)
        callee = self.look(call) if call else None
        if callee is None:
            return
        self.made |= callee.made
        for name in kept_of_rounds(step, callee.made):
            inside = UNGUARDED if name in callee.sure else frozenset({f"inside {step.id}"})
            self.set.add(name, step.id, guards | inside | own_guards(step, name))

    def _enter(self, test: Test | None) -> _Outside:
        """Go where a condition holds; returns what is known outside, to come back to."""
        outside = self.guards, self.tested, self.asked
        if test:
            self.guards |= self.set.conjuncts(test)
            self.tested |= {each.path[0] for each in test.references}
            self.asked |= variable_uses.asked_in(test)
        return outside

    def _leave(self, outside: _Outside) -> None:
        self.guards, self.tested, self.asked = outside

    @contextmanager
    def _loop(self, step: Step, loop: Loop) -> Iterator[None]:
        """Go into a loop, where its own names are there, and perhaps what an earlier round has set."""
        guards, names, apart = self.guards, loop_names(loop), rounds_are_apart(step)
        if apart:
            self.set.fork()
        hidden = {name: list(self.set.ways(name)) for name in names}
        self.loop_names += names
        self.loops.append(loop_facts(loop))
        self.repeated.append(frozenset() if apart else frozenset(each.id for each in every_step((step,))))
        if not apart:
            again = frozenset({f"an earlier round of {step.id}"})
            for name in self._names_set(step):
                self.set.add(name, step.id, guards | again)
        self.guards = guards | rounds(step) | success(step)
        yield
        self.guards = guards
        del self.loop_names[-len(names) :]
        self.loops.pop()
        self.repeated.pop()
        self.set.restore(hidden)
        if apart:
            self.set.join()

    # what is used

    def _use(self, step: Step | None, found: Iterable[VariableMention]) -> None:
        for mention in map(self._meant, found):
            self.mentioned.add(mention.name)
            if mention.name in self.asked:  # its author has asked whether it is there
                mention = replace(mention, soft=True)
            self.uses.append(Use(mention, step, self._availability(step, mention), self.open))

    def _meant(self, mention: VariableMention) -> VariableMention:
        """Return a mention in the environment by the name that the recipe has for it."""
        if mention.manner != "environment":
            return mention
        if self.shell_names is None:
            self.shell_names = by_shell_name(self.declared | self.made | every_loop_name(self.recipe))
        path = meant_path(mention.name, self.shell_names, self.recipe.context)
        return replace(mention, path=path) if path else mention

    def _built_in(self, mention: VariableMention) -> bool:
        return mention.name in BUILT_IN and mention.manner != "environment"  # scripts are not given those

    def _availability(self, step: Step | None, mention: VariableMention) -> Availability:
        name = mention.name
        if name in self.loop_names:
            return SURE
        if name == LOOP and mention.manner != "environment" and self._in_loop(mention.path):
            return SURE
        if name == STEPS and self._built_in(mention) and name not in self.made:
            return self._facts(mention.path)
        ways = self.set.ways(name)
        for sibling in self.siblings.get(name, ()):
            if sibling not in self.running:
                return Sibling(sibling, earlier=bool(ways) or name in self.declared)
        if name in self.declared or self._built_in(mention):
            return SURE
        if ways:
            return SURE if self._certain(step, name, ways) else Maybe(ways[-1][0])
        # What a step behind us has set is gone: it was set in a round that kept its names to itself.
        later = next((maker for maker in self.makers.get(name, ()) if maker not in self.done), None)
        return UNKNOWN if later is None else Later(later)

    def _facts(self, path: KeyPath) -> Availability:
        """Tell whether `steps.ID` is there: not before the step ends, unless an earlier round has run it."""
        identifier = path[1] if len(path) > 1 else ""
        again = any(identifier in inside for inside in self.repeated)
        if identifier not in self.ids or identifier in self.done or again or STEPS in self.declared:
            return SURE
        return Later(identifier)

    def _certain(self, step: Step | None, name: str, ways: Ways) -> bool:
        here = self.guards | (tags(step) if step else UNGUARDED)
        return name in self.tested or any(guards <= here for _, guards in ways)
