"""Report parts of values, steps and agents that are not there, and results under names of the runner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from amplihack.documents.suggest import closest
from amplihack.errors import Problem, Severity
from amplihack.recipes.check.availability import Flow, Use
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.spelling import USUAL_INPUTS, Spelling
from amplihack.recipes.check.subject import CheckedRecipe
from amplihack.recipes.dependencies import how_to_get
from amplihack.recipes.model import Agent, Recipe, Step, every_step
from amplihack.recipes.placeholders import show
from amplihack.recipes.semantics import (
    FACTS,
    LOOP,
    RESERVED,
    STEP_FACTS,
    STEPS,
    VARIABLES,
    loop_names,
    writes,
)
from amplihack.recipes.values import Missing, Value, lookup, member


def reserved_names(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find results under names that belong to the runner, which the other dialect does not allow."""
    if not subject.strict:
        return
    for step in subject.steps:
        named = {step.output, *writes(step)} - {step.id if step.output is None else None}
        for name in sorted(RESERVED & named):
            what = f"step '{step.id}' stores a result as {name}, which belongs to the runner"
            yield finding("reserved-name", "error", what, step.where, "choose another name")


def hidden_facts(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find variables that hide what the runner tells about loops and steps, where that is asked for."""
    asked = {use.mention.name for use in subject.flow.uses if use.mention.path[1:]}
    for name in sorted(_HIDEABLE.keys() & subject.names & asked):
        if name == LOOP and not any(step.loop for step in subject.steps):
            continue
        maker = next((step for step in subject.steps if name in _sets(step)), None)
        own = isinstance(subject.recipe.context.get(name), Mapping) and not maker
        place = maker.where if maker else subject.recipe.context_places.get(name, subject.recipe.where)
        example, told = _HIDEABLE[name]
        what = f"a variable is called {name}, so {{{{{example}}}}} and its relatives are parts of it"
        fix = f"give it another name to learn from `{name}` {told}"
        yield finding("reserved-name", "note" if own else "warning", what, place, fix)


_HIDEABLE: Final = {
    LOOP: ("loop.index", "which round it is"),
    STEPS: ("steps.ID.status", "what became of a step"),
}


def _sets(step: Step) -> tuple[str, ...]:
    return (*writes(step), *(loop_names(step.loop) if step.loop else ()))


def unknown_parts(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find parts of values that cannot be there: of defaults, of texts, of steps that do not exist."""
    recipe, flow = subject.recipe, subject.flow
    steps = {step.id: step for step in every_step(recipe.steps)}
    texts = _texts(steps, flow)
    seen: set[tuple[str, ...]] = set()
    for use in flow.uses:
        path = use.mention.path
        if len(path) < 2 or path in seen:
            continue
        seen.add(path)
        problem = (
            _unknown_part(use, recipe, subject.changed, texts)
            or _unknown_step(use, steps, recipe, flow)
            or _unknown_of_ours(use, subject)
            or _unknown_variable(use, subject)
        )
        if problem:
            yield problem


def unknown_steps(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find conditions on steps that do not exist: these count as null, like a step that has not run yet."""
    recipe, flow = subject.recipe, subject.flow
    steps = {step.id: step for step in every_step(recipe.steps)}
    for use in flow.uses:
        if use.mention.test and len(use.mention.path) > 1:
            problem = _unknown_step(use, steps, recipe, flow)
            if problem:
                yield problem


def _texts(steps: Mapping[str, Step], flow: Flow) -> frozenset[str]:
    """Return the names that only ever hold a text which is kept as it is."""
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
    """Return the key that was probably meant by the first one that is not there."""
    for key in keys:
        inner = member(value, key)
        if isinstance(inner, Missing):
            return Spelling(value).meant(key) if isinstance(value, Mapping) else None
        value = inner
    return None


def _unknown_step(use: Use, steps: Mapping[str, Step], recipe: Recipe, flow: Flow) -> Problem | None:
    path = use.mention.path
    if path[0] != "steps" or "steps" in recipe.context or "steps" in flow.made:
        return None
    if path[1] in steps:
        return _unknown_fact(use) if len(path) > 2 and path[2] not in STEP_FACTS else None
    meant = Spelling(steps).meant(path[1])
    fix = f"did you mean '{meant}'?" if meant else "check its id"
    severity: Severity = "note" if use.mention.soft else "warning"
    return finding("unknown-step", severity, f"there is no step '{path[1]}'", use.mention.where, fix)


def _unknown_of_ours(use: Use, subject: CheckedRecipe) -> Problem | None:
    """Find a part that the runner does not tell: `recipe.nme`, `step.name`."""
    path, facts = use.mention.path, FACTS.get(use.mention.path[0], ())
    if not facts or path[1] in facts or path[0] in subject.names or use.mention.manner == "environment":
        return None
    meant = closest(path[1], facts)
    fix = (
        f"did you mean {path[0]}.{meant}?"
        if meant
        else f"there are {', '.join(f'{path[0]}.{each}' for each in facts)}"
    )
    severity: Severity = "note" if use.mention.soft or use.open or subject.incoming.open else "warning"
    return finding("unknown-key", severity, f"{show(path)} is not there", use.mention.where, fix)


def _unknown_variable(use: Use, subject: CheckedRecipe) -> Problem | None:
    """Find `inputs.name` of a variable that nothing sets."""
    first, name = use.mention.path[:2]
    if first not in VARIABLES or first in subject.names or name in subject.names or use.mention.soft:
        return None
    if use.open or subject.incoming.open or name in USUAL_INPUTS:
        return None
    meant = subject.spelling.meant(name)
    fix = f"did you mean {first}.{meant}?" if meant else f"add `{name}:` to `{first}:`"
    return finding("undefined-variable", "warning", f"nothing sets {first}.{name}", use.mention.where, fix)


def _unknown_fact(use: Use) -> Problem:
    path = use.mention.path
    meant = closest(path[2], STEP_FACTS)
    fix = f"did you mean {meant}?" if meant else f"there are {', '.join(STEP_FACTS)}"
    what = f"{show(path)} is not there: a step that has ended has no {path[2]}"
    return finding("unknown-key", "note" if use.mention.soft else "warning", what, use.mention.where, fix)


def unknown_agents(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find agents that nobody here knows; one finding for each name, where it is first used."""
    steps = [step for step in subject.steps if isinstance(step.action, Agent)]
    agents = subject.agents if steps else frozenset()
    short = {_short(agent) for agent in agents}
    spaces = {_space(agent) for agent in agents if ":" in agent}
    seen = {"self", ""}
    for step in steps:
        name = step.action.agent if isinstance(step.action, Agent) else None
        if name is None or name in seen or "{{" in name:
            continue
        seen.add(name)
        if name in agents or _short(name) in short:
            continue
        supply = how_to_get(name, subject.recipe)
        meant = None if supply else closest(name, agents)
        expected = _space(name) in spaces if ":" in name else meant is not None
        yield finding(
            "unknown-agent",
            "warning" if expected or supply else "note",
            f"step '{step.id}': there is no agent '{name}' here",
            step.where,
            supply or (f"did you mean '{meant}'?" if meant else _missing_agent(name)),
        )


def _missing_agent(name: str) -> str:
    return f"install it, or check its name: it would be .claude/agents/{name.replace(':', '/')}.md"


def _space(agent: str) -> str:
    return agent.partition(":")[0]


def _short(agent: str) -> tuple[str, str]:
    """Return its namespace and last name: folders in between are optional."""
    return _space(agent) if ":" in agent else "", agent.rpartition(":")[2]
