"""Report variables of a recipe that a script asks the shell for under a name that the shell does not know."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from amplihack.errors import Problem
from amplihack.patterns import pattern
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.subject import CheckedRecipe
from amplihack.recipes.inputs import declared_names
from amplihack.recipes.model import Bash, Step, Text
from amplihack.recipes.semantics import BUILT_IN, every_loop_name, names_of_steps
from amplihack.recipes.templates.asked_names import USED, expanded, may_set, runs_others

_PROXIES = frozenset({"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy"})

_PATH = pattern(r"(?<!\\)\$\{([A-Za-z_]\w*(?:\.\w+)+)\}", re.ASCII)


def unexported_names(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find `$name` where the recipe has such a variable and the shell has not: bash expands it to nothing."""
    recipe = subject.recipe
    names = declared_names(recipe) | names_of_steps(recipe) | every_loop_name(recipe)
    parsed = {name.upper(): step for step in subject.steps if step.json and (name := _lower(step))}
    for step in subject.steps:
        if isinstance(step.action, Bash) and "$" in step.action.command.text:
            yield from _unexported(step.action.command, names - step.action.env.keys())
            yield from _without_alias(step.action, parsed)
            yield from _paths(step.action.command, subject.names | BUILT_IN)


def _lower(step: Step) -> str:
    """Return the name of the result, if it has small letters and so another name in upper case."""
    return step.output if step.output and step.output != step.output.upper() else ""


def _unexported(command: Text, names: frozenset[str]) -> Iterator[Problem]:
    script = command.text
    asked = {use[1] or use[2] for use in USED.finditer(script)} & names - _PROXIES
    asked = {name for name in asked if name != name.upper()}
    if not asked or runs_others(script):
        return
    for name, start in _first_uses(script, {name for name in asked if not may_set(script, name)}):
        yield finding(
            "unexported-variable",
            "warning",
            f"the shell has no variable {name}: the one of the recipe is not passed on under that name",
            command.at(start),
            f"write {{{{{name}}}}}, or ${name.upper()} or $RECIPE_VAR_{name}",
        )


def _paths(command: Text, known: AbstractSet[str]) -> Iterator[Problem]:
    """Find `${steps.a.output}`: bash fails at the line, and goes on with the next as if nothing was."""
    script = command.text
    found = {path.start(): path for path in _PATH.finditer(script)}
    for start in sorted(expanded(script, list(found)) if found else ()):
        first, *_, last = parts = found[start][1].split(".")
        name = ".".join(parts) if first in known else last if last in known else ""
        what = f"bash cannot expand {found[start].group()}: a bad substitution"
        fix = f"write {{{{{name}}}}}" if name else "write {{name}} for a variable of the recipe"
        yield finding("unsupported-template", "warning", what, command.at(start), fix)


def _without_alias(action: Bash, parsed: Mapping[str, Step]) -> Iterator[Problem]:
    """Find `$NAME` for a variable that holds parsed JSON: maps and lists have no variable in upper case."""
    script = action.command.text
    plain = {use[1] or use[2] for use in USED.finditer(script) if not use[2] or use[0] == f"${{{use[2]}}}"}
    asked = {name for name in plain & parsed.keys() - action.env.keys() if not may_set(script, name)}
    if not asked or runs_others(script):
        return
    for alias, start in _first_uses(script, asked, plain=True):
        step = parsed[alias]
        what = f"${alias} is empty where {step.output} is a map or a list, as step '{step.id}' parses it"
        fix = f"write {{{{{step.output}}}}}, or $RECIPE_VAR_{step.output}"
        yield finding("unexported-variable", "warning", what, action.command.at(start), fix)


def _first_uses(script: str, names: AbstractSet[str], *, plain: bool = False) -> Iterator[tuple[str, int]]:
    """Yield each name with the place where bash itself expands it first; `plain` ones have no operator."""
    uses = [use for use in USED.finditer(script) if (use[1] or use[2]) in names and not _PATH.match(use[0])]
    if plain:
        uses = [use for use in uses if use[0] in (f"${use[1]}", f"${{{use[2]}}}")]
    looked_at, told = expanded(script, [use.start() for use in uses]), set[str]()
    for use in uses:
        name = use[1] or use[2]
        if use.start() in looked_at and name not in told:
            told.add(name)
            yield name, use.start()
