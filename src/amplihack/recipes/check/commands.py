"""Placeholders in scripts that bash or another language will read as more than a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from amplihack.errors import Problem, Severity
from amplihack.recipes.check.codes import finding
from amplihack.recipes.model import Bash, Recipe, Step, Text, every_step
from amplihack.recipes.placeholders import show
from amplihack.recipes.templates.shell import APART, Hazard, hazards, is_number
from amplihack.recipes.values import MISSING, KeyPath, Missing, Value, lookup, to_text
from amplihack.records import replace


def command_hazards(
    recipe: Recipe, changed: frozenset[str], blame: Callable[[Step], Severity]
) -> Iterator[Problem]:
    """Find placeholders that are more than a value in their place.

    `changed` are the names that steps set, so that their defaults tell nothing. `blame` tells how bad it is
    that a step can only fail; a hook that fails is only warned about.
    """
    hooks = recipe.hooks
    scripts: list[tuple[Text, Severity]] = [
        (step.action.command, blame(step))
        for step in every_step(recipe.steps)
        if isinstance(step.action, Bash)
    ]
    scripts += [(hook, "warning") for hook in (hooks.pre_step, hooks.post_step, hooks.on_error) if hook]
    defaults = {name: value for name, value in recipe.context.items() if name not in changed}
    known = recipe.context.keys() | changed
    for script, worst in scripts:
        for hazard in _first_of_each(script.text):
            problem = _problem(hazard, script, _default(defaults, hazard.path), known)
            if problem:
                yield replace(problem, severity=worst) if problem.severity == "error" else problem


def _first_of_each(script: str) -> Iterator[Hazard]:
    """One hazard of each kind for each variable: whoever mends the first place sees the others."""
    seen: set[tuple[str, str, KeyPath]] = set()
    for hazard in hazards(script) if "{{" in script else ():
        kind = (hazard.kind, hazard.detail, hazard.path)
        if kind not in seen:
            seen.add(kind)
            yield hazard


def _default(defaults: Mapping[str, Value], path: KeyPath) -> str | None:
    """The text of a value that only a caller can change; None where there is none to speak of."""
    value = lookup(defaults, path) if path else MISSING
    return None if isinstance(value, Missing) or value in (None, "") else to_text(value)


def _problem(hazard: Hazard, script: Text, default: str | None, known: AbstractSet[str]) -> Problem | None:
    where = script.at(hazard.start)
    name = show(hazard.path) if hazard.path else ""
    match hazard.kind:
        case "unclosed":
            return finding("bash-refused", "error", hazard.detail, script.line(hazard.line), hazard.fix)
        case "refused":
            return finding("bash-refused", "error", f"{{{{{name}}}}}: {hazard.detail}", where, hazard.fix)
        case "literal" if hazard.path[0] in known:
            what = f"${{{{{name}}}}} stays as it is, although there is a variable {name}"
            return finding("unsupported-template", "warning", what, where, APART)
        case "arithmetic" if default is not None and not is_number(default):
            what = f"{name} is used in arithmetic, and '{default}' is not a number"
            return finding("bash-arithmetic", "error", what, where, "make it a number, or compare it as text")
        case "command" if default is None or len(default.split()) != 1:
            what = f"{{{{{name}}}}} stands in place of a command; a value with spaces is one word there"
            fix = f'run it on purpose with bash -c "$RECIPE_VAR_{"__".join(hazard.path).replace("-", "_")}"'
            return finding("command-word", "warning", what, where, fix)
        case "source" if hazard.detail == "bash":
            what = f"the value of {name} is run as a bash program"
            return finding("bash-source", "warning", what, where, "pass it as an argument instead")
        case "source":
            what = f"the value of {name} becomes {hazard.detail} code"
            fix = f"read it from the environment: RECIPE_VAR_{'__'.join(hazard.path)}"
            return finding("code-source", "note", what, where, fix)
        case _:
            return None
