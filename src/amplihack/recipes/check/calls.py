"""Calls of sub-recipes: whether they are there, and whether they get what they need."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.errors import Problem, Severity
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.library import Library, key
from amplihack.recipes.check.names import Spelling
from amplihack.recipes.check.standing import Call, Flow
from amplihack.recipes.check.undefined import Around
from amplihack.recipes.check.world import Unresolved
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Step, SubRecipe, every_step


def unknown_recipes(located: Located, library: Library) -> Iterator[Problem]:
    for step in every_step(located.recipe.steps):
        if not isinstance(step.action, SubRecipe):
            continue
        found = library.resolve(step.action, located.path)
        if isinstance(found, Unresolved) and found.why == "missing":
            yield _unknown_recipe(step.action, found)


def _unknown_recipe(call: SubRecipe, unresolved: Unresolved) -> Problem:
    searched = f"looked in {', '.join(unresolved.searched)}" if unresolved.searched else "check its name"
    what = f"there is no recipe '{call.recipe.text.strip()}'"
    return finding("unknown-recipe", "error", what, call.recipe.where, searched)


def missing_inputs(flow: Flow, around: Around) -> Iterator[Problem]:
    for call in flow.calls:
        yield from _missing_inputs(call, around)


def _missing_inputs(call: Call, around: Around) -> Iterator[Problem]:
    action = call.step.action
    if not isinstance(action, SubRecipe):
        return
    from_above = around.incoming.given | around.incoming.made if action.mode == "inherit" else frozenset()
    required = [name for name in call.required if name not in from_above]
    used = [name for name in call.used if name not in from_above]
    if required:
        severity: Severity = "warning" if _certain(call, action, around) else "note"
        yield _missing(call.step, action, required, "needs", severity)
    if used:
        yield _missing(call.step, action, used, "mentions", "note")


def _certain(call: Call, action: SubRecipe, around: Around) -> bool:
    """Whether nobody above can give what this call leaves out."""
    return action.mode == "isolated" or (around.root and not call.open and not around.incoming.open)


def _missing(step: Step, action: SubRecipe, names: list[str], verb: str, severity: Severity) -> Problem:
    listed = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    return finding(
        "missing-input",
        severity,
        f"'{action.recipe.text.strip()}' {verb} {listed}, which step '{step.id}' does not give",
        action.recipe.where,
        f"add `{names[0]}:` to the step's `context:`",
    )


def empty_inputs(located: Located, library: Library) -> Iterator[Problem]:
    """Inputs that the sub-recipe insists on and that the call hands over empty."""
    for step, action, target in _resolved(located, library):
        callee = library.callee(target)
        for name in sorted(callee.required & action.context.keys()):
            if action.context[name] in ("", None):
                what = f"'{action.recipe.text.strip()}' needs {name}, and step '{step.id}' gives it empty"
                yield finding("missing-input", "warning", what, action.recipe.where, f"give {name} a value")


def unknown_inputs(located: Located, library: Library) -> Iterator[Problem]:
    """Variables that a call hands over and the sub-recipe has no use for."""
    spellings: dict[str, Spelling] = {}
    for step, action, target in _resolved(located, library):
        callee = library.callee(target)
        extra = () if callee.open else sorted(action.context.keys() - callee.declared - callee.used)
        for name in extra:
            if key(target) not in spellings:
                spellings[key(target)] = Spelling(callee.declared)
            yield _unknown_input(name, spellings[key(target)].meant(name), step, action)


def _unknown_input(name: str, meant: str | None, step: Step, action: SubRecipe) -> Problem:
    slip = meant is not None and meant not in action.context
    what = f"'{action.recipe.text.strip()}' does not use {name}, which step '{step.id}' gives it"
    fix = f"did you mean {meant}?" if slip else "leave it out"
    return finding("unknown-input", "warning" if slip else "note", what, action.recipe.where, fix)


def _resolved(located: Located, library: Library) -> Iterator[tuple[Step, SubRecipe, Located]]:
    for step in every_step(located.recipe.steps):
        if isinstance(step.action, SubRecipe):
            found = library.resolve(step.action, located.path)
            if isinstance(found, Located):
                yield step, step.action, found
