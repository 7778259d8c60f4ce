"""The rounds of discovery: what a round wants, what it takes, and what stays unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.unit.bundles.world import World, decoded

from amplihack.bundles.composition import compose_graph
from amplihack.bundles.errors import BundleLoadError, BundleNotFoundError
from amplihack.bundles.include_graph import Checkout, IncludeGraph, Node
from amplihack.bundles.includes import Fetch, Target
from amplihack.bundles.names import KnownNames, NameTable
from amplihack.bundles.roots import standing

FILES = World(dict.fromkeys(("/a/bundle.yaml", "/a/b.yaml", "/a/c.yaml", "/n/bundle.yaml", "/n/x.yaml"), ""))


def graph(registered: Mapping[str, str] | None = None) -> IncludeGraph:
    return IncludeGraph(NameTable(KnownNames(files=FILES, registered=registered or {})), FILES)


def node(file: str, name: str, *includes: str) -> Node:
    own = decoded(f"bundle: {{name: {name}}}\nincludes: {list(includes)}\n", file).bundle
    directory = own.base_path or ""
    where = standing(name, directory, None, None)
    placed = replace(own, source_base_paths=dict(where.source_base_paths))
    return Node(f"file://{file}", f"file://{file}", file, placed, Checkout(directory), where)


def test_a_round_wants_everything_that_it_can_name_and_the_next_one_what_that_includes() -> None:
    found = graph()
    root = found.enter("file:///a/bundle.yaml", node("/a/bundle.yaml", "a", "./b.yaml", "./c.yaml"))
    found.follow(root)
    assert found.wanted() == ("file:///a/b.yaml", "file:///a/c.yaml")
    b, c = node("/a/b.yaml", "b", "./c.yaml"), node("/a/c.yaml", "c", "./bundle.yaml")
    found.take({"file:///a/b.yaml": b, "file:///a/c.yaml": c})
    assert found.wanted() == ()
    composed = compose_graph(found, root, severe=True)
    assert composed.order.bundles == (c.key, b.key, root.key)
    assert [circle.chain[-1] for circle in composed.order.circles] == [root.key]


def test_a_namespace_is_wanted_first_and_does_not_take_part() -> None:
    found = graph({"n": "file:///n"})
    root = found.enter("file:///a/bundle.yaml", node("/a/bundle.yaml", "a", "n:x"))
    found.follow(root)
    assert found.wanted() == ("file:///n",)
    found.take({"file:///n": node("/n/bundle.yaml", "n", "./gone.yaml")})
    assert found.wanted() == ("file:///n/x.yaml",)
    x = node("/n/x.yaml", "x")
    found.take({"file:///n/x.yaml": x})
    assert found.wanted() == ()
    composed = compose_graph(found, root, severe=True)
    assert (composed.order.bundles, composed.skipped) == ((x.key, root.key), ())


def test_a_name_that_a_bundle_of_the_load_brings_comes_before_a_registered_one() -> None:
    found = graph({"b": "file:///elsewhere"})
    root = found.enter("file:///a/bundle.yaml", node("/a/bundle.yaml", "a", "b", "./b.yaml"))
    found.follow(root)
    assert found.wanted() == ("file:///a/b.yaml",)
    found.take({"file:///a/b.yaml": node("/a/b.yaml", "b")})
    assert found.wanted() == ()
    assert found.edges()[root.key] == ["file:///a/b.yaml", "file:///a/b.yaml"]


def test_what_fails_and_what_nobody_knows_are_told_at_their_includes() -> None:
    found = graph()
    root = found.enter("file:///a/bundle.yaml", node("/a/bundle.yaml", "a", "./b.yaml", "nobody"))
    found.follow(root)
    found.take({uri: BundleLoadError("broken") for uri in found.wanted()})
    assert found.wanted() == ()
    composed = compose_graph(found, root, severe=False)
    assert [each.source for each in composed.skipped] == ["./b.yaml", "nobody"]
    assert [each.where.line for each in composed.problems if each.where] == [2, 2]
    assert composed.skipped[0].reason == "broken"


def test_a_root_in_a_namespace_is_found_once_the_namespace_is_here() -> None:
    found = graph({"n": "file:///n"})
    assert found.root_address("n:x", "/a") == Fetch("n", "file:///n")
    found.enter("file:///n", node("/n/bundle.yaml", "other"))
    assert found.root_address("n:x", "/a") == Target("file:///n/x.yaml")


def test_a_root_that_is_nowhere_suggests_the_nearest_name() -> None:
    found = graph({"nimble": "file:///n"})
    with pytest.raises(BundleNotFoundError, match="no bundle is called 'nimbel'") as caught:
        found.root_address("nimbel", "/a")
    assert caught.value.fix == "did you mean 'nimble'?"


def test_a_root_in_a_bundle_that_has_no_such_file_is_nowhere() -> None:
    found = graph({"n": "file:///n"})
    found.enter("file:///n", node("/n/bundle.yaml", "n"))
    with pytest.raises(BundleNotFoundError, match="has no 'y'"):
        found.root_address("n:y", "/a")
