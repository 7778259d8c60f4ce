"""Compare two runs step by step: where they first differ and why, then the rest.

Of a step that differs, the earliest cause is told: its recipe, what it was given, how it ended, what it left.
A step that holds others is told only if nothing inside it explains the difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

from amplihack.recipes.compared_run import ComparedRun, RunSide
from amplihack.recipes.events import identity_in
from amplihack.recipes.explain import step_line
from amplihack.recipes.model import Agent, Bash, Body, Foreach, Recipe, Step, SubRecipe
from amplihack.recipes.recipe_changes import reads
from amplihack.recipes.rounds import as_list, list_path
from amplihack.recipes.run_fork import gate_name, place_of
from amplihack.recipes.values import MISSING, Missing, Value, lookup, to_text
from amplihack.records import Record, replace

Why: TypeAlias = Literal["recipe", "input", "output", "status", "missing"]
_LONGEST = 2_000  # characters of a text that are shown


class RunDifference(Record, kw_only=True):
    """One difference. `a` and `b` are the two sides, None where there is nothing; `also` differs as well."""

    identity: str
    why: Why
    a: str | None
    b: str | None
    also: tuple[Why, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"identity": self.identity, "why": self.why, "a": self.a, "b": self.b, "also": list(self.also)}


def compare_runs(one: RunSide, other: RunSide) -> list[RunDifference]:
    """Return every difference, the first one first."""
    walk = _Comparison(one, other)
    walk.level("", one.recipes(one.path), other.recipes(other.path))
    return [*walk.found, *walk.unread()]


class _Comparison:
    """Walks through two runs at once, and knows the variables that differ where it stands."""

    def __init__(self, one: RunSide, other: RunSide) -> None:
        self.found: list[RunDifference] = []
        self._a, self._b = ComparedRun(one), ComparedRun(other)
        names = {*one.inputs, *other.inputs}
        self._values = {
            name: (one.inputs.get(name, MISSING), other.inputs.get(name, MISSING))
            for name in sorted(names)
            if one.inputs.get(name, MISSING) != other.inputs.get(name, MISSING)
        }
        self._start = dict(self._values)
        self._read: set[str] = set()

    def unread(self) -> Iterator[RunDifference]:
        """Yield the inputs that differ, though no step is known to read them."""
        for name, (a, b) in self._start.items():
            if name not in self._read:
                yield RunDifference(identity="", why="input", a=_named(name, a), b=_named(name, b))

    def level(self, prefix: str, a: Recipe | None, b: Recipe | None) -> None:
        """Compare what happened in one recipe, or in the body of a step."""
        self._steps(prefix, _steps(prefix, a), _steps(prefix, b))

    def _steps(self, prefix: str, a: Mapping[str, Step], b: Mapping[str, Step]) -> None:
        for name in merged(self._a.inside(prefix), self._b.inside(prefix)):
            self._one(name, a.get(name), b.get(name))

    def _one(self, name: str, a: Step | None, b: Step | None) -> None:
        if name not in self._a.begun or name not in self._b.begun:
            self._missing(name, b or a)
            return
        if self._is_shared(name):
            self._learn(name, b)
            return
        whys = self._differences(name, a, b)
        told = self._told(name, whys, a, b) if whys else None
        before = len(self.found)
        self._inside(name, a, b)
        edited = whys[:1] == ["recipe"] and _without_body(a) != _without_body(b)
        longer = whys[:1] == ["input"] and all(_is_lost_round(each, name) for each in self.found[before:])
        explained = len(self.found) > before and not edited and not longer
        if told is not None and not explained:  # else what is inside it says more
            self.found.insert(before, told)
        self._learn(name, b)

    def _is_shared(self, name: str) -> bool:
        """Tell whether both runs have the very same step, as a fork has those of its source."""
        times = [facts.times(name) for facts in (self._a, self._b)]
        return None not in times[0] and times[0] == times[1]

    def _inside(self, name: str, a: Step | None, b: Step | None) -> None:
        rounds = merged(self._a.inside(f"{name}["), self._b.inside(f"{name}["))
        items = self._items(a, 0), self._items(b, 1)
        for each in rounds:
            with self._given_item(each, b, items):
                self._one(each, a, b)
        place = f"{name}/"
        if _is_body(a) or _is_body(b):
            self._steps(place, _body(place, a), _body(place, b))
            return
        outside = dict(self._values)
        passed = b.action.context if b is not None and isinstance(b.action, SubRecipe) else {}
        if passed and (names := [each for each in self._given(name, b) if each in self._values]):
            one, other = (
                "; ".join(_named(each, self._values[each][side]) for each in names) for side in (0, 1)
            )
            self._values |= dict.fromkeys(passed, (one, other))  # what exactly was passed is not known
        self.level(place, self._a.recipe_of(name), self._b.recipe_of(name))
        self._values = {
            each: pair
            for each, pair in (self._values | outside).items()
            if each in outside or each not in passed
        }

    def _items(self, step: Step | None, side: int) -> Sequence[Value] | None:
        """Return the list that a loop went over, if it is not the same in both runs for all that is known."""
        over = step.loop.over if step is not None and step.loop else None
        if not isinstance(over, Foreach) or isinstance(over.items, tuple):
            return over.items if isinstance(over, Foreach) and isinstance(over.items, tuple) else None
        path = list_path(over.items.text)
        known = self._values[path[0]][side] if path is not None and path[0] in self._values else MISSING
        if path is None or isinstance(known, Missing):
            return None
        return as_list(lookup({path[0]: known}, path))

    @contextmanager
    def _given_item(
        self, name: str, step: Step | None, items: tuple[Sequence[Value] | None, Sequence[Value] | None]
    ) -> Iterator[None]:
        """Let the rounds of a loop know that their items differ."""
        over = step.loop.over if step is not None and step.loop else None
        index = int(name[name.rindex("[") + 1 : -1])
        pair = [each[index] for each in items if each is not None and index < len(each)]
        if not isinstance(over, Foreach) or len(pair) != 2 or pair[0] == pair[1]:
            yield
            return
        outside = self._values.get(over.name)
        self._values[over.name] = (pair[0], pair[1])
        yield
        self._values.pop(over.name, None)
        if outside is not None:
            self._values[over.name] = outside

    def _missing(self, name: str, step: Step | None) -> None:
        a, b = (facts.status(name) if name in facts.begun else None for facts in (self._a, self._b))
        self.found.append(RunDifference(identity=_shown(name), why="missing", a=a, b=b))
        self._learn(name, step)

    def _differences(self, name: str, a: Step | None, b: Step | None) -> list[Why]:
        """Return why a step differs, the earliest cause first."""
        checks: tuple[tuple[Why, bool], ...] = (
            ("recipe", a is not None and b is not None and a != b),
            ("input", bool(self._given(name, b))),
            ("status", self._a.status(name) != self._b.status(name)),
            ("output", self._a.output(name) != self._b.output(name)),
        )
        found = [why for why, differs in checks if differs]
        # The loop itself says that it was edited; a round has to differ in what came of it.
        return found if not name.endswith("]") or {"status", "output"} & {*found} else []

    def _given(self, name: str, step: Step | None) -> list[str]:
        """Return the variables with different values that a step reads, and its prompts if they differ."""
        names = [] if step is None else sorted({each for each in reads(step) if each in self._values})
        self._read.update(names)
        prompts = [facts.story.prompts.get(name, []) for facts in (self._a, self._b)]
        return names or (["prompt"] if all(prompts) and prompts[0] != prompts[1] else [])

    def _learn(self, name: str, step: Step | None) -> None:
        """Note the variables that have different values from here on, and those that no longer have."""
        a, b = self._a.values(name), self._b.values(name)
        for each in {*a, *b}:
            self._note(each, a.get(each, MISSING), b.get(each, MISSING))
        if step is not None and step.id not in {*a, *b}:
            self._note(step.id, self._a.output(name), self._b.output(name))

    def _note(self, name: str, a: Any, b: Any) -> None:
        if a != b:
            self._values[name] = (a, b)
        else:
            self._values.pop(name, None)

    def _told(self, name: str, whys: list[Why], a: Step | None, b: Step | None) -> RunDifference:
        why = whys[0]
        sides: tuple[str | None, str | None]
        match why:
            case "recipe":
                sides = _written(a, b), _written(b, a)
            case "input":
                sides = self._inputs(name, b, 0), self._inputs(name, b, 1)
            case "status":
                sides = self._a.status(name), self._b.status(name)
            case _:
                sides = self._a.output(name), self._b.output(name)
        told = RunDifference(identity=_shown(name), why=why, a=sides[0], b=sides[1], also=tuple(whys[1:]))
        return replace(told, a=_short(told.a), b=_short(told.b))

    def _inputs(self, name: str, step: Step | None, side: int) -> str:
        names = [each for each in self._given(name, step) if each in self._values]
        if not names:
            return "\n".join((self._a, self._b)[side].story.prompts[name])
        return "\n".join(_named(each, self._values[each][side]) for each in names)


def merged(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Return both lists as one: the first in its order, and each other name behind the one before it."""
    known = set(one)
    behind: dict[str | None, list[str]] = {}
    last: str | None = None
    for name in other:
        if name in known:
            last = name
        else:
            behind.setdefault(last, []).append(name)
    result = behind.get(None, [])
    for name in one:
        result += [name, *behind.get(name, ())]
    return result


def _is_body(step: Step | None) -> bool:
    return step is not None and isinstance(step.action, Body)


def _is_lost_round(each: RunDifference, loop: str) -> bool:
    return each.why == "missing" and place_of(each.identity) == f"{loop}["


def _body(place: str, step: Step | None) -> dict[str, Step]:
    inner = step.action.steps if step is not None and isinstance(step.action, Body) else ()
    return {identity_in(place, each.id): each for each in inner}


def _shown(name: str) -> str:
    return name.removeprefix(gate_name(""))


def _steps(prefix: str, recipe: Recipe | None) -> dict[str, Step]:
    return {identity_in(prefix, step.id): step for step in recipe.steps} if recipe else {}


def _named(name: str, value: Any) -> str:
    return f"{name}: not set" if value is MISSING else f"{name}: {to_text(value)}"


def _without_body(step: Step | None) -> Step | None:
    """Return a step without the steps inside it, which are compared by themselves."""
    return replace(step, action=Body(())) if step is not None and _is_body(step) else step


def _written(step: Step | None, other: Step | None) -> str:
    """Return what the recipe says of a step: what it does, or where that is the same, the rest."""
    if step is not None and other is not None and _action_text(step) == _action_text(other):
        return step_line(step)
    return _action_text(step)


def _action_text(step: Step | None) -> str:
    match step.action if step else None:
        case Bash(command):
            return command.text
        case Agent(prompt):
            return prompt.text
        case SubRecipe(recipe):
            return f"recipe {recipe.text}"
        case _:
            return ""


def _short(text: str | None) -> str | None:
    if text is None or len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}… ({len(text) - _LONGEST:,} more characters)"


def summary(differences: Iterable[RunDifference]) -> dict[str, Any]:
    """Return the differences as JSON data; `first` is null if there are none."""
    shown = [each.to_json() for each in differences]
    return {"first": shown[0] if shown else None, "differences": shown}
