"""What modules need lies in environments that never change, so nobody gets the versions of somebody else."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support.ecosystem import TOOL, House
from tests.support.installing import needing, prepared
from tests.support.packages import make_self_building, write_wheel

from amplifier_foundation import run_session_in_subprocess
from amplihack.system.modules.cleaning import clean_environments
from amplihack.system.modules.environment_contents import FILE
from amplihack.system.modules.errors import ModuleActivationError

# Imports what it needs when it is used, as many tools do.
_USES = "import house_dep\n        return ToolResult(success=True, output=house_dep.VALUE)\n        "
LAZY = TOOL.replace("here = self", f"{_USES}here = self")
_DAY = 24 * 3600.0


@pytest.fixture
def versions(wheels: Path) -> Path:
    for each in ("1.0", "2.0"):
        write_wheel(wheels, "house-dep", each, f"VALUE = 'version {each}'\n")
    return wheels


def lazily(place: Path, name: str, requirement: str) -> House:
    """Write a bundle with a tool that needs a package, and imports it when it is used."""
    house = House(place / name / "house")
    needing(house, requirement, name=f"tool-{name}", code=LAZY.replace('"echo"', f'"{name}"'))
    return house


def environments(home: Path) -> list[Path]:
    return sorted(each.parent for each in (home / "cache" / "environment").glob(f"*/*/{FILE}"))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AMPLIFIER_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def in_another_process(house: House, tool: str) -> str:
    """Prepare a bundle in a process of its own; returns what its tool says."""
    script = f"""
import asyncio
from pathlib import Path
from amplifier_foundation import load_bundle
async def story():
    prepared = await (await load_bundle({str(house.file)!r})).prepare(strict=True)
    async with prepared.create_session(session_cwd=Path({str(house.work)!r})) as session:
        print(await session.execute("call {tool} x"))
asyncio.run(story())
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_bundle_keeps_its_version_when_another_process_needs_another_one(
    home: Path, versions: Path, tmp_path: Path
) -> None:
    one, other = lazily(tmp_path, "one", "house-dep==1.0"), lazily(tmp_path, "other", "house-dep>=2")

    async def story() -> None:
        ready = await one.prepare(strict=True)
        async with ready.create_session() as session:
            assert await asyncio.to_thread(in_another_process, other, "other") == "tool said: version 2.0"
            assert await session.execute("call one x") == "tool said: version 1.0"

    asyncio.run(story())
    before = environments(home)
    assert len(before) == 2
    assert in_another_process(one, "one") == "tool said: version 1.0"
    assert in_another_process(other, "other") == "tool said: version 2.0"
    assert environments(home) == before


def test_one_process_holds_one_version_and_the_second_bundle_is_told(
    home: Path, versions: Path, tmp_path: Path
) -> None:
    one, other = lazily(tmp_path, "one", "house-dep==1.0"), lazily(tmp_path, "other", "house-dep>=2")

    async def story() -> None:
        ready = await one.prepare(strict=True)
        with pytest.raises(ModuleActivationError) as caught:
            await other.prepare(strict=True)
        assert "it requires house-dep>=2, and this process has house-dep 1.0 already" in caught.value.what
        assert "another process" in caught.value.fix
        async with ready.create_session() as session:
            assert await session.execute("call one x") == "tool said: version 1.0"

    asyncio.run(story())


def test_a_second_bundle_of_a_process_takes_the_version_that_is_here_if_it_can(
    home: Path, versions: Path, tmp_path: Path
) -> None:
    write_wheel(versions, "house-other", "1.0", "VALUE = 'other'\n")
    one, other = lazily(tmp_path, "one", "house-dep<2"), lazily(tmp_path, "other", "house-dep>=1")
    needing(other, "house-other", "house-dep", name="tool-more", code=LAZY.replace('"echo"', '"more"'))

    async def story() -> None:
        await one.prepare(strict=True)
        ready = await other.prepare(strict=True)
        async with ready.create_session() as session:
            assert await session.execute("call other x") == "tool said: version 1.0"
            assert await session.execute("call more x") == "tool said: version 1.0"

    asyncio.run(story())
    assert in_another_process(other, "more") == "tool said: version 2.0"


def test_bundles_that_get_along_share_an_environment(home: Path, versions: Path, tmp_path: Path) -> None:
    one, other = lazily(tmp_path, "one", "house-dep==1.0"), lazily(tmp_path, "other", "house-dep>=1")
    assert in_another_process(one, "one") == "tool said: version 1.0"
    assert in_another_process(other, "other") == "tool said: version 1.0"
    assert len(environments(home)) == 1


@pytest.mark.parametrize("lost", ["all", "package", "python", "contents"])
def test_an_environment_that_lost_something_is_made_anew(
    home: Path, versions: Path, tmp_path: Path, lost: str
) -> None:
    one = lazily(tmp_path, "one", "house-dep==1.0")
    assert in_another_process(one, "one") == "tool said: version 1.0"
    (made,) = environments(home)
    if lost == "all":
        shutil.rmtree(made)
    elif lost == "package":
        (info,) = made.glob("lib/*/site-packages/house_dep-*.dist-info")
        shutil.rmtree(info)
    elif lost == "python":
        (made / "bin" / "python").unlink()
        (made / "bin" / "python").symlink_to(tmp_path / "gone")
    else:
        (made / FILE).write_text("{")
    assert in_another_process(one, "one") == "tool said: version 1.0"
    (now,) = environments(home)
    assert now != made
    assert not made.exists()


def test_what_nobody_can_use_or_has_used_for_long_is_removed_and_what_is_used_stays(
    home: Path, versions: Path, tmp_path: Path
) -> None:
    used, old = lazily(tmp_path, "used", "house-dep==1.0"), lazily(tmp_path, "old", "house-dep==2.0")
    assert in_another_process(old, "old") == "tool said: version 2.0"
    (unused,) = environments(home)
    built = lazily(tmp_path, "built", "house-dep==2.0")
    project = built.directory / "modules" / "tool-built"
    make_self_building(project, "tool-built", requires=("house-dep==2.0",))
    assert in_another_process(built, "built") == "tool said: version 2.0"
    (outdated,) = (each for each in environments(home) if _made_for(each, project))
    with (project / "backend.py").open("a") as file:
        file.write("# changed\n")
    prepared(used)  # this process has it from now on
    (ours,) = (each for each in environments(home) if "house-dep==1.0" in _wanted(each))
    for each in (unused, ours):
        os.utime(each, (0, time.time() - 40 * _DAY))
    assert in_another_process(built, "built") == "tool said: version 2.0"
    left = environments(home)
    assert ours in left
    assert unused not in left
    assert outdated not in left
    assert not unused.exists()


def test_cleaning_removes_what_nobody_uses_of_any_interpreter_and_of_earlier_layouts(
    home: Path, versions: Path, tmp_path: Path
) -> None:
    one, other = lazily(tmp_path, "one", "house-dep==1.0"), lazily(tmp_path, "other", "house-dep==2.0")
    for house, name in ((one, "one"), (other, "other")):
        in_another_process(house, name)
    old, new = environments(home)
    os.utime(old, (0, time.time() - 40 * _DAY))
    place = home / "cache" / "environment"
    elsewhere = place / "cpython-39-elsewhere" / old.name
    shutil.copytree(old, elsewhere, symlinks=True)
    earlier = place / "cpython-311-earlier"
    earlier.mkdir()
    (earlier / "pyvenv.cfg").write_text("")
    would = clean_environments(home / "cache", dry_run=True)
    assert {each.path for each in would} == {old, earlier, elsewhere}
    assert old.exists()
    gone = {each.path for each in clean_environments(home / "cache", dry_run=False)}
    assert gone == {old, earlier, elsewhere}
    assert not any(each.exists() for each in gone)
    assert environments(home) == [new]


def _wanted(environment: Path) -> list[str]:
    return list(json.loads((environment / FILE).read_text())["wanted"])


def _made_for(environment: Path, project: Path) -> bool:
    return any(each.startswith(f"{project}#") for each in _wanted(environment))


def test_without_installing_what_is_here_already_is_used(home: Path, versions: Path, tmp_path: Path) -> None:
    one = lazily(tmp_path, "one", "house-dep==1.0")
    needing(one, "no-such-package", name="tool-lost", code=TOOL.replace('"echo"', '"lost"'))

    async def story() -> None:
        await one.prepare()
        ready = await one.prepare(install_deps=False)
        async with ready.create_session() as session:
            assert await session.execute("call one x") == "tool said: version 1.0"

    asyncio.run(story())


def test_a_project_that_a_module_requires_is_built_again_when_any_file_of_it_changes(
    home: Path, versions: Path, tmp_path: Path
) -> None:
    project = tmp_path / "house-own"
    project.mkdir()
    make_self_building(project, "own")
    backend = project / "backend.py"
    backend.write_text(backend.read_text().replace('"x = 1\\n"', '(Path.cwd() / "code.txt2").read_text()'))
    code = "import amplifier_module_own_marker as house_dep\n"
    house = House(tmp_path / "one" / "house")
    lazy = LAZY.replace("import house_dep\n", code).replace('"echo"', '"one"')
    needing(house, f"amplifier-module-own @ file://{project}", name="tool-one", code=lazy)
    for word in ("first", "second"):
        (project / "code.txt2").write_text(f"VALUE = {word!r}\n")
        assert in_another_process(house, "one") == f"tool said: {word}"
        assert in_another_process(house, "one") == f"tool said: {word}"


def test_a_session_in_a_process_of_its_own_has_what_its_modules_need(
    home: Path, versions: Path, tmp_path: Path
) -> None:
    one = lazily(tmp_path, "one", "house-dep==1.0")

    async def story() -> None:
        ready = await one.prepare(strict=True)
        paths = {name: each["path"] for name, each in ready.module_exports.items()}
        said = await run_session_in_subprocess(
            ready.mount_plan, "call one x", "parent", one.work, module_paths=paths
        )
        assert said == "tool said: version 1.0"

    asyncio.run(story())


def test_where_nothing_can_be_written_modules_that_need_nothing_still_work(
    home: Path, versions: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one = lazily(tmp_path, "one", "house-dep==1.0")
    (home / "cache").mkdir(parents=True)
    (home / "cache" / "environment").write_text("a file in the way")

    async def story() -> None:
        ready = await one.prepare()
        async with ready.create_session(session_cwd=one.work) as session:
            assert [each.module for each in session.load_failures] == ["tool-one"]
            assert await session.execute("call echo x") == f"tool said: x in {one.work}"

    asyncio.run(story())
    assert "tool-one is not available: cannot make the lock" in caplog.text


def test_a_module_that_fails_each_time_adds_nothing(home: Path, versions: Path, tmp_path: Path) -> None:
    one = lazily(tmp_path, "one", "house-dep==1.0")
    needing(one, "no-such-package", name="tool-lost", code=TOOL.replace('"echo"', '"lost"'))
    for _ in range(2):
        asyncio.run(one.prepare())
        (made,) = (each for each in environments(home) if "house-dep==1.0" in _wanted(each))
    assert _wanted(made) == ["house-dep==1.0"]


def test_the_root_package_of_a_bundle_and_its_modules_are_resolved_together(
    home: Path, versions: Path, tmp_path: Path
) -> None:
    """Each by itself would take another version: what runs first would keep the second out."""
    one = lazily(tmp_path, "one", "house-dep<2")
    one.write(
        "pyproject.toml",
        """\
        [project]
        name = "house-shared"
        version = "0.1.0"
        dependencies = ["house-dep"]
        [build-system]
        requires = []
        build-backend = "x"
        """,
    )
    one.write("src/house_shared/__init__.py", "")
    assert in_another_process(one, "one") == "tool said: version 1.0"
