"""Tell what happened in one of two runs that are compared: its steps and gates, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from amplihack.recipes.model import Recipe
from amplihack.recipes.run_fork import beginnings, gate_name, place_of
from amplihack.recipes.run_history import RunHistory
from amplihack.recipes.run_parts import Gate
from amplihack.recipes.run_story import tell_story
from amplihack.recipes.values import Value
from amplihack.records import Record


class RunSide(Record):
    """One of the runs that are compared. `inputs` are its variables at the start, defaults included."""

    events: Sequence[Any]
    recipes: Callable[[str], Recipe | None]
    path: str
    inputs: Mapping[str, Value]
    alive: bool = False


class ComparedRun:
    """What one of the runs tells about its steps and gates."""

    def __init__(self, side: RunSide) -> None:
        self.history = RunHistory(side.events, alive=side.alive)
        self.story = tell_story(side.events)
        self.begun = beginnings(side.events)
        self.recipes = side.recipes
        self._inside: dict[str, list[str]] = {}
        for name in sorted(self.begun, key=self.begun.__getitem__):
            self._inside.setdefault(place_of(name), []).append(name)

    def inside(self, prefix: str) -> list[str]:
        """Return what began directly in a place, in order; gates under names of their own."""
        return self._inside.get(prefix, [])

    def recipe_of(self, identity: str) -> Recipe | None:
        entered = self.story.entered.get(identity)
        return self.recipes(entered.path) if entered and entered.path else None

    def status(self, name: str) -> str:
        if (gate := self._gate(name)) is not None:
            return "waiting" if gate.approved is None else "approved" if gate.approved else "denied"
        known = self.history.state.instance(name)
        return self.history.status(known.result) if known else "missing"

    def output(self, name: str) -> str:
        if (gate := self._gate(name)) is not None:
            return gate.message
        known = self.history.state.instance(name)
        result = known.result if known else None
        return "\n".join(filter(None, (result.error, result.output))) if result else ""

    def times(self, name: str) -> tuple[float | None, float | None]:
        known = self.history.state.instance(name)
        return (
            (self.history.started(known.result), self.history.ended(known.result)) if known else (None, None)
        )

    def values(self, name: str) -> Mapping[str, Value]:
        known = self.history.state.instance(name)
        return known.values if known else {}

    def _gate(self, name: str) -> Gate | None:
        _, mark, identity = name.partition(gate_name(""))
        return self.history.state.gate(identity) if mark else None
