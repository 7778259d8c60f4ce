"""Calls of sub-recipes: whether they are there, and whether they get what they need."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.errors import Problem, Severity
from amplihack.recipes.check.availability import CallNeeds
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.neighbours import Unresolved, key
from amplihack.recipes.check.spelling import Spelling
from amplihack.recipes.check.subject import CheckedRecipe
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Step, SubRecipe, every_step
from amplihack.recipes.semantics import is_blank


def unknown_recipes(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find calls of recipes that are not there."""
    for step in every_step(subject.recipe.steps):
        call = step.action
        if isinstance(call, SubRecipe):
            found = subject.neighbours.resolve(call, subject.located.path)
            if isinstance(found, Unresolved) and found.why == "missing":
                searched = f"looked in {', '.join(found.searched)}" if found.searched else "check its name"
                what = f"there is no recipe '{call.recipe.text.strip()}'"
                yield finding("unknown-recipe", subject.blame(step), what, call.recipe.where, searched)


def missing_inputs(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find inputs of a sub-recipe that nobody gives."""
    for call in subject.flow.calls:
        yield from _missing_inputs(call, subject)


def _missing_inputs(call: CallNeeds, subject: CheckedRecipe) -> Iterator[Problem]:
    action, incoming = call.step.action, subject.incoming
    if not isinstance(action, SubRecipe):
        return
    from_above = incoming.given | incoming.made if action.mode == "inherit" else frozenset()
    required = [name for name in call.required if name not in from_above]
    used = [name for name in call.used if name not in from_above]
    if required:
        nobody_above = action.mode == "isolated" or (subject.root and not call.open and not incoming.open)
        yield _missing(call.step, action, required, "needs", "warning" if nobody_above else "note")
    if used:
        yield _missing(call.step, action, used, "mentions", "note")


def _missing(step: Step, action: SubRecipe, names: list[str], verb: str, severity: Severity) -> Problem:
    listed = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    return finding(
        "missing-input",
        severity,
        f"'{action.recipe.text.strip()}' {verb} {listed}, which step '{step.id}' does not give",
        action.recipe.where,
        f"add `{names[0]}:` to the step's `context:`",
    )


def empty_inputs(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find inputs that the sub-recipe insists on and that the call hands over empty."""
    for step, action, target in _resolved(subject):
        callee = subject.neighbours.callee(target)
        for name in sorted(callee.required & action.context.keys()):
            if is_blank(action.context[name]):
                what = f"'{action.recipe.text.strip()}' needs {name}, and step '{step.id}' gives it empty"
                yield finding("missing-input", "warning", what, action.recipe.where, f"give {name} a value")


def unknown_inputs(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find variables that a call hands over and the sub-recipe has no use for."""
    spellings: dict[str, Spelling] = {}
    for step, action, target in _resolved(subject):
        callee = subject.neighbours.callee(target)
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


def _resolved(subject: CheckedRecipe) -> Iterator[tuple[Step, SubRecipe, Located]]:
    for step in every_step(subject.recipe.steps):
        if isinstance(step.action, SubRecipe):
            found = subject.neighbours.resolve(step.action, subject.located.path)
            if isinstance(found, Located):
                yield step, step.action, found
