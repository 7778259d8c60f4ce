"""Recipes in the manner of published ones: nothing in them is a mistake, so nothing may be said."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.recipes.check.shelf import Shelf

from amplihack.recipes.check import check_recipe

FILES = {path.name: path.read_text() for path in sorted(Path(__file__).with_name("healthy").glob("*.yaml"))}


@pytest.mark.parametrize("name", FILES)
def test_a_healthy_recipe_gives_no_finding(name: str) -> None:
    shelf = Shelf(FILES)
    assert check_recipe(shelf.located(name), shelf) == ()


@pytest.mark.parametrize("name", FILES)
def test_alone_it_lacks_only_its_sub_recipes_and_what_callers_set(name: str) -> None:
    shelf = Shelf({name: FILES[name]})
    found = check_recipe(shelf.located(name), shelf)
    assert {problem.code for problem in found} <= {"unknown-recipe", "undefined-variable"}


def test_both_dialects_are_among_them() -> None:
    shelf = Shelf(FILES)
    dialects = [shelf.located(name).recipe.dialect for name in FILES]
    assert dialects.count("amplihack") >= 10
    assert dialects.count("amplifier") >= 8
