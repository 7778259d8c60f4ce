"""Report values whose kind is not what a condition takes it for: texts as flags, JSON as text."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.errors import Problem
from amplihack.recipes.check.codes import finding
from amplihack.recipes.check.conditions import inside
from amplihack.recipes.check.sites import sites
from amplihack.recipes.check.subject import CheckedRecipe
from amplihack.recipes.conditions import (
    Compare,
    Constant,
    Expression,
    Name,
    PlaceholderNode,
)
from amplihack.recipes.conditions.flags import tested_names
from amplihack.recipes.model import Recipe, every_step
from amplihack.recipes.semantics import rules_of
from amplihack.recipes.values import Value


def text_flags(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find variables that hold the text "false" and are tested as they are."""
    if "false" in rules_of(subject.recipe).false_words:
        return  # there the word is false
    words = {name: value for name, value in subject.recipe.context.items() if _is_word(value)}
    for site in sites(subject) if words else ():
        for name, column in tested_names(site.test.condition.tree):
            if name not in words:
                continue
            default = str(words[name])
            certain = default.lower() == "false" and name not in subject.changed
            yield finding(
                "text-as-flag",
                "warning" if certain else "note",
                f'{name} is the text "{default}", and every text that is not empty holds',
                site.test.source.at(column),
                f"write {name} == 'true', or make its default {default.lower()} without quotes",
            )


def _is_word(value: Value) -> bool:
    return isinstance(value, str) and value.lower() in ("true", "false")


def compared_json(subject: CheckedRecipe) -> Iterator[Problem]:
    """Find results that are read as JSON and compared with a word, as if they were text."""
    parsed = _parsed(subject.recipe)
    for site in sites(subject) if parsed else ():
        for node in inside(site.test.condition.tree):
            name, text = _word_test(node)
            if name in parsed:
                what = f"{name} is read as JSON; as an object it is never equal to '{text}'"
                fix = f"compare a part of it, such as {name}.status"
                yield finding("json-as-text", "note", what, site.test.source.at(node.column), fix)


def _word_test(node: Expression) -> tuple[str, str]:
    """Return the variable and the word of `name == 'word'`, where the word cannot be JSON itself."""
    match node:
        case Compare("==" | "!=", Name(name) | PlaceholderNode((name,)), Constant(str() as text)):
            return ("", "") if text[:1] in ("", "[", "{") or text in ("true", "false") else (name, text)
        case _:
            return "", ""


def _parsed(recipe: Recipe) -> set[str]:
    steps = every_step(recipe.steps)
    parsed = {step.output for step in steps if step.json and step.output}
    return {name for name in parsed if name} - {step.output for step in steps if not step.json}
