"""Mentions of steps, keys and names that belong to somebody else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amplihack.errors import Problem, Severity
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.names import RESERVED, Spelling
from amplihack.recipes.check.results import own_results
from amplihack.recipes.check.standing import Flow, Use
from amplihack.recipes.model import Body, Recipe, Step, every_step
from amplihack.recipes.placeholders import show
from amplihack.recipes.values import Missing, Value, lookup, member


def dependencies(recipe: Recipe) -> Iterator[Problem]:
    """`depends_on` must name a step that comes before."""
    severity: Severity = "error" if recipe.dialect == "amplifier" else "warning"
    all_ids = {step.id for step in every_step(recipe.steps)}
    spelling = Spelling(all_ids)
    before: set[str] = set()
    for step in _in_order(recipe.steps):
        for wanted in step.depends_on:
            if wanted not in before and "{{" not in wanted:
                what = f"step '{step.id}' depends on '{wanted}', which "
                meant = spelling.meant(wanted)
                if wanted in all_ids:
                    what += "is the step itself" if wanted == step.id else "comes later"
                    fix = "let it depend on earlier steps only"
                else:
                    what += "does not exist"
                    fix = f"did you mean '{meant}'?" if meant else "remove it"
                yield finding("unknown-dependency", severity, what, step.where, fix)
        before.add(step.id)


def _in_order(steps: tuple[Step, ...]) -> Iterator[Step]:
    for step in steps:
        if isinstance(step.action, Body):
            yield from _in_order(step.action.steps)
        yield step


def reserved_names(recipe: Recipe) -> Iterator[Problem]:
    if recipe.dialect != "amplifier":
        return
    for step in every_step(recipe.steps):
        named = {step.output, *own_results(step)} - {step.id if step.output is None else None}
        for name in sorted(RESERVED & named):
            what = f"step '{step.id}' stores a result as {name}, which belongs to the runner"
            yield finding("reserved-name", "error", what, step.where, "choose another name")


def unknown_parts(recipe: Recipe, flow: Flow, changed: frozenset[str]) -> Iterator[Problem]:
    """Parts of values that cannot be there: of defaults, of texts, of steps that do not exist."""
    steps = {step.id: step for step in every_step(recipe.steps)}
    texts = _texts(steps, flow)
    seen: set[tuple[str, ...]] = set()
    for use in flow.uses:
        path = use.mention.path
        if len(path) < 2 or path in seen:
            continue
        seen.add(path)
        problem = _unknown_part(use, recipe, changed, texts) or _unknown_step(use, steps, recipe, flow)
        if problem:
            yield problem


def _texts(steps: Mapping[str, Step], flow: Flow) -> frozenset[str]:
    """The names that only ever hold a text which is kept as it is."""
    kept = {step.output for step in steps.values() if step.keep_text and step.output}
    return frozenset(
        name for name in kept if name and all(steps[maker].keep_text for maker in flow.makers.get(name, ()))
    )


def _unknown_part(use: Use, recipe: Recipe, changed: frozenset[str], texts: frozenset[str]) -> Problem | None:
    path = use.mention.path
    if path[0] in texts and path[0] not in recipe.context:
        what = f"{path[0]} is kept as text, so {show(path)} is always empty"
        return finding("unknown-key", "warning", what, use.mention.where, "drop `output_type: text`")
    default = recipe.context.get(path[0])
    if path[0] in changed or not isinstance(default, Mapping) or not default:
        return None
    if not isinstance(lookup(recipe.context, path), Missing):
        return None
    meant = _meant(default, path[1:])
    what = f"{path[0]} has no {'.'.join(path[1:])} in its default"
    severity: Severity = "warning" if meant and not use.mention.soft else "note"
    fix = f"did you mean {meant}?" if meant else "add it to the default"
    return finding("unknown-key", severity, what, use.mention.where, fix)


def _meant(value: Value | Missing, keys: tuple[str, ...]) -> str | None:
    """The key that was probably meant by the first one that is not there."""
    for key in keys:
        inner = member(value, key)
        if isinstance(inner, Missing):
            return Spelling(value).meant(key) if isinstance(value, Mapping) else None
        value = inner
    return None


def _unknown_step(use: Use, steps: Mapping[str, Step], recipe: Recipe, flow: Flow) -> Problem | None:
    path = use.mention.path
    if path[0] != "steps" or path[1] in steps or "steps" in recipe.context or "steps" in flow.made:
        return None
    meant = Spelling(steps).meant(path[1])
    fix = f"did you mean '{meant}'?" if meant else "check its id"
    severity: Severity = "note" if use.mention.soft else "warning"
    return finding("unknown-step", severity, f"there is no step '{path[1]}'", use.mention.where, fix)
