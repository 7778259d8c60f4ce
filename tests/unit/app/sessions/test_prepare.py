"""Modules come from paths, repositories and packages; what they need is installed once, beside us."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.support.ecosystem import MODULES, House, write_module
from tests.support.git_server import Repository
from tests.support.packages import make_self_building, write_wheel

from amplifier_foundation import load_bundle
from amplihack.app.bundles.command_request import request_here
from amplihack.app.bundles.keeping import lock
from amplihack.app.sessions.prepared import prepare_here
from amplihack.app.workspace import open_workspace

TOOL = MODULES["tool-echo"]
NEEDY = TOOL.replace("from typing import Any", "from typing import Any\nimport house_dep", 1)


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place where packages can be had from."""
    directory = tmp_path / "wheels"
    directory.mkdir()
    for name, value in {"NO_INDEX": "1", "FIND_LINKS": str(directory)}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
        monkeypatch.setenv(f"UV_{name}", value)
    monkeypatch.setenv("PATH", _without_uv())
    write_wheel(directory, "house-dep")
    return directory


def _without_uv() -> str:
    """Return a search path on which there is no uv: tests of pip must not find one."""
    parts = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(part for part in parts if not (Path(part) / "uv").exists())


def needing(house: House, *requirements: str, name: str = "tool-needy", code: str = NEEDY) -> None:
    quoted = ", ".join(f'"{each}"' for each in requirements)
    house.add("tools", name, code)
    file = house.directory / "modules" / name / "pyproject.toml"
    file.write_text(file.read_text().replace("dependencies = []", f"dependencies = [{quoted}]"))


def prepared(house: House, **options: Any) -> list[tuple[str, str]]:
    """Prepare and open a session; returns what the progress display heard."""
    heard: list[tuple[str, str]] = []

    async def story() -> None:
        ready = await house.prepare(
            strict=True, progress_callback=lambda *each: heard.append(each), **options
        )
        async with ready.create_session() as session:
            assert session.load_failures == ()

    asyncio.run(story())
    return heard


def fake_uv(place: Path, monkeypatch: pytest.MonkeyPatch, script: str = "exit 0") -> Path:
    """Put a uv first on the path that notes how it was called; returns the notes."""
    notes = place / "uv-calls"
    program = place / "bin" / "uv"
    program.parent.mkdir()
    note = f'"{sys.executable}" -c "import json,sys; print(json.dumps(sys.argv[1:]))" "$@" >> {notes}'
    program.write_text(f"#!/bin/sh\n{note}\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return notes


# installing ------------------------------------------------------------------------------------------------


def test_what_a_module_needs_is_installed_once_and_beside_us(
    house: House, wheels: Path, tmp_path: Path
) -> None:
    needing(house, "house-dep>=1", "amplifier-core>=1", "amplifier-foundation @ git+https://example.org/x")
    assert ("installing", "tool-needy") in prepared(house)
    import house_dep  # type: ignore[import-not-found] # made by the test

    assert Path(house_dep.__file__).is_relative_to(tmp_path / "home" / "cache" / "environment")
    heard = prepared(house)
    assert ("installing", "tool-needy") not in heard
    assert ("done", "tool-needy") in heard


def test_a_module_that_needs_nothing_new_is_not_installed(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = fake_uv(tmp_path, monkeypatch)
    needing(house, "PyYAML>=5", "pydantic", "rich>=13,<99", code=TOOL.replace('"echo"', '"needy"'))
    assert not [each for each in prepared(house) if each[0] == "installing"]
    assert not notes.exists()
    assert not (tmp_path / "home" / "cache" / "environment").exists()


def test_all_modules_are_installed_by_one_call_that_leaves_sources_alone(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = fake_uv(tmp_path, monkeypatch)
    for number in range(7):
        tool = TOOL.replace('"echo"', f'"n{number}"')
        needing(house, f"nowhere-{number}>=1", name=f"tool-n{number}", code=tool)
    heard = prepared(house)
    assert len([each for each in heard if each[0] == "installing"]) == 7
    (call,) = [json.loads(line) for line in notes.read_text().splitlines()]
    assert call[:2] == ["pip", "install"]
    assert "--no-sources" in call
    assert call[call.index("--python") + 1].startswith(str(tmp_path / "home" / "cache" / "environment"))
    assert {f"nowhere-{number}>=1" for number in range(7)} <= set(call)


def test_the_event_loop_stays_free_while_things_are_installed(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_uv(tmp_path, monkeypatch, f"while [ ! -e {tmp_path}/go ]; do sleep 0.02; done")
    needing(house, "nowhere", code=TOOL.replace('"echo"', '"needy"'))

    async def story() -> None:
        async def later() -> None:
            while not (tmp_path / "uv-calls").exists():  # noqa: ASYNC110 - another process makes it
                await asyncio.sleep(0.01)
            (tmp_path / "go").touch()

        async with asyncio.timeout(30):
            await asyncio.gather(house.prepare(strict=True), later())

    asyncio.run(story())


def test_what_cannot_be_installed_is_named_with_its_module_and_the_rest_works(
    house: House, wheels: Path, caplog: pytest.LogCaptureFixture
) -> None:
    needing(house, "no-such-package>=7", name="tool-lost", code=TOOL.replace('"echo"', '"lost"'))
    needing(house, "house-dep", code=NEEDY.replace('"echo"', '"needy"'))

    async def story() -> None:
        ready = await house.prepare()
        async with ready.create_session() as session:
            assert "needy" in session.coordinator.get("tools")

    asyncio.run(story())
    assert "tool-lost is not available" in caplog.text
    assert "no-such-package" in caplog.text


def test_without_installing_only_what_is_here_is_used(house: House, tmp_path: Path) -> None:
    needing(house, "nowhere", code=TOOL.replace('"echo"', '"needy"'))
    assert not [each for each in prepared(house, install_deps=False) if each[0] == "installing"]
    assert not (tmp_path / "home" / "cache" / "environment").exists()


def test_two_who_prepare_at_once_do_not_disturb_each_other(house: House, wheels: Path) -> None:
    needing(house, "house-dep")

    async def story() -> None:
        first, second = await asyncio.gather(house.prepare(strict=True), house.prepare(strict=True))
        for ready in (first, second):
            async with ready.create_session() as session:
                assert session.load_failures == ()

    asyncio.run(story())


def test_a_project_that_must_be_built_is_built_again_when_it_changes(house: House, wheels: Path) -> None:
    house.add("tools", "tool-built", NEEDY.replace('"echo"', '"built"'))
    directory = house.directory / "modules" / "tool-built"
    make_self_building(directory, "tool-built", requires=("house-dep",))
    assert ("installing", "tool-built") in prepared(house)
    assert ("installing", "tool-built") not in prepared(house)
    with (directory / "pyproject.toml").open("a") as file:
        file.write("\n# changed\n")
    assert ("installing", "tool-built") in prepared(house)


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
