"""Bundles by name: registered, loaded with all they include, and remembered."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from amplifier_foundation import (
    Bundle,
    BundleDependencyError,
    BundleLoadError,
    BundleNotFoundError,
    BundleRegistry,
    BundleState,
    BundleValidationError,
    load_bundle,
)
from amplifier_foundation.configurator import Origin


def write(base: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))


def named(name: str, *includes: str, tool: str = "") -> str:
    lines = [f"bundle: {{name: {name}}}", "includes:", *(f"  - bundle: {each}" for each in includes)]
    return "\n".join((*lines, "tools:", f"  - module: {tool or 'tool-' + name}")) + "\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AMPLIFIER_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def registry(home: Path) -> BundleRegistry:
    return BundleRegistry()


def stored(home: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((home / "registry.json").read_text())
    assert data["version"] == 1
    bundles: dict[str, Any] = data["bundles"]
    return bundles


def tools(bundle: Bundle) -> list[str]:
    return [entry["module"] for entry in bundle.tools]


def test_names_are_registered_found_and_forgotten(registry: BundleRegistry, home: Path) -> None:
    registry.register({"b": "git+https://example.com/b@main", "a": "git+https://example.com/a@main"})
    assert registry.list_registered() == ["a", "b"]
    assert registry.find("a") == "git+https://example.com/a@main"
    assert registry.find("c") is None
    assert not (home / "registry.json").exists()
    registry.save()
    assert registry.unregister("a") is True
    assert registry.unregister("a") is False
    assert BundleRegistry(home).list_registered() == ["a", "b"]
    registry.save()
    assert BundleRegistry(home).list_registered() == ["b"]


def test_registering_again_changes_the_address_alone(registry: BundleRegistry) -> None:
    registry.register({"a": "git+https://example.com/a@main"})
    state = registry.get_state("a")
    assert state is not None
    state.explicitly_requested = True
    registry.register({"a": "git+https://example.com/a@v2"})
    assert registry.get_state("a") is state
    assert (state.uri, state.explicitly_requested) == ("git+https://example.com/a@v2", True)


def test_forgetting_a_bundle_ends_its_relations(registry: BundleRegistry) -> None:
    registry.register({name: f"git+https://example.com/{name}" for name in ("parent", "child", "other")})
    states = registry.get_state()
    states["parent"].includes = ["child", "other"]
    states["child"].included_by = ["parent"]
    registry.unregister("parent")
    assert states["child"].included_by == []
    states["other"].includes = ["child"]
    registry.unregister("child")
    assert states["other"].includes == []


def test_states_survive_their_json() -> None:
    state = BundleState("uri", "n", version="1", includes=["a"], root_name="r", is_root=False)
    assert BundleState.from_dict("n", json.loads(json.dumps(state.to_dict()))) == state
    assert set(BundleState("uri", "n").to_dict()) == {
        "uri", "name", "version", "loaded_at", "checked_at", "local_path", "is_root", "explicitly_requested",
        "app_bundle",
    }  # fmt: skip


@pytest.mark.asyncio
async def test_a_bundle_is_loaded_once_however_it_is_spelled(
    registry: BundleRegistry, tmp_path: Path
) -> None:
    write(tmp_path, {"a/bundle.yaml": named("a")})
    (tmp_path / "link").symlink_to(tmp_path / "a")
    spellings: list[str | Path] = [
        tmp_path / "a",
        f"file://{tmp_path}/a",
        str(tmp_path / "link"),
        f"{tmp_path}/a/bundle.yaml",
        "a",
    ]
    first, *others = [await load_bundle(each, registry=registry) for each in spellings]
    assert all(other is first for other in others)
    assert (first.name, first._source_uri) == ("a", f"file://{tmp_path}/a")


@pytest.mark.asyncio
async def test_loads_at_once_share_their_work_and_their_failure(
    registry: BundleRegistry, tmp_path: Path
) -> None:
    write(tmp_path, {"a/bundle.yaml": named("a")})
    loads = await asyncio.gather(*(registry.load(str(tmp_path / "a")) for _ in range(5)))
    assert len({id(bundle) for bundle in loads}) == 1
    lost = await asyncio.gather(*(registry.load("nobody") for _ in range(3)), return_exceptions=True)
    assert [type(error) for error in lost] == [BundleNotFoundError] * 3


@pytest.mark.asyncio
async def test_includes_compose_in_order_with_the_bundle_on_top(
    registry: BundleRegistry, tmp_path: Path
) -> None:
    write(
        tmp_path,
        {
            "x/bundle.yaml": named("x", "../y", "../w"),
            "y/bundle.yaml": named("y", "../z"),
            "z/bundle.yaml": named("z", tool="tool-x"),
            "w/bundle.yaml": named("w"),
        },
    )
    bundle = await registry.load(str(tmp_path / "x"))
    assert tools(bundle) == ["tool-x", "tool-y", "tool-w"]
    assert (bundle.name, bundle.version) == ("x", "1.0.0")
    assert bundle.includes == [{"bundle": "../y"}, {"bundle": "../w"}]
    assert bundle.origins["tool:tool-x"] == [Origin("z", None), Origin("y", "z"), Origin("x", "y")]
    assert set(bundle.source_base_paths) == {"x", "y", "z", "w"}
    alone = await load_bundle(tmp_path / "x", auto_include=False, registry=registry)
    assert tools(alone) == ["tool-x"]
    assert await registry.load(str(tmp_path / "x")) is bundle


@pytest.mark.asyncio
async def test_a_load_is_remembered_with_its_relations(
    registry: BundleRegistry, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(
        tmp_path,
        {
            "a/bundle.yaml": named("a", "../b"),
            "b/bundle.yaml": named("b", "../c"),
            "c/bundle.yaml": named("c"),
        },
    )
    writes: list[Path] = []
    monkeypatch.setattr("amplihack.system.registry_file.write_atomic", _recording(writes))
    await registry.load(str(tmp_path / "a"))
    assert writes == [home / "registry.json"]
    bundles = stored(home)
    assert list(bundles) == ["a", "b", "c"]
    assert (bundles["a"]["includes"], bundles["b"]["included_by"]) == (["b"], ["a"])
    assert [bundles[name]["explicitly_requested"] for name in "abc"] == [True, False, False]
    assert bundles["c"]["local_path"] == str(tmp_path / "c")
    write(tmp_path, {"a/bundle.yaml": named("a", "../c")})
    await registry.update("a")
    bundles = stored(home)
    assert (bundles["a"]["includes"], bundles["c"]["included_by"]) == (["c"], ["b", "a"])
    assert "included_by" not in bundles["b"]
    assert bundles["a"]["explicitly_requested"] is True


def _recording(writes: list[Path]) -> Any:
    from amplihack.system.replace import write_atomic

    def record(path: Path, data: bytes) -> None:
        writes.append(path)
        write_atomic(path, data)

    return record


@pytest.mark.asyncio
async def test_an_edited_file_is_read_again_only_on_update(registry: BundleRegistry, tmp_path: Path) -> None:
    write(tmp_path, {"a/bundle.yaml": named("a", tool="old")})
    first = await registry.load(str(tmp_path / "a"))
    write(tmp_path, {"a/bundle.yaml": named("a", tool="new")})
    assert await registry.load("a") is first
    again = await registry.update("a")
    assert tools(again) == ["new"]
    assert await registry.load(str(tmp_path / "a")) is again
    with pytest.raises(KeyError):
        await registry.update("nobody")


@pytest.mark.asyncio
async def test_all_that_can_be_loaded_are_loaded_at_once(
    registry: BundleRegistry, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path, {"a/bundle.yaml": named("a")})
    registry.register({"a": str(tmp_path / "a"), "lost": str(tmp_path / "lost")})
    found = await registry.load()
    assert list(found) == ["a"]
    assert "Failed to load bundle 'lost'" in caplog.text
    state = registry.get_state("a")
    assert state is not None
    assert state.explicitly_requested is False


@pytest.mark.asyncio
async def test_circles_are_cut_with_a_warning_and_finish(
    registry: BundleRegistry, home: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(
        tmp_path,
        {
            "a/bundle.yaml": named("a", "../b", "../c"),
            "b/bundle.yaml": named("b", "../c"),
            "c/bundle.yaml": named("c", "../b"),
        },
    )
    async with asyncio.timeout(20):
        bundle = await registry.load(str(tmp_path / "a"))
    assert sorted(tools(bundle)) == ["tool-a", "tool-b", "tool-c"]
    assert "Circular Include Skipped: b -> c -> b" in caplog.text
    assert "\x1b" not in caplog.text
    assert [entry["chain"] for entry in bundle.load_report] == [["b", "c", "b"]]
    assert tools(await BundleRegistry(home, strict=True).load(str(tmp_path / "a"))) == tools(bundle)
    with pytest.raises(BundleDependencyError, match="Circular Include"):
        await BundleRegistry(home, strict="all").load(str(tmp_path / "a"))


@pytest.mark.asyncio
async def test_a_missing_include_is_reported_or_strictly_refused(
    home: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path, {"a/bundle.yaml": named("a", "../b"), "b/bundle.yaml": named("b", "nobody")})
    bundle = await load_bundle(tmp_path / "a")
    assert tools(bundle) == ["tool-b", "tool-a"]
    (entry,) = bundle.load_report
    assert (entry["source"], entry["chain"]) == ("nobody", ["a", "b"])
    assert isinstance(entry["exception"], BundleDependencyError)
    assert "no bundle is called 'nobody'" in caplog.text
    with pytest.raises(BundleDependencyError, match="strict mode"):
        await load_bundle(tmp_path / "a", strict=True)


@pytest.mark.asyncio
async def test_strictness_belongs_to_the_registry(registry: BundleRegistry) -> None:
    with pytest.raises(ValueError, match="Cannot pass strict=True"):
        await load_bundle("a", registry=registry, strict=True)


@pytest.mark.asyncio
async def test_each_kind_of_failure_has_its_own_error(registry: BundleRegistry, tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "text.txt": "x",
            "bad.yaml": "bundle: {name: x\n",
            "list.yaml": "- a\n",
            "tools.yaml": "bundle: {name: t}\ntools: [tool-bash]\n",
            "empty/readme.md": "x",
        },
    )
    cases: dict[str, type[Exception]] = {
        "nobody": BundleNotFoundError,
        str(tmp_path / "missing.md"): BundleNotFoundError,
        "nobody:behaviors/x": BundleNotFoundError,
        str(tmp_path / "text.txt"): BundleLoadError,
        str(tmp_path / "bad.yaml"): BundleLoadError,
        str(tmp_path / "list.yaml"): BundleLoadError,
        str(tmp_path / "empty"): BundleLoadError,
        str(tmp_path / "tools.yaml"): BundleValidationError,
    }
    for source, kind in cases.items():
        with pytest.raises(kind):
            await registry.load(source)


@pytest.mark.asyncio
async def test_a_behaviour_shares_the_namespace_of_its_root(registry: BundleRegistry, tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "repo/bundle.md": "---\nbundle: {name: root}\nincludes: [root:behaviors/x]\n---\n# Hi\n",
            "repo/behaviors/x.yaml": "bundle: {name: x-behavior}\nagents: {include: [root:ann]}\n",
            "repo/agents/ann.md": "---\nmeta: {name: ann, description: helps}\n---\nDo.\n",
        },
    )
    behaviour = await registry.load(str(tmp_path / "repo/behaviors/x.yaml"))
    assert behaviour.source_base_paths["root"] == tmp_path / "repo"
    assert behaviour.agents["root:ann"]["description"] == "helps"
    states = registry.get_state()
    assert (states["x-behavior"].is_root, states["x-behavior"].root_name) == (False, "root")
    assert (states["root"].is_root, states["root"].uri) == (True, f"file://{tmp_path}/repo")
    root = await registry.load("root")
    assert root.instruction == "# Hi"
    assert root.agents == behaviour.agents
    assert (await registry.load("root:behaviors/x")).name == "x-behavior"


@pytest.mark.asyncio
async def test_a_behaviour_called_like_its_root_leaves_the_name_to_it(
    registry: BundleRegistry, tmp_path: Path
) -> None:
    write(
        tmp_path,
        {"repo/bundle.yaml": named("twin", tool="t-root"), "repo/behaviors/twin.yaml": named("twin")},
    )
    await registry.load(str(tmp_path / "repo/behaviors/twin.yaml"))
    assert registry.find("twin") == f"file://{tmp_path}/repo"
    assert tools(await registry.load("twin")) == ["t-root"]


@pytest.mark.asyncio
async def test_another_bundle_of_a_known_name_is_told_about(
    registry: BundleRegistry, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path, {"one/bundle.yaml": named("same"), "two/bundle.yaml": named("same")})
    await registry.load(str(tmp_path / "one"))
    await registry.load(str(tmp_path / "two"))
    assert f"'same' now means file://{tmp_path}/two; it was file://{tmp_path}/one" in caplog.text


@pytest.mark.asyncio
async def test_includes_can_be_given_another_address(registry: BundleRegistry, tmp_path: Path) -> None:
    write(tmp_path, {"a/bundle.yaml": named("a", "foundation"), "f/bundle.yaml": named("mine")})
    asked: list[str] = []

    def resolver(source: str) -> str | None:
        asked.append(source)
        return f"file://{tmp_path}/f" if source == "foundation" else None

    registry.set_include_source_resolver(resolver)
    assert tools(await registry.load(str(tmp_path / "a"))) == ["tool-mine", "tool-a"]
    assert set(asked) == {"foundation"}


@pytest.mark.asyncio
async def test_a_load_without_a_registry_leaves_local_names_out_of_it(home: Path, tmp_path: Path) -> None:
    write(tmp_path, {"a/bundle.yaml": named("a")})
    assert (await load_bundle(tmp_path / "a")).name == "a"
    assert not (home / "registry.json").exists()


@pytest.mark.asyncio
async def test_a_registry_that_shall_not_persist_touches_no_disk(tmp_path: Path) -> None:
    write(tmp_path, {"a/bundle.yaml": named("a")})
    registry = BundleRegistry(tmp_path / "home", persist=False)
    await registry.load(str(tmp_path / "a"))
    registry.save()
    assert registry.list_registered() == ["a"]
    assert not (tmp_path / "home" / "registry.json").exists()


def test_two_registries_do_not_lose_each_others_names(home: Path) -> None:
    one, two = BundleRegistry(), BundleRegistry()
    one.register({"a": "git+https://example.com/a"})
    two.register({"b": "git+https://example.com/b"})
    one.save()
    two.save()
    assert BundleRegistry(home).list_registered() == ["a", "b"]


def test_addresses_with_secrets_are_never_written_down(
    registry: BundleRegistry, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    registry.register({"a": "git+https://user:hunter2@example.com/a", "b": "git+https://example.com/b"})
    registry.save()
    assert "hunter2" not in (home / "registry.json").read_text() + caplog.text
    assert list(stored(home)) == ["b"]


def test_an_unreadable_registry_is_kept_aside(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(home, {"registry.json": "{broken"})
    with caplog.at_level(logging.WARNING):
        assert BundleRegistry().list_registered() == []
    assert "registry.json" in caplog.text
    assert [path.read_text() for path in home.glob("registry.json.*")] == ["{broken"]


def test_paths_that_are_gone_are_forgotten(home: Path) -> None:
    registry = BundleRegistry()
    registry.register({"a": "git+https://example.com/a"})
    state = registry.get_state("a")
    assert state is not None
    state.local_path = str(home / "gone")
    registry.save()
    again = BundleRegistry().get_state("a")
    assert again is not None
    assert again.local_path is None
    assert stored(home)["a"]["local_path"] is None


@pytest.mark.asyncio
async def test_a_home_that_cannot_be_written_stops_no_load(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path, {"a/bundle.yaml": named("a"), "file": "not a directory"})
    registry = BundleRegistry(tmp_path / "file" / "home")
    assert (await registry.load(str(tmp_path / "a"))).name == "a"
    assert "what was loaded is not remembered" in caplog.text


@pytest.mark.asyncio
async def test_an_agent_whose_calls_are_unclear_is_not_offered_and_strictly_refused(
    home: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(
        tmp_path,
        {
            "a/bundle.yaml": "bundle: {name: a}\nagents: {include: [a:ann, a:gone]}\n",
            "a/agents/ann.md": "---\nmeta: {name: ann}\nagents: everybody\n---\nx\n",
        },
    )
    bundle = await load_bundle(tmp_path / "a")
    assert bundle.agents == {"a:gone": {"name": "a:gone"}}
    assert "'everybody'" in caplog.text
    with pytest.raises(BundleLoadError, match=r"everybody.*'a:gone' has no file"):
        await load_bundle(tmp_path / "a", strict=True)


@pytest.mark.asyncio
async def test_paths_may_hold_odd_characters_and_a_tilde(
    registry: BundleRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path, {"a #b %20/bundle.yaml": named("odd", "./x"), "a #b %20/x.yaml": named("x")})
    odd = await registry.load(tmp_path / "a #b %20")
    assert tools(odd) == ["tool-x", "tool-odd"]
    assert await registry.load("~/a #b %20/bundle.yaml") is odd
    assert await registry.load("odd") is odd


@pytest.mark.parametrize(
    "text",
    [
        "tools: [{name: x}, {module: good}]",
        "tools: [{module: ' '}, {module: good}]",
        "tools: [{id: x}, {module: good}]",
        "spawn: {tools: [{name: x}, {module: good}]}",
        "agents: {a: {description: d, tools: [{name: x}, {module: good}]}}",
        "agents: {include: [b:own]}",
        "includes: [./inner.yaml]",
    ],
)
@pytest.mark.asyncio
async def test_an_entry_without_a_module_is_skipped_wherever_it_stands_and_refused_in_strict_mode(
    home: Path, tmp_path: Path, text: str
) -> None:
    write(
        tmp_path / "b",
        {
            "bundle.yaml": f"bundle: {{name: b}}\n{text}\n",
            "agents/own.md": "---\nmeta: {description: d}\ntools: [{name: x}, {module: good}]\n---\nhi\n",
            "inner.yaml": "bundle: {name: n}\ntools: [{name: x}, {module: good}]\n",
        },
    )
    loaded = await load_bundle(str(tmp_path / "b"))
    found = str(loaded.to_mount_plan())
    assert "{'module': 'good'}" in found
    assert "'x'" not in found
    assert "' '" not in found
    with pytest.raises(
        (BundleValidationError, BundleLoadError, BundleDependencyError), match="module"
    ) as refused:
        await load_bundle(str(tmp_path / "b"), strict=True)
    assert "is read as text" not in str(refused.value)
