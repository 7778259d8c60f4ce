"""Recipes out of a text, and the problems that decoding finds in it."""

from __future__ import annotations

from amplihack.recipes.decode import decode_text
from amplihack.recipes.model import Recipe, Step


def recipe(text: str) -> Recipe:
    """Return a recipe in which there is nothing to warn of."""
    document = decode_text(text, "r.yaml")
    assert document.warnings == ()
    return document.required()


def step(fields: str, *, dialect: str = "amplihack") -> Step:
    """Return the only step of a recipe, with these fields beside its id."""
    return recipe(f"name: n\ndialect: {dialect}\nsteps: [{{id: a, {fields}}}]").steps[0]


def problems(text: str) -> list[tuple[str, str]]:
    """Return where each problem is, and its code."""
    return [(str(problem.where), problem.code) for problem in decode_text(text, "r.yaml").problems]


def only_problem(text: str) -> str:
    (problem,) = decode_text(text, "r.yaml").problems
    return problem.what
