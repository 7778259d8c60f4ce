"""Report placeholders in scripts that bash or another language will read as more than a value."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from amplihack.errors import Problem, Severity, TemplateError
from amplihack.patterns import pattern
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.subject import CheckedRecipe
from amplihack.recipes.inputs import declared_names
from amplihack.recipes.model import Bash, Step, Text
from amplihack.recipes.placeholders import find_variables, show
from amplihack.recipes.semantics import every_loop_name, names_of_steps
from amplihack.recipes.templates.scripts import fetched_name, may_run
from amplihack.recipes.templates.shell import Hazard, hazards, is_number
from amplihack.recipes.templates.variables import own_variables
from amplihack.recipes.values import KeyPath, Missing, lookup, one_line, to_text
from amplihack.records import replace

if TYPE_CHECKING:
    from amplihack.recipes.templates.run_variables import RunVariable


def refused_values(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find placeholders that are more than a value in their place.

    The defaults of names that steps set tell nothing. A hook that fails is only warned about.
    """
    hooks = subject.recipe.hooks
    scripts: list[tuple[Text, Severity]] = [
        (step.action.command, subject.blame(step)) for step in subject.steps if isinstance(step.action, Bash)
    ]
    scripts += [(hook, "warning") for hook in (hooks.pre_step, hooks.post_step, hooks.on_error) if hook]
    for script, worst in scripts:
        for hazard in _first_of_each(script.text):
            known = subject.recipe.context.keys() | subject.flow.made
            problem = _problem(hazard, script, _default(subject, hazard.path), known)
            if problem:
                yield replace(problem, severity=worst) if problem.severity == "error" else problem


_WORD_LOOP = pattern(r"\bfor\s+(\w+)\s+in\s+(?=(\{\{[^{}]+\}\})\s*(?:;|\n|\Z))")


def word_loops(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find shell loops over one placeholder: its value is one word, so that they have one round."""
    for step in subject.steps:
        if not isinstance(step.action, Bash):
            continue
        script = step.action.command
        for loop in _WORD_LOOP.finditer(script.text) if "{{" in script.text else ():
            if not find_variables(loop[2]):
                continue
            what = (
                f"step '{step.id}': a loop over {loop[2]} has one round: a value is one word, blanks and all"
            )
            split = f"for {loop[1]} in $(printf '%s' {loop[2]})"
            fix = f"use `foreach:` for a list; to split a text at its blanks, write `{split}`"
            yield finding("word-loop", "warning", what, script.at(loop.end()), fix)


def returned_lines(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find scripts of which every line ends with a carriage return: `> out` writes another file then."""
    for step in subject.steps:
        script = step.action.command if isinstance(step.action, Bash) else None
        if script and "\r\n" in script.text and script.text.count("\r\n") == script.text.count("\n"):
            what = (
                f"step '{step.id}': every line ends with a carriage return, which bash adds to the last word"
            )
            yield finding(
                "carriage-return",
                "warning",
                what,
                script.at(script.text.index("\r")),
                "write \\n, not \\r\\n",
            )


def values_run_by_name(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find variables of the recipe that a script names itself and hands to an interpreter."""
    recipe, hooks = subject.recipe, subject.recipe.hooks
    scripts = [
        (step.action.command, step.action.env) for step in subject.steps if isinstance(step.action, Bash)
    ]
    scripts += [(hook, {}) for hook in (hooks.pre_step, hooks.post_step, hooks.on_error) if hook]
    names = declared_names(recipe) | names_of_steps(recipe) | every_loop_name(recipe)
    scope = dict.fromkeys(names, "")
    for script, env in scripts:
        if ours := own_variables(script.text, scope).difference(env) if "$" in script.text else None:
            # Deferred: few scripts name such a variable.
            from amplihack.recipes.templates.run_variables import run_variables

            yield from (_by_name(found, script) for found in run_variables(script.text, ours))


def _by_name(found: RunVariable, script: Text) -> Problem:
    where = script.at(found.start)
    if found.language == "bash":
        what = f"{found.shown} is run as a bash program"
        return finding("bash-source", "warning", what, where, "pass it as an argument instead")
    if found.language:
        what = f"{found.shown} becomes {found.language} code"
        return finding("code-source", "note", what, where, "let the program read it from its environment")
    what = f"${found.name} stands in place of a command; bash splits it into words and runs the first"
    return finding("command-word", "warning", what, where, f'run it on purpose with bash -c "${found.name}"')


def values_in_env(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find placeholders in `env` that bash, a program or the script runs or calculates with."""
    for step in subject.steps:
        action = step.action
        if isinstance(action, Bash) and action.env and "{{" in to_text(dict(action.env)):
            # Deferred: few steps have such an `env`.
            from amplihack.recipes.templates.env_values import env_dangers, is_refused

            try:
                dangers = dict.fromkeys(env_dangers(action.command.text, action.env))
            except TemplateError:
                continue  # told where the script is read
            for danger, name, path in dangers:
                harms = is_refused(danger, _default(subject, path), subject.recipe.context)
                place = f"{{{{{show(path)}}}}} in env {name}"
                yield _env_problem(danger, place, step, subject, is_refused=harms)


def _env_problem(danger: str, place: str, step: Step, subject: CheckedRecipe, *, is_refused: bool) -> Problem:
    match danger:
        case "expanded" | "evaluated" if is_refused:
            what = f"{place}: bash would run commands hidden in the value that it has"
            fix = "give it a text without $ and backticks, or a number where the script calculates"
            return finding("bash-refused", subject.blame(step), what, step.where, fix)
        case "function":
            what = f"{place}: bash makes a function of this variable, and would run the value"
            fix = "write the function in the script"
            return finding("bash-refused", subject.blame(step), what, step.where, fix)
        case "library" | "loaded":
            what = f"{place}: the value decides what code a program loads"
            severity: Severity = "warning" if danger == "library" else "note"
            return finding("code-source", severity, what, step.where, "write it in the recipe")
        case "evaluated":
            what = f"{place}: the script calculates with it, so a value that hides a command fails the step"
            return finding("bash-arithmetic", "note", what, step.where, "make sure that it is a number")
        case _:
            what = f"{place} is run as a bash program"
            return finding("bash-source", "warning", what, step.where, "pass it as an argument instead")


def _first_of_each(script: str) -> Iterator[Hazard]:
    """Return one hazard of each kind for each variable: whoever mends the first place sees the others."""
    seen: set[tuple[str, str, KeyPath]] = set()
    for hazard in hazards(script) if "{{" in script else ():
        kind = (hazard.kind, hazard.detail, hazard.path)
        if kind not in seen:
            seen.add(kind)
            yield hazard


def _default(subject: CheckedRecipe, path: KeyPath) -> str | None:
    """Return the text of a value that only a caller can change; None where there is none to speak of."""
    if not path or path[0] in subject.flow.made:
        return None
    value = lookup(subject.recipe.context, path)
    return None if isinstance(value, Missing) or value in (None, "") else to_text(value)


def _problem(hazard: Hazard, script: Text, default: str | None, known: AbstractSet[str]) -> Problem | None:
    where = script.at(hazard.start)
    name = show(hazard.path) if hazard.path else ""
    match hazard.kind:
        case "unclosed":
            return finding("bash-refused", "error", hazard.detail, script.line(hazard.line), hazard.fix)
        case "refused":
            return finding("bash-refused", "error", f"{{{{{name}}}}}: {hazard.detail}", where, hazard.fix)
        case "literal" if hazard.path[0] in known or hazard.detail:
            why = hazard.detail or f"although there is a variable {name}"
            what = f"${{{{{name}}}}} stays as it is, {'and ' if hazard.detail else ''}{why}"
            return finding("unsupported-template", "warning", what, where, hazard.fix)
        case "arithmetic" if default is not None and not is_number(default):
            what = f"{name} is used in arithmetic, and '{one_line(default, 60)}' is not a number"
            return finding("bash-arithmetic", "error", what, where, "make it a number, or compare it as text")
        case "evaluated" if default is not None and may_run(default, known):
            return finding("bash-refused", "error", f"{{{{{name}}}}}: {hazard.detail}", where, hazard.fix)
        case "command" if default is None or len(default.split()) != 1:
            what = f"{{{{{name}}}}} stands in place of a command; {hazard.detail}"
            fix = f'run it on purpose with bash -c "$RECIPE_VAR_{"__".join(hazard.path).replace("-", "_")}"'
            return finding("command-word", "warning", what, where, fix)
        case "fetched" if default is None or fetched_name(default, "\0") in hazard.detail.split():
            what = f"{name} decides what is fetched, and run if it is called {hazard.detail}"
            return finding("bash-source", "warning", what, where, "write the address in the recipe")
        case "source" if hazard.detail == "bash":
            what = f"the value of {name} is run as a bash program"
            return finding("bash-source", "warning", what, where, "pass it as an argument instead")
        case "source" if hazard.detail == "native":
            what = f"the value of {name} decides what code programs load"
            return finding("code-source", "warning", what, where, "write it in the recipe")
        case "source":
            what = f"the value of {name} becomes {hazard.detail} code"
            fix = f"read it from the environment: RECIPE_VAR_{'__'.join(hazard.path)}"
            return finding("code-source", "note", what, where, fix)
        case _:
            return None
