from __future__ import annotations

import pytest
from tests.unit.bundles.world import KnownNames, World

from amplihack.bundles.composition import Circle, compose_order, include_chain
from amplihack.bundles.includes import Fetch, Target, UnresolvedInclude, resolve_include
from amplihack.bundles.ports import Namespace
from amplihack.bundles.roots import Root, root_directories, standing

WORLD = World(
    dict.fromkeys(
        (
            "/r/bundle.md",
            "/r/behaviors/x.yaml",
            "/r/behaviors/v1.2.yaml",
            "/r/dir/bundle.yaml",
            "/r/dir/bundle.md",
            "/r/empty/readme.txt",
            "/w/b.yaml",
        ),
        "",
    )
)
NAMES = KnownNames(
    {
        "local": Namespace("file:///r", "/r"),
        "git": Namespace("git+https://h/o/r@main", "/r"),
        "deep": Namespace("git+https://h/o/r@main#subdirectory=sub/dir", "/r"),
        "later": Namespace("git+https://h/o/later@main"),
    },
    {"old": "git+https://h/o/new@main"},
)


@pytest.mark.parametrize(
    ("source", "uri"),
    [
        ("old", "git+https://h/o/new@main"),
        ("https://h/b.yaml", "https://h/b.yaml"),
        ("git", "git+https://h/o/r@main"),
        ("local:behaviors/x", "file:///r/behaviors/x.yaml"),
        ("local:behaviors/v1.2", "file:///r/behaviors/v1.2.yaml"),
        ("local:dir", "file:///r/dir/bundle.md"),
        ("git:behaviors/x", "git+https://h/o/r@main#subdirectory=behaviors/x.yaml"),
        ("deep:behaviors/x", "git+https://h/o/r@main#subdirectory=sub/dir/behaviors/x.yaml"),
        ("./b.yaml", "file:///w/b.yaml"),
        ("./b", "file:///w/b.yaml"),
        ("b.yaml", "file:///w/b.yaml"),
        ("../r", "file:///r/bundle.md"),
    ],
)
def test_an_include_leads_where_it_should(source: str, uri: str) -> None:
    assert resolve_include(source, "/w", NAMES, WORLD) == Target(uri)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("nobody", "unknown-name"),
        ("nobody:x", "unknown-namespace"),
        ("local:nope", "missing-path"),
        ("local:empty", "missing-path"),
        ("local:../../etc", "escapes"),
        ("./nope", "missing-path"),
    ],
)
def test_an_include_that_leads_nowhere_says_why(source: str, reason: str) -> None:
    found = resolve_include(source, "/w", NAMES, WORLD)
    assert isinstance(found, UnresolvedInclude)
    assert found.reason == reason
    assert found.fix


def test_a_namespace_that_is_not_here_yet_is_fetched_first() -> None:
    assert resolve_include("later:x", "/w", NAMES, WORLD) == Fetch("later", "git+https://h/o/later@main")


def test_a_diamond_is_composed_once() -> None:
    order = compose_order("a", {"a": ["b", "c"], "b": ["d"], "c": ["d"]})
    assert order.bundles == ("d", "b", "c", "a")
    assert order.circles == ()
    assert order.includes["c"] == ("d",)


def test_mutual_includes_below_a_common_parent_are_cut_once() -> None:
    order = compose_order("a", {"a": ["b", "c"], "b": ["c"], "c": ["b"]})
    assert order.bundles == ("c", "b", "a")
    assert order.circles == (Circle(("b", "c", "b")),)
    assert order.circles[0].what == "Circular Include Skipped: b -> c -> b"
    assert order.includes == {"c": (), "b": ("c",), "a": ("b", "c")}


@pytest.mark.parametrize(
    ("graph", "chain"),
    [
        ({"a": ["a"]}, ("a", "a")),
        ({"a": ["b"], "b": ["a"]}, ("a", "b", "a")),
        ({"a": ["b"], "b": ["c"], "c": ["a"]}, ("a", "b", "c", "a")),
    ],
)
def test_circles_are_told_in_load_order(graph: dict[str, list[str]], chain: tuple[str, ...]) -> None:
    assert compose_order("a", graph).circles == (Circle(chain),)


def test_a_very_long_chain_is_no_problem() -> None:
    graph = {str(n): [str(n + 1)] for n in range(5000)}
    assert len(compose_order("0", graph).bundles) == 5001


def test_the_chain_to_a_bundle_is_the_shortest() -> None:
    graph = {"a": ["b", "d"], "b": ["c"], "c": ["d"]}
    assert include_chain("a", "d", graph) == ("a", "d")
    assert include_chain("a", "c", graph) == ("a", "b", "c")
    assert include_chain("a", "zz", graph) == ()


def test_roots_are_looked_for_upwards_and_not_above_the_source() -> None:
    assert root_directories("/s/r/behaviors", "/s") == ("/s/r", "/s")
    assert root_directories("/s", "/s") == ()
    assert root_directories("/other/x", "/s") == ()
    assert root_directories("/a/b", "/") == ("/a", "/")


def test_a_behavior_below_a_root_shares_its_namespace_and_adds_its_own() -> None:
    found = standing("recipes-behavior", "/r/behaviors", None, Root("recipes", "/r"))
    assert (found.is_root, found.root_name) == (False, "recipes")
    assert found.source_base_paths == {"recipes": "/r", "recipes-behavior": "/r/behaviors"}


def test_a_behavior_with_the_name_of_its_root_counts_as_the_root() -> None:
    found = standing("recipes", "/r/behaviors", None, Root("recipes", "/r"))
    assert (found.is_root, found.root_name) == (True, None)
    assert found.source_base_paths == {"recipes": "/r"}


def test_a_namespace_may_lie_elsewhere_than_its_file() -> None:
    assert standing("a", "/r/x", "../data", None).source_base_paths == {"a": "/r/data"}


def test_a_path_below_the_home_directory_is_left_for_the_machine_to_expand() -> None:
    assert resolve_include("~/bundles/mine", "/w", NAMES, WORLD) == Target("~/bundles/mine")
