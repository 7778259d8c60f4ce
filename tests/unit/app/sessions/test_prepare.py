"""Modules come from paths, repositories and packages; what they need is installed once, beside us."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from tests.support.ecosystem import MODULES, House, write_module
from tests.support.git_server import Repository
from tests.support.installing import prepared

from amplifier_foundation import load_bundle
from amplifier_foundation.modules import ModuleActivationError
from amplihack.app.bundles.command_request import request_here
from amplihack.app.bundles.keeping import lock
from amplihack.app.sessions.prepared import prepare_here
from amplihack.app.workspace import open_workspace

TOOL = MODULES["tool-echo"]


# sources ---------------------------------------------------------------------------------------------------


def test_a_module_comes_from_a_directory_of_a_repository(house: House, tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    write_module(repository.path / "modules", "tool-git", TOOL.replace('"echo"', '"git"'))
    repository.commit({"README.md": "x"})
    source = f"git+file://{repository.path}@main#subdirectory=modules/tool-git"
    house.change("tools:\n", f"tools:\n  - {{module: tool-git, source: '{source}'}}\n")

    async def story() -> None:
        ready = await house.prepare(strict=True)
        async with ready.create_session(session_cwd=house.work) as session:
            assert await session.execute("call git x") == f"tool said: x in {house.work}"
        assert "cache" in ready.module_exports["tool-git"]["path"]

    asyncio.run(story())


def test_offline_a_lock_gives_exactly_what_was_locked(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMPLIHACK_HOME", str(tmp_path / "ours"))
    monkeypatch.chdir(house.work)
    repository = Repository(tmp_path / "repository")
    write_module(repository.path / "modules", "tool-git", TOOL.replace('"echo"', '"git"'))
    repository.commit({"README.md": "x"})
    source = f"git+file://{repository.path}@main#subdirectory=modules/tool-git"
    house.change("tools:\n", f"tools:\n  - {{module: tool-git, source: '{source}'}}\n")

    async def story() -> None:
        workspace = open_workspace()
        await lock(request_here(workspace, str(house.file)))
        newer = {"modules/tool-git/amplifier_module_tool_git/__init__.py": "raise RuntimeError('newer')\n"}
        repository.commit(newer)
        repository.path.rename(tmp_path / "moved")
        ready = await prepare_here(workspace, str(house.file), offline=True, frozen=True, keep=False)
        async with ready.create_session() as session:
            assert session.problems == ()
            assert await session.execute("call git x") == f"tool said: x in {house.work}"

    asyncio.run(story())


def test_a_program_may_give_another_source(house: House, tmp_path: Path) -> None:
    other = write_module(tmp_path / "other", "tool-echo", TOOL.replace("said = f", "said = 'other ' + f"))

    def redirect(module: str, source: str) -> str:
        return str(other) if module == "tool-echo" else source

    async def story() -> None:
        ready = await house.prepare(strict=True, source_resolver=redirect)
        assert ready.effective_sources["tool-echo"] == str(other)
        assert ready.mount_plan["tools"][0]["source"].endswith("modules/tool-echo")
        async with ready.create_session(session_cwd=house.work) as session:
            assert await session.execute("call echo x") == f"tool said: other x in {house.work}"

    asyncio.run(story())


def test_offline_a_module_of_ours_stands_in_and_that_is_told(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("AMPLIHACK_OFFLINE", "1")
    there = "context: {module: context-memory, source: ./modules/context-memory}"
    house.change(there, "context: {module: context-simple, source: git+https://example.org/context@main}")

    async def story() -> None:
        ready = await house.prepare(strict=True)
        async with ready.create_session() as session:
            assert session.load_failures == ()
            assert await session.execute("hello") == "you said: hello"

    asyncio.run(story())
    assert "the installed one is used" in caplog.text


def test_a_source_that_failed_is_asked_once_and_told_once(
    house: House, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[str] = []

    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        do_HEAD = do_GET  # noqa: N815 - likewise

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    Thread(target=server.serve_forever, daemon=True).start()
    source = f"zip+http://127.0.0.1:{server.server_port}/gone.zip"
    house.change("tools:\n", f"tools:\n  - {{module: tool-gone, source: '{source}'}}\n")

    async def story() -> None:
        ready = await house.prepare()
        at_first = len(asked)
        assert at_first > 0
        for _ in range(2):
            async with ready.create_session(session_cwd=house.work) as session:
                (failure,) = session.load_failures
                assert failure.module == "tool-gone"
                assert "404" in failure.problem.what
        assert len(asked) == at_first
        told = [each.getMessage() for each in caplog.records if "tool-gone" in each.getMessage()]
        assert len(told) == 1, told
        late = {"module": "tool-late", "source": source.replace("gone", "late")}
        ready.mount_plan["tools"].append(late)
        async with ready.create_session(session_cwd=house.work) as session:
            assert {each.module for each in session.load_failures} == {"tool-gone", "tool-late"}
        assert len([path for path in asked if "late" in path]) == at_first

    asyncio.run(story())
    server.shutdown()
    server.server_close()


def test_the_same_module_from_two_places_is_told(house: House, caplog: pytest.LogCaptureFixture) -> None:
    write_module(house.directory / "more", "tool-echo", TOOL)
    agent = "agents:\n  a: {description: A, tools: [{module: tool-echo, source: ./more/tool-echo}]}\n"
    house.change("---\n\nYou are", f"{agent}---\n\nYou are")
    prepared(house)
    assert "a process can hold only one of them" in caplog.text


# packages of bundles ---------------------------------------------------------------------------------------

SHARED = """\
[project]
name = "house-shared"
version = "0.1.0"
dependencies = []

[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[tool.hatch.build.targets.wheel]
packages = ["src/house_shared"]
"""


def test_modules_share_the_root_package_of_their_bundle(house: House) -> None:
    house.write("pyproject.toml", SHARED)
    house.write("src/house_shared/__init__.py", 'GREETING = "shared"\n')
    code = TOOL.replace("from typing", "from house_shared import GREETING\nfrom typing", 1)
    house.add("tools", "tool-shared", code.replace('"echo"', '"shared"'))

    async def story() -> None:
        ready = await house.prepare(strict=True)
        source = str(house.directory / "src")
        assert ready.bundle_package_paths == [source]
        async with ready.create_session() as session:
            assert session.load_failures == ()
            assert session.coordinator.get_capability("bundle_package_paths") == [source]

    asyncio.run(story())


def test_a_bundle_inside_an_installed_wheel_is_prepared_and_its_code_is_the_wheels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case (b) of the guide: a command and bundle assets in one package, tried with a built wheel."""
    house = House(tmp_path / "project")
    monkeypatch.setenv("AMPLIFIER_HOME", str(tmp_path / "home"))
    house.write(
        "pyproject.toml",
        """\
        [project]
        name = "house-hybrid"
        version = "0.1.0"
        [project.scripts]
        house-cli = "house_hybrid.cli:main"
        [build-system]
        requires = ["hatchling"]
        build-backend = "hatchling.build"
        [tool.hatch.build.targets.wheel]
        packages = ["src/house_hybrid"]
        [tool.hatch.build.targets.wheel.force-include]
        "bundle.md" = "house_hybrid/_bundle/bundle.md"
        "context" = "house_hybrid/_bundle/context"
        "modules" = "house_hybrid/_bundle/modules"
        """,
    )
    house.write("src/house_hybrid/__init__.py", 'KIND = "wheel"\n')
    house.write("src/house_hybrid/cli.py", "def main():\n    return 0\n")
    build = "from hatchling.build import build_wheel; print(build_wheel('dist'))"
    command = [sys.executable, "-c", build]
    wheel = subprocess.run(
        command, cwd=house.directory, capture_output=True, text=True, check=True
    ).stdout.split()[-1]
    site = tmp_path / "site"
    _unpack(house.directory / "dist" / wheel, site)
    monkeypatch.syspath_prepend(str(site))

    async def story() -> None:
        bundle = await load_bundle(str(site / "house_hybrid" / "_bundle" / "bundle.md"))
        ready = await bundle.prepare(strict=True)
        async with ready.create_session(session_cwd=house.work) as session:
            assert await session.execute("call echo x") == f"tool said: x in {house.work}"
        from house_hybrid import KIND  # type: ignore[import-not-found] # made by the test

        assert KIND == "wheel"
        await (await load_bundle(str(house.file))).prepare(strict=True)
        assert str(house.directory / "src") not in sys.path  # it would shadow the wheel

    asyncio.run(story())


def _unpack(wheel: Path, site: Path) -> None:
    import zipfile

    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)


def test_a_module_that_is_a_program_runs_only_where_that_is_allowed(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMPLIHACK_HOME", str(tmp_path / "ours"))
    monkeypatch.chdir(house.work)
    house.write("modules/tool-native/amplifier.toml", '[module]\ntransport = "rust"\ntype = "tool"\n')
    house.change("tools:\n", "tools:\n  - {module: tool-native, source: ./modules/tool-native}\n")
    settings = tmp_path / "ours" / "settings.yaml"
    settings.parent.mkdir()

    async def refused() -> None:
        with pytest.raises(Exception, match="is a native program") as caught:
            await prepare_here(open_workspace(), str(house.file), keep=False)
        assert "allow_native_modules: true" in caught.value.fix  # type: ignore[attr-defined] # one of ours

    asyncio.run(refused())
    (house.work / ".amplihack").mkdir()
    (house.work / ".amplihack" / "settings.yaml").write_text("allow_native_modules: true\n")
    asyncio.run(refused())  # a project must not decide that
    settings.write_text("allow_native_modules: true\n")

    async def allowed() -> None:
        prepared = await prepare_here(open_workspace(), str(house.file), keep=False)
        assert "tool-native" in prepared._modules.activator.packages
        assert any("no effect in a project" in each.what for each in prepared.problems)

    asyncio.run(allowed())


@pytest.mark.parametrize("written", ['"rich"', '["!! no requirement"]', '["rich", 3]', '["-e ./here"]'])
def test_dependencies_that_nobody_understands_are_told(house: House, written: str) -> None:
    house.add("tools", "tool-odd", TOOL.replace('"echo"', '"odd"'))
    project = house.directory / "modules" / "tool-odd" / "pyproject.toml"
    project.write_text(project.read_text().replace("dependencies = []", f"dependencies = {written}"))

    async def story() -> None:
        with pytest.raises(ModuleActivationError, match="which is no requirement") as caught:
            await house.prepare(strict=True)
        assert "a list of texts" in caught.value.fix

    asyncio.run(story())


def test_a_module_for_another_kernel_is_told_and_tried(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    house.add("tools", "tool-new", TOOL.replace('"echo"', '"new"'))
    project = house.directory / "modules" / "tool-new" / "pyproject.toml"
    wanted = '["amplifier-core>=99", "amplifier_core>=2", "amplifier-foundation>=99"]'
    project.write_text(project.read_text().replace("dependencies = []", f"dependencies = {wanted}"))

    async def story() -> None:
        async with (await house.prepare(strict=True)).create_session() as session:
            assert "new" in session.coordinator.get("tools")

    asyncio.run(story())
    (told,) = (each.getMessage() for each in caplog.records if "tool-new" in each.getMessage())
    assert "requires amplifier-core>=99, and this is 2." in told
