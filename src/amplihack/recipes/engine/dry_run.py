"""Predict what a run would do, including its sub-recipes, without doing anything."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Literal, TypeAlias

from amplihack.errors import AmplihackError, ConditionError
from amplihack.recipes.conditions import holds, references
from amplihack.recipes.engine.job import Options
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Agent, Bash, Body, Recipe, Step, SubRecipe, Test
from amplihack.recipes.ports import RecipeBook
from amplihack.recipes.semantics import (
    BUILT_IN,
    depth_limit,
    first_values,
    handed_back,
    kept_body,
    levels_for_call,
    levels_inside,
    loop_names,
    rounds_are_apart,
    rules_of,
    writes,
)
from amplihack.recipes.templates import find_placeholders, render_text, render_value
from amplihack.recipes.values import Value
from amplihack.records import Record, field, replace

Verdict: TypeAlias = Literal["would run", "would be skipped", "depends"]
_MOST = 2_000  # forecasts: a recipe that calls itself twice has more than anybody reads
_ANYTHING = "*"  # stands among the unknown names after a sub-recipe that only the run can name


class Forecast(Record):
    """The prediction for one step; `why` names the condition, the tags or the outputs that it depends on."""

    step_id: str
    kind: str
    depth: int
    verdict: Verdict
    why: str = ""
    text: str = ""  # the command or prompt as far as it is known


class _Knowledge(Record):
    """The values known before the run, and the names that steps would set."""

    values: Mapping[str, Value]
    unknown: set[str]
    written: set[str] = field(default_factory=set)

    def write(self, names: Iterable[str]) -> None:
        self.written.update(names)
        self.unknown.update(self.written)

    def certain(self) -> dict[str, Value]:
        return {name: value for name, value in self.values.items() if not self.open_names({name})}

    def copy(self) -> _Knowledge:
        return replace(self, unknown=set(self.unknown), written=set(self.written))

    def open_names(self, mentioned: Collection[str]) -> list[str]:
        """Return, sorted, the given names whose values only the run can tell."""
        if _ANYTHING in self.unknown:
            return sorted(mentioned)
        told_by_the_run = BUILT_IN - self.values.keys()
        return sorted(name for name in mentioned if name in self.unknown or name in told_by_the_run)


class _Shelf(Record):
    """Keeps sub-recipes already read, so that each is read once."""

    book: RecipeBook
    read: dict[tuple[str, str | None], Located] = field(default_factory=dict)

    def sub_recipe(self, reference: str, caller: str | None) -> Located:
        asked = (reference, caller)
        if asked not in self.read:
            self.read[asked] = self.book.sub_recipe(reference, caller)
        return self.read[asked]


class _Place(Record):
    """The position of the prediction: the recipe, its depth, and how many levels may follow."""

    located: Located
    book: _Shelf
    options: Options
    levels: int
    depth: int = 0

    @property
    def recipe(self) -> Recipe:
        return self.located.recipe


def forecast(
    located: Located, overrides: Mapping[str, Value], book: RecipeBook, options: Options
) -> tuple[Forecast, ...]:
    """Return a forecast for every step of the recipe and of those it calls, in order."""
    known = _Knowledge({**located.recipe.context, **overrides}, set())
    steps = _recipe(_Place(located, _Shelf(book), options, depth_limit(located.recipe)), known)
    return tuple(islice(steps, _MOST))


def _recipe(place: _Place, known: _Knowledge) -> Iterator[Forecast]:
    for stage in place.recipe.stages:
        verdict, why = _holds(stage.condition, place.recipe, known)
        for step in stage.steps:
            if verdict == "would be skipped":
                yield Forecast(step.id, step.kind, place.depth, verdict, f"stage '{stage.name}': {why}")
            elif verdict == "depends":
                yield from (
                    _doubted(each, f"stage '{stage.name}': {why}") for each in _step(step, place, known)
                )
            else:
                yield from _step(step, place, known)


def _doubted(each: Forecast, why: str) -> Forecast:
    return replace(each, verdict="depends", why=why) if each.verdict == "would run" else each


def _step(step: Step, place: _Place, known: _Knowledge) -> Iterator[Forecast]:
    verdict, why = _verdict(step, place, known)
    if verdict == "would be skipped":
        yield Forecast(step.id, step.kind, place.depth, verdict, why, _text(step, known))
        return
    inner = known.copy()
    if step.loop is not None:
        # The values of loop variables are known only in the run.
        inner.unknown.update(loop_names(step.loop))
        inner.unknown.update(_may_set((step,), place, set()))  # a later round sees what an earlier one set
    yield Forecast(step.id, step.kind, place.depth, verdict, why, _text(step, inner))
    yield from _inside(step, place, inner)
    if not rounds_are_apart(step):
        known.write(inner.written)
    known.write(writes(step))


def _inside(step: Step, place: _Place, known: _Knowledge) -> Iterator[Forecast]:
    match step.action:
        case Body(steps):
            for inner in steps:
                yield from _step(inner, replace(place, depth=place.depth + 1), known)
        case SubRecipe() as call:
            yield from _sub_recipe(step, call, place, known)
        case _:
            return


def _may_set(steps: Iterable[Step], place: _Place, seen: set[str]) -> set[str]:
    """Return every name that the steps can set, also through sub-recipes. Each recipe is visited once."""
    names: set[str] = set()
    for step in steps:
        names.update(writes(step), _may_set(kept_body(step), place, seen))
        call = handed_back(step)
        if call and find_placeholders(call.recipe.text):
            names.add(_ANYTHING)
        elif call and (name := call.recipe.text.strip()) not in seen:
            seen.add(name)
            names |= _set_by(name, place, seen)
    return names


def _set_by(name: str, place: _Place, seen: set[str]) -> set[str]:
    try:
        child = place.book.sub_recipe(name, place.located.path)
    except AmplihackError:
        return set()  # the call fails, so nothing comes back
    return _may_set(child.recipe.steps, replace(place, located=child), seen)


def _verdict(step: Step, place: _Place, known: _Knowledge) -> tuple[Verdict, str]:
    if place.options.excludes(step.when_tags):
        return "would be skipped", f"tags: {', '.join(step.when_tags)}"
    return _holds(step.condition, place.recipe, known)


def _holds(test: Test | None, recipe: Recipe, known: _Knowledge) -> tuple[Verdict, str]:
    if test is None:
        return "would run", ""
    condition = test.condition
    text = " ".join(condition.text.split())
    open_names = known.open_names({each.path[0] for each in references(condition.tree)})
    if open_names:
        return "depends", f"{text} (on {', '.join(open_names)})"
    try:
        holding = holds(condition, known.values, rules_of(recipe))
    except ConditionError as error:
        return "depends", f"{text}: {error.what}"
    return ("would run" if holding else "would be skipped"), text


def _text(step: Step, known: _Knowledge) -> str:
    """Return the command or prompt with known values in it and outputs still as placeholders."""
    match step.action:
        case Body():
            return ""
        case SubRecipe(recipe=recipe):
            template = recipe.text
        case Bash(command=command):
            template = command.text
        case Agent(prompt=prompt):
            template = prompt.text
    pieces, position = [], 0
    for found in find_placeholders(template):
        raw = template[found.start : found.end]
        shown = raw if known.open_names({found.path[0]}) else render_text(raw, known.values).text
        pieces += [template[position : found.start], shown]
        position = found.end
    return "".join([*pieces, template[position:]]).strip()


def _sub_recipe(step: Step, call: SubRecipe, place: _Place, known: _Knowledge) -> Iterator[Forecast]:
    if levels_for_call(place.levels, call.limits) <= 0:
        return
    if open_names := known.open_names({each.path[0] for each in find_placeholders(call.recipe.text)}):
        why = f"the recipe is known only in the run (on {', '.join(open_names)})"
        yield Forecast(call.recipe.text, "recipe", place.depth + 1, "depends", why)
        known.write({_ANYTHING} if handed_back(step) else ())
        return
    name = render_text(call.recipe.text, known.values).text.strip()
    try:
        child = place.book.sub_recipe(name, place.located.path)
    except AmplihackError as error:
        yield Forecast(name, "recipe", place.depth + 1, "depends", error.what.splitlines()[0])
        return
    inner = _first_knowledge(call, child.recipe, known)
    levels = levels_inside(place.levels, call.limits, child.recipe)
    below = replace(place, located=child, levels=levels, depth=place.depth + 1)
    yield from _recipe(below, inner)
    if handed_back(step) is not None:
        known.write(inner.written)


def _first_knowledge(call: SubRecipe, recipe: Recipe, known: _Knowledge) -> _Knowledge:
    """Return what is known at the start of a sub-recipe. A value made from unknown ones is unknown."""
    passed: dict[str, Value] = {}
    open_ = set(known.unknown - call.context.keys()) if call.mode == "inherit" else set()
    for name, value in call.context.items():
        passed[name], missing = render_value(value, known.certain())
        if known.open_names({path[0] for path in missing}):
            open_.add(name)
    return _Knowledge(first_values(call, recipe, known.values, passed), open_)
