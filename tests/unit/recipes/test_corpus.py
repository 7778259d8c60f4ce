"""Recipes in the manner of the published ones, of both communities."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from amplihack.documents import Mapping, Node, Sequence, read_document
from amplihack.recipes.decode import decode_text
from amplihack.recipes.explain import describe, explain
from amplihack.recipes.fields import TABLES

CORPUS = Path(__file__).parents[2] / "corpus"
FILES = sorted(path for kind in ("amplihack", "amplifier") for path in (CORPUS / kind).glob("*.yaml"))
SELDOM = {  # fields of ours that no published recipe has
    "dialect", "context_mode", "idle_timeout", "output_stderr", "output_type", "until",
    "strict_shell", "finally", "always_run", "enum", "choices", "options", "example", "examples", "format",
}  # fmt: skip


def keys(node: Node) -> Iterator[str]:
    if isinstance(node, Mapping):
        yield from node.entries
    children = node.entries.values() if isinstance(node, Mapping) else getattr(node, "items", ())
    if isinstance(node, Mapping | Sequence):
        for child in children:
            yield from keys(child)


def test_there_are_recipes_of_both_kinds() -> None:
    assert {path.parent.name for path in FILES} == {"amplihack", "amplifier"}
    assert len(FILES) >= 25


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recipe_decodes_without_a_word(path: Path) -> None:
    decoded = decode_text(path.read_bytes(), path.name)
    assert decoded.problems == ()
    recipe = decoded.required()
    assert recipe.name == path.stem
    assert 3 <= len(recipe.steps) <= 15


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recipe_is_known_by_its_dialect(path: Path) -> None:
    verdict = decode_text(path.read_bytes(), path.name).verdict
    assert verdict.dialect == path.parent.name
    assert not verdict.stated


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recipe_can_be_explained(path: Path) -> None:
    recipe = decode_text(path.read_bytes(), path.name).required()
    assert all(step.id in explain(recipe) for step in recipe.steps)
    assert describe(recipe)["name"] == path.stem


def test_every_field_that_people_write_is_used_somewhere() -> None:
    used = {key for path in FILES for key in keys(read_document(path.read_bytes(), path.name).root)}
    known = {spelling for table in TABLES.values() for spelling in table.known}
    assert known - used - SELDOM - {"while_steps"} == set()
