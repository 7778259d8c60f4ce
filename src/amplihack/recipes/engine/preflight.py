"""Check the inputs of a recipe before its first step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amplihack.recipes.engine.job import Run
from amplihack.recipes.inputs import CONTEXT_RULES, input_problems, is_blank, rule_meant
from amplihack.recipes.model import Recipe
from amplihack.recipes.values import Value

_NEEDED = {"git_repo": " (must be a git repo path)", "path": " (must be a valid path)"}


def preflight(run: Run, recipe: Recipe, values: Mapping[str, Value]) -> str:
    """Return all problems of the inputs and how to fix them; empty if there are none."""
    failures = [problem.what for problem in input_problems(recipe, values)]
    failures += [
        problem
        for name, rule in recipe.context_validation.items()
        for problem in _problems(run, name, rule.strip(), values.get(name))
    ]
    if not failures:
        return ""
    checked = dict.fromkeys((*recipe.context_validation, *recipe.declared))
    names = [name for name in checked if any(f"'{name}'" in each for each in failures)]
    retry = " ".join(f"--set {name}=…" for name in names)
    return "\n".join(
        [
            f"=== PRE-FLIGHT VALIDATION FAILED for '{recipe.name}' ===",
            *(f"  ✗ {failure}" for failure in failures),
            "",
            f"Fix these inputs and retry, for example with: {retry}",
        ]
    )


def _problems(run: Run, name: str, rule: str, value: Value) -> Iterator[str]:
    if rule == "nonempty":
        if is_blank(value):
            yield f"'{name}' is required but empty or missing"
    elif rule in _NEEDED:
        if not isinstance(value, str) or not value.strip():
            yield f"'{name}' is required{_NEEDED[rule]}"
        else:
            yield from _path_problems(run, name, rule, value)
    elif rule and rule not in CONTEXT_RULES:
        what = f"context_validation: '{name}' has the unknown rule '{rule}', which checks nothing"
        run.warn("", f"{what} (fix: {rule_meant(rule)})")


def _path_problems(run: Run, name: str, rule: str, value: str) -> Iterator[str]:
    places = run.world.places
    path = places.resolve(run.options.working_dir, value)
    if not places.exists(path):
        yield f"'{name}' path '{value}' does not exist"
    elif rule == "git_repo" and not places.is_git_repository(path):
        yield f"'{name}' path '{value}' is not a git repository"
