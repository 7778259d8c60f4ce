"""One load: what vanishes on the way, what is asked only once, and an event loop that stays free."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.support.bundle_place import bundle_request

from amplihack.app.bundles import load as load_module
from amplihack.app.bundles.command_request import request_here
from amplihack.app.bundles.load import Loader
from amplihack.app.workspace import Workspace
from amplihack.bundles.composition import Composition
from amplihack.bundles.errors import BundleDependencyError, BundleError
from amplihack.system.home import Home
from amplihack.system.recipe_library import Library
from amplihack.system.sources import ResolvedSource, Sources


class Vanishing(Sources):
    """The file of one source is gone as soon as it was found."""

    def local(self, uri: str, *, base: Path | None = None) -> ResolvedSource:
        found = super().local(uri, base=base)
        if found.active_path.name == "gone.yaml":
            found.active_path.unlink()
        return found


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


async def load(folder: Path, source: str = "./bundle.yaml", *, strict: bool = True) -> Composition:
    async with Vanishing(folder / "cache", environment={}, base_path=folder) as sources:
        return await Loader(bundle_request(folder, strict=strict), sources).composition(source)


def bundle(name: str, *includes: str) -> str:
    return f"bundle: {{name: {name}}}\nincludes: {list(includes)}\n"


def test_a_file_that_vanishes_while_it_is_loaded_is_a_failed_include(tmp_path: Path) -> None:
    write(tmp_path, {"bundle.yaml": bundle("a", "./gone.yaml"), "gone.yaml": bundle("gone")})
    with pytest.raises(BundleDependencyError, match="strict mode") as caught:
        asyncio.run(load(tmp_path))
    assert caught.value.chain == ("a", "./gone.yaml")
    write(tmp_path, {"gone.yaml": bundle("gone")})
    loaded = asyncio.run(load(tmp_path, strict=False))
    assert [each.source for each in loaded.skipped] == ["./gone.yaml"]


def test_a_root_that_vanishes_is_an_error_of_ours(tmp_path: Path) -> None:
    write(tmp_path, {"gone.yaml": bundle("gone")})
    with pytest.raises(BundleError, match=r"gone\.yaml"):
        asyncio.run(load(tmp_path, "./gone.yaml"))


def test_a_bundle_that_is_only_looked_into_does_not_take_part(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "bundle.yaml": bundle("a", "far:x"),
            "far/bundle.yaml": bundle("far", "./nowhere.yaml"),
            "far/x.yaml": bundle("x"),
        },
    )

    async def looked() -> Composition:
        async with Sources(tmp_path / "cache", environment={}, base_path=tmp_path) as sources:
            request = bundle_request(tmp_path, registered={"far": f"file://{tmp_path}/far"})
            return await Loader(request, sources).composition("./bundle.yaml")

    loaded = asyncio.run(looked())
    assert [node.own.name for node in loaded.nodes.values()] == ["x", "a"]
    assert loaded.problems == ()


def test_the_event_loop_goes_on_while_bundles_are_read(tmp_path: Path) -> None:
    count = 150
    write(tmp_path, {f"b{each}.yaml": bundle(f"b{each}") + "tools:\n" + "".join(
        f"  - {{module: tool-{each}-{tool}, config: {{a: 1, b: [1, 2]}}}}\n" for tool in range(20)
    ) for each in range(count)})  # fmt: skip
    write(tmp_path, {"bundle.yaml": bundle("a", *(f"./b{each}.yaml" for each in range(count)))})

    async def both() -> int:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.001)
                ticks += 1

        ticker = asyncio.create_task(tick())
        await load(tmp_path)
        ticker.cancel()
        return ticks

    assert asyncio.run(both()) > 5  # a blocked loop would tick once or twice


def test_what_a_load_has_found_is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Mapping[str, str]] = []
    monkeypatch.setattr(load_module, "remember", lambda _, found: written.append(found))
    write(tmp_path, {"bundle.yaml": bundle("a", "./b.yaml"), "b.yaml": bundle("b", "./c.yaml")})
    write(tmp_path, {"c.yaml": bundle("c")})
    home = Home(tmp_path / "home", tmp_path, tmp_path)
    library = Library.from_environment({}, home, recipe_dirs=(), working_dir=tmp_path)
    loaded = asyncio.run(load_module.load(request_here(Workspace({}, home, library))))
    assert len(loaded.nodes) == 3
    assert len(written) == 1


def test_each_file_is_read_once_however_many_bundles_lie_below_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def counted(path: Path, **_: object) -> bytes:
        read.append(path.name)
        return path.read_bytes()

    monkeypatch.setattr("amplihack.system.bundle_reader.read_bytes", counted)
    write(tmp_path, {f"behaviors/b{each}.yaml": bundle(f"b{each}") for each in range(5)})
    write(tmp_path, {"bundle.yaml": bundle("root", *(f"root:behaviors/b{each}" for each in range(5)))})
    loaded = asyncio.run(load(tmp_path))
    assert len(loaded.nodes) == 6
    assert sorted(read) == ["b0.yaml", "b1.yaml", "b2.yaml", "b3.yaml", "b4.yaml", "bundle.yaml"]


def test_printing_a_loaded_bundle_costs_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"bundle.yaml": bundle("a") + "tools: [{module: tool-secret-name}]\n"})
    assert "tool-secret-name" not in repr(asyncio.run(load(tmp_path)))
