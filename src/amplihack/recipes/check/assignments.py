"""Track which names have been set so far, and under which guards.

A guard is a condition, a tag or anything else that can keep a step from leaving its result. A name is sure
where every guard of one of the ways in which it was set holds too.
"""

from __future__ import annotations

from typing import TypeAlias

from amplihack.recipes.conditions import And, Expression, references, show
from amplihack.recipes.model import Step, Test
from amplihack.recipes.semantics import may_have_no_round, written_on_failure

Guards: TypeAlias = frozenset[str]
Ways: TypeAlias = list[tuple[str, Guards]]  # the step that sets a name, and what can keep it from that
UNGUARDED: Guards = frozenset()
_MOST_WAYS = 8  # more ways to set one name are not told apart


class Assignments:
    """The names that the steps up to here have set."""

    def __init__(self) -> None:
        self._ways: dict[str, Ways] = {}
        self._changes: dict[str, int] = {}
        self._before: list[dict[str, Ways]] = []  # for each open fork, what was before of what has changed

    def ways(self, name: str) -> Ways:
        return self._ways.get(name, [])

    def names(self) -> frozenset[str]:
        return frozenset(self._ways)

    def sure(self) -> frozenset[str]:
        return frozenset(name for name, ways in self._ways.items() if not all(guards for _, guards in ways))

    def add(self, name: str, step: str, guards: Guards) -> None:
        self._changes[name] = self._changes.get(name, 0) + 1
        self._remember(name)
        ways = self._ways.setdefault(name, [])
        if not guards:
            ways[:] = [(step, guards)]
        elif len(ways) < _MOST_WAYS and all(known for _, known in ways):
            ways.append((step, guards))

    def fork(self) -> None:
        """Begin what is taken back, for steps whose names others do not see."""
        self._before.append({})

    def join(self) -> dict[str, Ways]:
        """Forget what was set since the last fork; returns it."""
        before = self._before.pop()
        since = {name: ways for name in before if (ways := self.ways(name)) != before[name]}
        self._put(before)
        return since

    def restore(self, hidden: dict[str, Ways]) -> None:
        """Put names back to what they were, as a loop does with its own."""
        for name in hidden:
            self._remember(name)
        self._put(hidden)

    def _remember(self, name: str) -> None:
        if self._before and name not in self._before[-1]:
            self._before[-1][name] = list(self.ways(name))

    def _put(self, known: dict[str, Ways]) -> None:
        for name, ways in known.items():
            self._ways.pop(name, None)
            if ways:
                self._ways[name] = ways

    def merge(self, since: dict[str, Ways]) -> None:
        for name, ways in since.items():
            for step, guards in ways:
                self.add(name, step, guards)

    def all_ways(self) -> dict[str, Ways]:
        return {name: list(ways) for name, ways in self._ways.items()}

    def doubt(self, sure: dict[str, Ways], guard: str) -> dict[str, Ways]:
        """Put a guard before all that was set since `sure` was all; returns what was known."""
        known = self.all_ways()
        for name, ways in known.items():
            if ways != (older := sure.get(name, [])):
                self._remember(name)
                self._ways[name] = [*older, *((step, guards | {guard}) for step, guards in ways)]
        return known

    def believe(self, known: dict[str, Ways], guard: str) -> None:
        """Take a guard away again, from what was known before it and from what was set behind it."""
        for name, ways in self.all_ways().items():
            doubted = any(guard in guards for _, guards in ways)
            if doubted:
                plain = [(step, guards - {guard}) for step, guards in ways]
                only_known = all(way in plain for way in known.get(name, [])) and name in known
                self._ways[name] = known[name] if only_known else plain

    def conjuncts(self, test: Test) -> Guards:
        """Return the parts of a condition, each marked with how often its variables were set by now.

        A name that was set under a condition is there under the same condition only while that still holds.
        """
        found = set()
        changed = any(each.path[0] in self._changes for each in test.references)
        for part in _conjuncts(test.condition.tree):
            marks = [self._changes.get(each.path[0], 0) for each in references(part)] if changed else ()
            shown = show(part)
            found.add(f"{shown} {marks}" if any(marks) else shown)
        return frozenset(found)


def _conjuncts(tree: Expression) -> list[Expression]:
    """Return the parts that must all hold for a condition to hold."""
    if not isinstance(tree, And):
        return [tree]
    return [part for operand in tree.operands for part in _conjuncts(operand)]


def tags(step: Step) -> Guards:
    return frozenset({f"tags {' '.join(step.when_tags)}"}) if step.when_tags else UNGUARDED


def success(step: Step) -> Guards:
    return UNGUARDED if step.on_error == "fail" else frozenset({f"success of {step.id}"})


def rounds(step: Step) -> Guards:
    return frozenset({f"rounds of {step.id}"}) if may_have_no_round(step.loop) else UNGUARDED


def own_guards(step: Step, name: str) -> Guards:
    """Return what can keep a step from setting this name, besides its condition."""
    guards = tags(step) | (UNGUARDED if written_on_failure(step, name) else success(step))
    collected = step.loop is not None and name == step.loop.collect
    return guards if collected else guards | rounds(step)
