"""Loading any include graph gives the fold that one would do by hand, in whatever order answers arrive."""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.bundle_place import bundle_request, plan_leaves

from amplihack.app.bundles import asking
from amplihack.app.bundles.command_request import request_here
from amplihack.app.bundles.load import Loader
from amplihack.app.bundles.load import load as load_whole
from amplihack.app.workspace import Workspace
from amplihack.bundles.compose import compose_includes
from amplihack.bundles.composition import Composition
from amplihack.bundles.decode import decode_bundle
from amplihack.bundles.model import Bundle
from amplihack.bundles.mount_plan import fingerprint, mount_plan
from amplihack.system.home import Home
from amplihack.system.recipe_library import Library
from amplihack.system.sources import ResolvedSource, Sources

MODULES = ("tool-a", "tool-b", "tool-c")


@st.composite
def graphs(draw: st.DrawFn) -> list[list[int]]:
    """For each bundle the bundles it includes; anything may include anything, itself as well."""
    size = draw(st.integers(1, 6))
    return [draw(st.lists(st.integers(0, size - 1), max_size=3, unique=True)) for _ in range(size)]


def text(number: int, includes: list[int]) -> str:
    config = {"value": number, f"own-{number}": True, "list": [number, "same"]}
    data = {
        "bundle": {"name": f"b{number}"},
        "includes": [f"./b{each}.yaml" for each in includes],
        "tools": [{"module": MODULES[number % 3], "config": config}],
        "spawn": {"exclude_tools": [f"tool-{number}"]},
        "session": {"orchestrator": {"module": "loop", "config": {"last": number}}, "context": "context-x"},
        "agents": {f"agent-{number % 2}": {"description": f"Of {number}"}},
        "context": {"include": [f"c{number}.md"]},
    }
    return json.dumps(data)


@contextmanager
def written(graph: list[list[int]]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        for number, includes in enumerate(graph):
            (folder / f"b{number}.yaml").write_text(text(number, includes))
            (folder / f"c{number}.md").write_text(f"Context {number}.\n")
        yield folder


def by_hand(graph: list[list[int]], folder: Path) -> Bundle:
    """What is included, in order, then the bundle itself; an include that leads back counts for nothing."""
    done: dict[int, Bundle] = {}

    def composed(number: int, above: tuple[int, ...]) -> Bundle:
        if number not in done:
            file = str(folder / f"b{number}.yaml")
            own = decode_bundle(Path(file).read_bytes(), file).bundle
            path = (*above, number)
            included = [composed(each, path) for each in graph[number] if each not in path]
            done[number] = compose_includes(own, included)
        return done[number]

    return composed(0, ())


class Jumbled(Sources):
    """Answers in another order every time."""

    seed = 0

    async def resolve(self, uri: str, *, base: Path | None = None) -> ResolvedSource:
        for _ in range(random.Random(f"{self.seed}{uri}").randrange(4)):
            await asyncio.sleep(0)
        return await super().resolve(uri, base=base)


async def load(folder: Path, seed: int = 0) -> Composition:
    async with Jumbled(folder / "cache", environment={}, base_path=folder) as sources:
        sources.seed = seed
        return await Loader(bundle_request(folder), sources).composition("./b0.yaml")


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_any_graph_of_includes_loads_as_the_fold_by_hand(graph: list[list[int]]) -> None:
    with written(graph) as folder:
        loaded = asyncio.run(load(folder))
        expected = by_hand(graph, folder)
        assert mount_plan(loaded.bundle) == mount_plan(expected)
        assert loaded.bundle.context == expected.context
        assert loaded.skipped == ()


@settings(max_examples=30, deadline=None)
@given(graphs(), st.lists(st.integers(0, 9), min_size=2, max_size=3))
def test_the_order_of_answers_changes_nothing(graph: list[list[int]], seeds: list[int]) -> None:
    with written(graph) as folder:
        loads = [asyncio.run(load(folder, seed)) for seed in seeds]
    assert len({fingerprint(each.bundle) for each in loads}) == 1
    assert len({(each.order.bundles, each.order.circles, each.problems) for each in loads}) == 1


def workspace_in(folder: Path) -> Workspace:
    home = Home(folder / "home", folder, folder)
    return Workspace({}, home, Library.from_environment({}, home, recipe_dirs=(), working_dir=folder))


@settings(max_examples=15, deadline=None)
@given(graphs())
def test_every_value_of_the_plan_can_be_explained(graph: list[list[int]]) -> None:
    async def explained(workspace: Workspace) -> list[tuple[str, Any]]:
        request = request_here(workspace, "./b0.yaml")
        loaded = await load_whole(request)
        found = []
        for path, _ in plan_leaves(loaded.bundle):
            (used, *_) = asking.explain(workspace, loaded, ".".join(path))
            found.append((".".join(path), used))
        return found

    with written(graph) as folder:
        for path, entry in asyncio.run(explained(workspace_in(folder))):
            assert entry.status == "used", path
            assert Path(entry.file).is_relative_to(folder)
            assert entry.line >= 1
            assert entry.via[0] == "b0"
            assert entry.via[-1] == entry.bundle
