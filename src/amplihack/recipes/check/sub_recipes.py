"""Check the calls of sub-recipes: whether they are there, and whether they get what they need."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.errors import Problem, Severity
from amplihack.recipes.check.availability import CallNeeds, Unknown
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.known_texts import known_text
from amplihack.recipes.check.neighbours import Unresolved, key
from amplihack.recipes.check.spelling import Spelling
from amplihack.recipes.check.subject import CheckedRecipe
from amplihack.recipes.extends import Located
from amplihack.recipes.inputs import conform, is_blank
from amplihack.recipes.model import Step, SubRecipe
from amplihack.recipes.placeholders import find_variables
from amplihack.recipes.semantics import every_loop_name
from amplihack.recipes.templates import render_text
from amplihack.recipes.values import MISSING, Missing, Value, lookup, one_line, to_json
from amplihack.records import replace


def unknown_recipes(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find calls of recipes that are not there, or that cannot be read."""
    for step in subject.steps:
        call = step.action
        found = _found(call, subject) if isinstance(call, SubRecipe) else None
        if not isinstance(call, SubRecipe) or not isinstance(found, Unresolved):
            continue
        where, blame = call.recipe.where, subject.blame(step)
        name = call.recipe.text.strip() if found.why == "unknowable" else _reference(call, subject)
        if found.why == "missing":
            fix = found.problem.fix if found.problem else _where_to_look(name, found)
            yield finding("unknown-recipe", blame, f"there is no recipe '{name}'", where, fix)
        elif found.why == "unreadable" and (problem := found.problem):
            what = f"the recipe '{name}' cannot be read: {problem.placed}"
            yield finding("broken-recipe", blame, what, where, problem.fix)
        elif subject.final and (unset := _names_nothing(call, subject)):
            what = f"'recipe: {name}' names no recipe: nothing sets {unset}"
            yield finding("unknown-recipe", blame, what, where, f"set {unset}, or write the name of a recipe")


def _found(call: SubRecipe, subject: CheckedRecipe) -> Located | Unresolved:
    """Return the recipe that a step calls, also by a variable whose value is known before the run."""
    known = replace(call, recipe=replace(call.recipe, text=_reference(call, subject)))
    return subject.neighbours.resolve(known, subject.located.path)


def _reference(call: SubRecipe, subject: CheckedRecipe) -> str:
    return (known_text(call.recipe.text, subject) if subject.final else None) or call.recipe.text.strip()


def _where_to_look(name: str, found: Unresolved) -> str:
    bundle, colon, path = name.partition(":")
    if colon and bundle and "/" in path:
        return f"write '@{name}' for a file of the bundle '{bundle}'"
    places = f"; looked in {', '.join(found.searched)}" if found.searched else ""
    return f"check its name{places}"


def _names_nothing(call: SubRecipe, subject: CheckedRecipe) -> str:
    """Return the names that nothing sets and without which a call has no name; empty if it may have one."""
    uses = [use for use in subject.flow.uses if use.mention.source is call.recipe]
    unset = all(isinstance(use.availability, Unknown) and not use.open for use in uses)
    if not unset or render_text(call.recipe.text, {}).text.strip():
        return ""
    return ", ".join(sorted({use.mention.name for use in uses}))


def missing_inputs(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find inputs of a sub-recipe that nobody gives."""
    for call in subject.flow.calls:
        yield from _missing_inputs(call, subject)


def missing_in_isolation(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find inputs that no caller of this recipe can give either, for nothing is passed on."""
    for call in subject.flow.calls:
        if isinstance(call.step.action, SubRecipe) and call.step.action.mode != "inherit":
            yield from _missing_inputs(call, subject)


def _missing_inputs(call: CallNeeds, subject: CheckedRecipe) -> Iterator[Problem]:
    action = call.step.action
    if not isinstance(action, SubRecipe) or not (call.required or call.used):
        return
    inherits = action.mode == "inherit"
    from_above = subject.incoming.given | subject.incoming.made if inherits else frozenset()
    required = [name for name in call.required if name not in from_above]
    used = [name for name in call.used if name not in from_above]
    if required:
        # Whoever starts the recipe can give what it passes on: that nobody does is certain only then.
        unclear = inherits and (call.open or subject.incoming.open)
        certain = not unclear and (subject.final or not inherits) and not call.insists.isdisjoint(required)
        severity = subject.blame(call.step) if certain else "note" if unclear else "warning"
        yield _missing(call.step, action, required, "needs", severity)
    if used:  # in isolation nobody else can give them
        certain = not inherits and not call.open
        yield _missing(call.step, action, used, "mentions", "warning" if certain else "note")


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
            value = _settled(action.context[name], subject)
            if not isinstance(value, Missing) and is_blank(value):
                what = f"'{action.recipe.text.strip()}' needs {name}, and step '{step.id}' gives it empty"
                blame = subject.blame(step) if name in callee.insists else "warning"
                yield finding("missing-input", blame, what, action.recipe.where, f"give {name} a value")


def wrong_inputs(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find values that a call hands over and that the inputs of the sub-recipe cannot have."""
    for step, action, target in _resolved(subject):
        for name, declared in target.recipe.declared.items():
            value = _handed_over(name, action, subject)
            if isinstance(value, Missing) or is_blank(value):
                continue
            if wrong := conform(value, declared)[1]:
                hidden = name in subject.recipe.secrets | target.recipe.secrets
                what = f"the input '{name}' of '{action.recipe.text.strip()}' {wrong}"
                what += "" if hidden else f", and step '{step.id}' gives it {one_line(to_json(value), 40)}"
                fix = declared.description and f"give it: {declared.description}"
                fix = fix or "give it another value in the step's `context:`"
                yield finding("wrong-input", subject.blame(step), what, action.recipe.where, fix)


def _handed_over(name: str, action: SubRecipe, subject: CheckedRecipe) -> Value | Missing:
    """Return the value that a call certainly gives to an input; MISSING where only the run can tell."""
    if name in action.context:
        return _settled(action.context[name], subject)
    settled = subject.final and action.mode == "inherit" and name not in subject.changed
    return subject.recipe.context.get(name, MISSING) if settled else MISSING


def _settled(value: Value, subject: CheckedRecipe) -> Value | Missing:
    """Return a value that a call gives, with the variable filled in that it is and that no step changes."""
    if not isinstance(value, str) or "{{" not in value:
        return value
    found = find_variables(value)
    if not subject.final or len(found) != 1 or value.strip() != value[found[0].start : found[0].end]:
        return MISSING
    path = found[0].path
    own = path[0] in subject.recipe.context
    return lookup(subject.recipe.context, path) if own and not _may_change(path[0], subject) else MISSING


def _may_change(name: str, subject: CheckedRecipe) -> bool:
    return name in subject.changed or name in every_loop_name(subject.recipe)


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
    for step in subject.steps:
        if isinstance(step.action, SubRecipe):
            found = subject.neighbours.resolve(step.action, subject.located.path)
            if isinstance(found, Located):
                yield step, step.action, found
