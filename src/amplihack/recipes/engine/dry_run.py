"""Predict what a run would do, including its sub-recipes, without doing anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Literal, TypeAlias

from amplihack.errors import AmplihackError, ConditionError
from amplihack.recipes.conditions import holds, references
from amplihack.recipes.engine.foreknowledge import ANYTHING, Knowledge
from amplihack.recipes.engine.foretell import foretell, foretell_text
from amplihack.recipes.engine.job import Options
from amplihack.recipes.engine.loops import EMPTY
from amplihack.recipes.engine.room import has_room
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Approval, Body, Foreach, Loop, Recipe, Stage, Step, SubRecipe, Test, Text
from amplihack.recipes.ports import RecipeBook
from amplihack.recipes.rounds import as_list, list_path, round_facts, too_long
from amplihack.recipes.semantics import (
    LOOP,
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
from amplihack.recipes.templates import find_placeholders, render_text
from amplihack.recipes.values import Value, lookup
from amplihack.records import Record, field, replace

Verdict: TypeAlias = Literal["would run", "would be skipped", "depends", "would ask"]
_MOST = 2_000  # forecasts: a recipe that calls itself twice has more than anybody reads
_MOST_ROUNDS = 20  # of a loop, that are told one by one


class Forecast(Record):
    """The prediction for one step, round or gate.

    `why` names the condition, the tags or the outputs that it depends on. In `text`, values that only the run
    can tell stay placeholders; `open` names them. `missing` names what renders empty, as nothing sets it.
    """

    step_id: str
    kind: str
    depth: int
    verdict: Verdict
    why: str = ""
    text: str = ""  # the command, the prompt or the call, as far as it is known
    recipes: int = 0  # how many recipes it is inside of, below the one that is run
    open: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    fails: str = ""  # why the values that are known cannot be used


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
    recipes: int = 0

    @property
    def recipe(self) -> Recipe:
        return self.located.recipe


def forecast(
    located: Located,
    overrides: Mapping[str, Value],
    book: RecipeBook,
    options: Options,
    mask: Callable[[str], str] = lambda text: text,
) -> tuple[Forecast, ...]:
    """Return a forecast for every step of the recipe and of those it calls, in order.

    `mask` hides secrets in values before they are shown.
    """
    known = Knowledge({**located.recipe.context, **overrides}, set(), mask=mask)
    steps = _recipe(_Place(located, _Shelf(book), options, depth_limit(located.recipe)), known)
    return tuple(islice(steps, _MOST))


def _recipe(place: _Place, known: Knowledge) -> Iterator[Forecast]:
    for stage in place.recipe.stages:
        verdict, why = _holds(stage.condition, place.recipe, known)
        gate = stage.approval if verdict != "would be skipped" else None
        if gate is not None and gate.before:
            yield _gate(stage, gate, place, known, "" if verdict == "would run" else why)
        for step in stage.steps:
            if verdict == "would be skipped":
                reason = f"stage '{stage.name}': {why}"
                yield Forecast(step.id, step.kind, place.depth, verdict, reason, recipes=place.recipes)
            elif verdict == "depends":
                yield from (
                    _doubted(each, f"stage '{stage.name}': {why}") for each in _step(step, place, known)
                )
            else:
                yield from _step(step, place, known)
        if gate is not None and not gate.before:
            yield _gate(stage, gate, place, known, "" if verdict == "would run" else why)


def _gate(stage: Stage, gate: Approval, place: _Place, known: Knowledge, doubt: str) -> Forecast:
    told = foretell_text(gate.prompt, known)
    verdict: Verdict = "depends" if doubt else "would ask"
    why = doubt or ("--yes approves it" if place.options.approve_all else "")
    return Forecast(
        stage.name, "gate", place.depth, verdict, why, told.text, place.recipes, told.open, told.missing
    )


def _doubted(each: Forecast, why: str) -> Forecast:
    return replace(each, verdict="depends", why=why) if each.verdict == "would run" else each


def _step(step: Step, place: _Place, known: Knowledge) -> Iterator[Forecast]:
    verdict, why = _verdict(step, place, known)
    if verdict == "would be skipped":
        yield _forecast(step, place, _any_round(step.loop, known) if step.loop else known, verdict, why)
        if step.loop and step.loop.collect and why == EMPTY:
            known.write((step.loop.collect,))
    elif step.loop is None:
        yield _forecast(step, place, known, verdict, why)
        yield from _inside(step, place, known)
        known.write(writes(step))
    else:
        yield from _rounds(step, step.loop, place, known, (verdict, why))
        known.write(writes(step))


def _forecast(step: Step, place: _Place, known: Knowledge, verdict: Verdict, why: str = "") -> Forecast:
    told = foretell(step.action, known)
    return Forecast(
        step.id,
        step.kind,
        place.depth,
        verdict,
        why,
        told.text,
        recipes=place.recipes,
        open=told.open,
        missing=told.missing,
        fails=told.fails,
    )


# Loops --------------------------------------------------------------------------------------------------


def _rounds(
    step: Step, loop: Loop, place: _Place, known: Knowledge, judged: tuple[Verdict, str]
) -> Iterator[Forecast]:
    """Tell every round if the items are known, else what all rounds have in common."""
    items, apart = _items(loop, known), rounds_are_apart(step)
    may_set = _may_set((step,), place, set())
    if items is None:
        inner = _any_round(loop, known)
        inner.unknown.update(may_set)  # a later round sees what an earlier one set
        yield _forecast(step, place, inner, *judged)
        yield from _inside(step, place, inner)
        if not apart:
            known.write(inner.written)
        return
    whole = Forecast(step.id, step.kind, place.depth, *_counted(len(items), judged), recipes=place.recipes)
    if len(items) > loop.max_iterations:
        yield replace(whole, fails=too_long(len(items), loop))
        return
    yield whole
    for index in range(min(len(items), _MOST_ROUNDS)):
        inner = _in_round(loop, index, items, known)
        inner.unknown.update(may_set if index and not apart else ())
        found = _round(step, index, replace(place, depth=place.depth + 1), inner)
        yield from (_doubted(each, _break(loop)) for each in found) if index and loop.break_when else found
        if not apart:
            known.write(inner.written)
    if len(items) > _MOST_ROUNDS:
        what = f"{len(items) - _MOST_ROUNDS} more rounds like these"
        yield Forecast(f"{step.id}[…]", step.kind, place.depth + 1, "would run", what, recipes=place.recipes)
        known.write(() if apart else may_set)


def _counted(rounds: int, judged: tuple[Verdict, str]) -> tuple[Verdict, str]:
    count = f"{rounds} round{'' if rounds == 1 else 's'}"
    return judged[0], f"{judged[1]}; {count}" if judged[1] else count


def _break(loop: Loop) -> str:
    return f"break_when: {loop.break_when.text.strip()}" if loop.break_when else ""


def _items(loop: Loop, known: Knowledge) -> list[Value] | None:
    """Return the items of a loop over a list that is known before the run."""
    if not isinstance(loop.over, Foreach):
        return None
    if not isinstance(loop.over.items, Text):
        rendered, sure = known.render(list(loop.over.items))
        return as_list(rendered) if sure else None
    path = list_path(loop.over.items.text)
    if path is None or known.open_names({path[0]}):
        return None
    return as_list(lookup(known.view, path))


def _any_round(loop: Loop, known: Knowledge) -> Knowledge:
    """Return what is known in every round: not the values of the loop's own names."""
    inner = known.copy()
    inner.unknown.update(loop_names(loop), {LOOP} - known.values.keys())
    return inner


def _in_round(loop: Loop, index: int, items: Sequence[Value], known: Knowledge) -> Knowledge:
    inner = known.copy()
    names = set(loop_names(loop))
    facts = None if LOOP in known.unknown else round_facts(index, items, dict(known.loop or {}) or None)
    values = {**known.values, **dict.fromkeys(names, items[index])}
    return replace(inner, values=values, unknown=inner.unknown - names, loop=facts)


def _round(step: Step, index: int, place: _Place, known: Knowledge) -> Iterator[Forecast]:
    told = _forecast(step, place, known, "would run")
    yield replace(told, step_id=f"{step.id}[{index}]")
    yield from _inside(step, place, known)


# What is inside a step ----------------------------------------------------------------------------------


def _inside(step: Step, place: _Place, known: Knowledge) -> Iterator[Forecast]:
    match step.action:
        case Body() | SubRecipe() if not has_room():
            why = "the steps are nested too deeply to look further"
            yield Forecast(step.id, step.kind, place.depth + 1, "depends", why)
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
            names.add(ANYTHING)
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


def _verdict(step: Step, place: _Place, known: Knowledge) -> tuple[Verdict, str]:
    if place.options.excludes(step.when_tags):
        return "would be skipped", f"tags: {', '.join(step.when_tags)}"
    verdict, why = _holds(step.condition, place.recipe, known)
    return (verdict, why) if verdict != "would run" else _repeats(step.loop, known) or (verdict, why)


def _repeats(loop: Loop | None, known: Knowledge) -> tuple[Verdict, str] | None:
    """Return the verdict on a loop over a list that is empty, or that only the run can tell."""
    if loop is None or not isinstance(loop.over, Foreach):
        return None
    items, over = _items(loop, known), loop.over.items
    if items is not None:
        return None if items else ("would be skipped", EMPTY)
    if not isinstance(over, Text):
        return None
    path = list_path(over.text)
    open_names = known.open_names({path[0]} if path else set()) or known.open_in(over.text)
    return ("depends", f"foreach {over.text} (on {', '.join(open_names)})") if open_names else None


def _holds(test: Test | None, recipe: Recipe, known: Knowledge) -> tuple[Verdict, str]:
    if test is None:
        return "would run", ""
    condition = test.condition
    text = " ".join(condition.text.split())
    open_names = known.open_names({each.path[0] for each in references(condition.tree)})
    if open_names:
        return "depends", f"{text} (on {', '.join(open_names)})"
    try:
        holding = holds(condition, known.view, rules_of(recipe))
    except ConditionError as error:
        return "depends", f"{text}: {error.what}"
    return ("would run" if holding else "would be skipped"), text


def _sub_recipe(step: Step, call: SubRecipe, place: _Place, known: Knowledge) -> Iterator[Forecast]:
    if levels_for_call(place.levels, call.limits) <= 0:
        return
    below = replace(place, depth=place.depth + 1, recipes=place.recipes + 1)
    if open_names := known.open_in(call.recipe.text):
        why = f"the recipe is known only in the run (on {', '.join(open_names)})"
        yield Forecast(call.recipe.text, "recipe", below.depth, "depends", why, recipes=below.recipes)
        known.write({ANYTHING} if handed_back(step) else ())
        return
    name = render_text(call.recipe.text, known.view).text.strip()
    try:
        child = place.book.sub_recipe(name, place.located.path)
    except AmplihackError as error:
        why = error.what.splitlines()[0]
        yield Forecast(name, "recipe", below.depth, "depends", why, recipes=below.recipes)
        return
    inner = _first_knowledge(call, child.recipe, known)
    levels = levels_inside(place.levels, call.limits, child.recipe)
    yield from _recipe(replace(below, located=child, levels=levels), inner)
    if handed_back(step) is not None:
        known.write(inner.written)


def _first_knowledge(call: SubRecipe, recipe: Recipe, known: Knowledge) -> Knowledge:
    """Return what is known at the start of a sub-recipe. A value made from unknown ones is unknown."""
    passed: dict[str, Value] = {}
    open_ = set(known.unknown - call.context.keys()) if call.mode == "inherit" else set()
    for name, value in call.context.items():
        passed[name], sure = known.render(value)
        if not sure:
            open_.add(name)
    return Knowledge(first_values(call, recipe, known.values, passed), open_, mask=known.mask)
