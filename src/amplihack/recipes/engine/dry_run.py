"""What a run would do, as far as it can be told without doing it: sub-recipes included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from amplihack.errors import AmplihackError, ConditionError
from amplihack.recipes.conditions import AMPLIFIER, AMPLIHACK, holds, references
from amplihack.recipes.engine.state import Options
from amplihack.recipes.explain import DEFAULT_DEPTH
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Agent, Bash, Body, Foreach, Loop, Recipe, Step, SubRecipe, Test
from amplihack.recipes.ports import RecipeBook
from amplihack.recipes.templates import find_placeholders, render_text
from amplihack.recipes.values import Value

Verdict: TypeAlias = Literal["would run", "would be skipped", "depends"]


@dataclass(frozen=True, slots=True)
class Forecast:
    """What would become of one step; `why` names the condition, the tags or the outputs it depends on."""

    step_id: str
    kind: str
    depth: int
    verdict: Verdict
    why: str = ""
    text: str = ""  # the command or prompt as far as it is known


@dataclass(frozen=True, slots=True)
class _Knowledge:
    """Values that are known before the run, and names that steps would set."""

    values: dict[str, Value]
    unknown: set[str]


def forecast(
    located: Located, overrides: Mapping[str, Value], book: RecipeBook, options: Options
) -> tuple[Forecast, ...]:
    """Every step of the recipe and of those it calls, in order."""
    known = _Knowledge({**located.recipe.context, **overrides}, set())
    return tuple(_recipe(located, known, book, options, 0))


def _recipe(
    located: Located, known: _Knowledge, book: RecipeBook, options: Options, depth: int
) -> Iterator[Forecast]:
    for stage in located.recipe.stages:
        verdict, why = _holds(stage.condition, located.recipe, known)
        for step in stage.steps:
            if verdict == "would be skipped":
                yield Forecast(step.id, step.kind, depth, verdict, f"stage '{stage.name}': {why}")
            else:
                yield from _step(step, located, known, book, options, depth)


def _step(
    step: Step, located: Located, known: _Knowledge, book: RecipeBook, options: Options, depth: int
) -> Iterator[Forecast]:
    verdict, why = _verdict(step, located.recipe, known, options)
    if step.loop is not None:
        known.unknown.update(_loop_names(step.loop))
    yield Forecast(step.id, step.kind, depth, verdict, why, _text(step, known))
    if verdict != "would be skipped":
        if isinstance(step.action, Body):
            for inner in step.action.steps:
                yield from _step(inner, located, known, book, options, depth + 1)
        elif isinstance(step.action, SubRecipe):
            yield from _sub_recipe(step.action, located, known, book, options, depth)
        known.unknown.update(_written(step))


def _loop_names(loop: Loop) -> set[str]:
    """What a loop sets before or between its rounds."""
    own = {loop.over.name} if isinstance(loop.over, Foreach) else {"_loop_index", "_loop_iteration"}
    return own | loop.update.keys()


def _written(step: Step) -> set[str]:
    names = {step.result_name}
    if step.loop is not None and step.loop.collect:
        names.add(step.loop.collect)
    if isinstance(step.action, Bash):
        names.update(name for name in (step.action.exit_code_to, step.action.stderr_to) if name)
    return names


def _verdict(step: Step, recipe: Recipe, known: _Knowledge, options: Options) -> tuple[Verdict, str]:
    if options.excludes(step.when_tags):
        return "would be skipped", f"tags: {', '.join(step.when_tags)}"
    return _holds(step.condition, recipe, known)


def _holds(test: Test | None, recipe: Recipe, known: _Knowledge) -> tuple[Verdict, str]:
    if test is None:
        return "would run", ""
    condition = test.condition
    text = " ".join(condition.text.split())
    open_names = sorted({each.path[0] for each in references(condition.tree)} & known.unknown)
    if open_names:
        return "depends", f"{text} (on {', '.join(open_names)})"
    rules = AMPLIFIER if recipe.dialect == "amplifier" else AMPLIHACK
    try:
        return ("would run" if holds(condition, known.values, rules) else "would be skipped"), text
    except ConditionError as error:
        return "depends", f"{text}: {error.what}"


def _text(step: Step, known: _Knowledge) -> str:
    """The command or prompt with known values in it and outputs still as placeholders."""
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
        shown = raw if found.path[0] in known.unknown else render_text(raw, known.values).text
        pieces += [template[position : found.start], shown]
        position = found.end
    return "".join([*pieces, template[position:]]).strip()


def _sub_recipe(
    action: SubRecipe, located: Located, known: _Knowledge, book: RecipeBook, options: Options, depth: int
) -> Iterator[Forecast]:
    if depth >= DEFAULT_DEPTH:
        return
    name = render_text(action.recipe.text, known.values).text
    try:
        child = book.sub_recipe(name, located.path)
    except AmplihackError as error:
        yield Forecast(name, "recipe", depth + 1, "depends", error.what.splitlines()[0])
        return
    inherited = known.values if action.mode == "inherit" else {}
    inner = _Knowledge({**child.recipe.context, **inherited, **dict(action.context)}, set(known.unknown))
    yield from _recipe(child, inner, book, options, depth + 1)
    if action.mode == "inherit":
        known.unknown.update(inner.unknown)
