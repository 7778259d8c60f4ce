"""What a recipe says of the bundles that its agents come from."""

from __future__ import annotations

import pytest

from amplihack.recipes.decode import decode_text
from amplihack.recipes.dependencies import how_to_get
from amplihack.recipes.extends import merge
from amplihack.recipes.model import Dependency


def recipe_text(dependencies: str) -> str:
    return f"name: n\ndependencies: {dependencies}\nsteps: [{{id: a, command: ls}}]\n"


@pytest.mark.parametrize(
    ("dependencies", "found"),
    [
        ("[]", ()),
        ("[{source: bundles/a, kind: bundle}]", (Dependency("bundles/a"),)),
        ("[{source: a, required_agents: ['a:x', 'a:y']}]", (Dependency("a", ("a:x", "a:y")),)),
        ("['git+https://h.org/a']", (Dependency("git+https://h.org/a"),)),
        ("notes for readers", ()),
    ],
)
def test_bundles_and_their_agents_are_read(dependencies: str, found: tuple[Dependency, ...]) -> None:
    decoded = decode_text(recipe_text(dependencies), "r.yaml")
    assert decoded.problems == ()
    assert decoded.required().dependencies == found


@pytest.mark.parametrize("entry", ["{kind: bundle}", "[a]", "''", "{source: [a]}"])
def test_an_entry_without_a_source_is_told(entry: str) -> None:
    decoded = decode_text(recipe_text(f"[{entry}, b]"), "r.yaml")
    (problem,) = decoded.problems
    assert (problem.what, problem.severity) == ("dependencies: an entry names no bundle", "warning")
    assert decoded.required().dependencies == (Dependency("b"),)


@pytest.mark.parametrize(
    ("file", "source", "shown"),
    [
        ("r.yaml", "bundles/a", "./bundles/a"),
        ("/work/recipes/r.yaml", "../a", "/work/recipes/../a"),
        ("r.yaml", "/opt/a", "/opt/a"),
        ("r.yaml", "~/a", "~/a"),
        ("sub/r.yaml", "git+https://h.org/a@v1#subdirectory=b", "git+https://h.org/a@v1#subdirectory=b"),
    ],
)
def test_a_path_counts_from_the_directory_of_the_recipe(file: str, source: str, shown: str) -> None:
    recipe = decode_text(recipe_text(f"[{{source: '{source}', required_agents: ['a:x']}}]"), file).required()
    assert how_to_get("a:x", recipe) == (
        f"the recipe says that it comes from {shown}; run with `--agent session:{shown}`"
    )


def test_a_recipe_that_names_no_bundles_has_no_advice() -> None:
    assert how_to_get("a:x", decode_text(recipe_text("[]")).required()) == ""


def test_a_recipe_keeps_the_bundles_of_the_one_that_it_extends() -> None:
    parent, child = (decode_text(recipe_text(each)).required() for each in ("[a, b]", "[b, c]"))
    merged = merge(parent, decode_text("name: m\nextends: n\ndependencies: [b, c]\n").required())
    assert [each.source for each in merged.dependencies] == ["a", "b", "c"]
    assert [each.source for each in child.dependencies] == ["b", "c"]
