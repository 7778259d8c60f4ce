"""What modules need is installed once, side by side and beside us, and the event loop stays free."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent, indent

import pytest
from tests.support.ecosystem import TOOL, House
from tests.support.installing import NEEDY, fake_uv, needing, prepared
from tests.support.packages import make_self_building, write_wheel

from amplifier_foundation.modules import ModuleActivationError
from amplihack.system.modules.environments import Environments


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
            while not (tmp_path / "uv-calls").exists():
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


def test_what_only_an_installer_understands_is_installed_once(house: House, wheels: Path) -> None:
    """Markers, extras and files of requirements are looked at again when they change."""
    needing(house, "house-dep[x]>=1", "nowhere; python_version < '3'")
    assert ("installing", "tool-needy") in prepared(house)
    assert ("installing", "tool-needy") not in prepared(house)
    project = house.directory / "modules" / "tool-needy" / "pyproject.toml"
    project.write_text(project.read_text().replace("[x]>=1", "[x]>=1.0"))
    assert ("installing", "tool-needy") in prepared(house)


def test_a_file_of_requirements_may_lead_to_others(house: House, wheels: Path) -> None:
    code = NEEDY.replace("import house_dep", "import house_dep, house_other").replace('"echo"', '"needy"')
    needing(house, code=code)
    write_wheel(wheels, "house-other")
    directory = house.directory / "modules" / "tool-needy"
    (directory / "pyproject.toml").unlink()
    (directory / "requirements.txt").write_text("house-dep  # ours\n-r more.txt\n")
    (directory / "more.txt").write_text("house-other>=1\n")
    assert ("installing", "tool-needy") in prepared(house)
    assert ("installing", "tool-needy") not in prepared(house)


def test_modules_that_need_different_versions_are_told_and_take_nothing_from_each_other(
    house: House, wheels: Path
) -> None:
    write_wheel(wheels, "house-dep", "2.0")
    for name, version in (("late", "2.0"), ("early", "1.0")):  # each is put in front of the others
        needing(
            house, f"house-dep=={version}", name=f"tool-{name}", code=NEEDY.replace('"echo"', f'"{name}"')
        )

    async def story() -> None:
        for _ in range(2):  # and the next time it is the same
            ready = await house.prepare()
            async with ready.create_session() as session:
                assert "early" in session.coordinator.get("tools")
                (failure,) = session.load_failures
                assert failure.module == "tool-late"
                assert "house-dep==2.0" in failure.what
        assert "another one here requires house-dep==1.0" in failure.what
        assert "the version that is here" in failure.fix

    asyncio.run(story())


@pytest.mark.parametrize(
    ("requirement", "more", "what", "fix"),
    [
        ("pydantic<2", "", "requires pydantic<2, and what runs us has 2.", "the version that is here"),
        (
            "my-shared",
            '\n[tool.uv.sources]\nmy_shared = {path = ".."}\n',
            "my-shared",
            "bundle's own package",
        ),
    ],
)
def test_what_cannot_be_installed_says_what_to_do(
    house: House, wheels: Path, requirement: str, more: str, what: str, fix: str
) -> None:
    needing(house, requirement, code=TOOL.replace('"echo"', '"needy"'))
    with (house.directory / "modules" / "tool-needy" / "pyproject.toml").open("a") as file:
        file.write(more)

    async def story() -> None:
        with pytest.raises(ModuleActivationError) as caught:
            await house.prepare(strict=True)
        assert what in str(caught.value)
        assert fix in caught.value.fix

    asyncio.run(story())


def test_a_module_for_another_python_is_told(house: House) -> None:
    house.add("tools", "tool-new", TOOL.replace('"echo"', '"new"'))
    project = house.directory / "modules" / "tool-new" / "pyproject.toml"
    project.write_text(project.read_text().replace('">=3.11"', '">=3.99,!=3.98.*"'))

    async def story() -> None:
        with pytest.raises(ModuleActivationError, match=r"requires Python >=3\.99"):
            await house.prepare(strict=True)

    asyncio.run(story())


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


@pytest.mark.parametrize("changed", ["pyproject.toml", "backend.py", "setup.cfg", "src/code.rs"])
def test_a_project_that_must_be_built_is_built_again_when_it_changes(
    wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    monkeypatch.setenv("AMPLIFIER_HOME", str(tmp_path / "home"))
    house = House(tmp_path / "a path with spaces")
    house.add("tools", "tool-built", NEEDY.replace('"echo"', '"built"'))
    directory = house.directory / "modules" / "tool-built"
    make_self_building(directory, "tool-built", requires=("house-dep",))
    assert ("installing", "tool-built") in prepared(house)
    assert ("installing", "tool-built") not in prepared(house)
    (directory / changed).parent.mkdir(exist_ok=True)
    with (directory / changed).open("a") as file:
        file.write("\n# changed\n")
    assert ("installing", "tool-built") in prepared(house)
    assert ("installing", "tool-built") not in prepared(house)


def building(house: House, name: str, meeting: tuple[Path, int] | None = None) -> Path:
    """Add a tool that only a build knows the requirements of; returns its directory."""
    house.add("tools", f"tool-{name}", TOOL.replace('"echo"', f'"{name}"'))
    directory = house.directory / "modules" / f"tool-{name}"
    make_self_building(directory, f"tool-{name}", requires=("house-dep",), meeting=meeting)
    return directory


def test_killed_in_the_middle_of_an_install_the_next_one_is_whole(
    house: House, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    backend, victim = building(house, "one") / "backend.py", tmp_path / "pid"
    kills = f"""
        victim = Path({str(victim)!r})
        if victim.exists():
            number = int(victim.read_text())
            victim.unlink()
            os.kill(number, 9)
    """
    text = backend.read_text()
    start = "    time.sleep(SECONDS)\n"
    assert start in text
    backend.write_text(text.replace(start, indent(dedent(kills).strip(), "    ") + "\n" + start))
    script = (
        "import asyncio, os, pathlib\n"
        "from amplifier_foundation import load_bundle\n"
        f"pathlib.Path({str(victim)!r}).write_text(str(os.getpid()))\n"
        "async def story():\n"
        f"    await (await load_bundle({str(house.file)!r})).prepare(strict=True)\n"
        "asyncio.run(story())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, timeout=300)
    assert (done.returncode, victim.exists()) == (-signal.SIGKILL, False), done.stderr
    assert ("installing", "tool-one") in prepared(house)
    assert list(temporary.glob("amplihack-install-*")) == []
    assert ("installing", "tool-one") not in prepared(house)


def test_what_a_killed_install_left_running_is_ended_before_the_next_begins(tmp_path: Path) -> None:
    async def variables() -> dict[str, str]:
        async with Environments.here(tmp_path).held({"PATH": os.defpath}) as given:
            return given

    started = [
        subprocess.Popen(["sleep", "600"], env=env)
        for env in (asyncio.run(variables()), {"PATH": os.defpath})
    ]
    left, other = started
    try:
        asyncio.run(variables())
        assert left.wait(60) == -signal.SIGKILL
        assert other.poll() is None
    finally:
        for each in started:
            each.kill()
            each.wait()


def test_builds_run_side_by_side_of_modules_and_of_what_they_require(
    house: House, wheels: Path, tmp_path: Path
) -> None:
    meeting, project = tmp_path / "meeting", tmp_path / "required"
    meeting.mkdir()
    project.mkdir()
    building(house, "one", (meeting, 2))
    make_self_building(project, "required", meeting=(meeting, 2), requires=("house-dep",))
    code = "import amplifier_module_required_marker\n" + NEEDY.replace('"echo"', '"two"')
    needing(house, f"amplifier-module-required @ file://{project}", name="tool-two", code=code)
    heard = prepared(house)
    assert {("installing", "tool-one"), ("installing", "tool-two")} <= set(heard)


def test_a_build_that_fails_takes_no_other_with_it(
    house: House, wheels: Path, caplog: pytest.LogCaptureFixture
) -> None:
    building(house, "good")
    noise = "import sys\nfor each in range(2000):\n    print('noise', each, file=sys.stderr)\n"
    broken = f"{noise}raise RuntimeError('this backend is broken')\n"
    (building(house, "bad") / "backend.py").write_text(broken)

    async def story() -> None:
        ready = await house.prepare()
        async with ready.create_session() as session:
            assert "good" in session.coordinator.get("tools")

    asyncio.run(story())
    assert "tool-bad is not available" in caplog.text
    assert "(exit 1): RuntimeError: this backend is broken" in caplog.text
    assert "correct what its build needs or does" in caplog.text
    assert caplog.text.count("noise") < 20
    assert "tool-good is not available" not in caplog.text


def changed(backend: Path, old: str, new: str) -> None:
    text = backend.read_text()
    assert old in text
    backend.write_text(text.replace(old, new))


def test_a_backend_gets_what_it_asks_for_besides_and_modules_do_not(house: House, wheels: Path) -> None:
    write_wheel(wheels, "house-builder")
    backend = building(house, "one") / "backend.py"
    changed(
        backend,
        "def get_requires_for_build_editable(config_settings=None):\n    return []",
        "def get_requires_for_build_editable(config_settings=None):\n    return ['house-builder']",
    )
    changed(
        backend, "    time.sleep(SECONDS)\n", "    import house_builder\n    print('building', VERSION)\n"
    )
    assert ("installing", "tool-one") in prepared(house)
    assert ("installing", "tool-one") not in prepared(house)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("house_builder")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("def build_editable(", "def build_nothing(", "the build backend backend has no build_editable()"),
        ("def build_editable(", "import sys\nsys.exit()\ndef build_editable(", "ended without a result"),
        ("def build_editable(", "raise ImportError('x')\ndef build_editable(", "ImportError: x"),
        ("return []", "return ['no-such-package>=7']", "no-such-package"),
    ],
)
def test_a_backend_that_is_wrong_says_what_is_wrong_with_it(
    house: House, wheels: Path, old: str, new: str, told: str
) -> None:
    changed(building(house, "one") / "backend.py", old, new)

    async def story() -> None:
        with pytest.raises(ModuleActivationError) as caught:
            await house.prepare(strict=True)
        assert told in caught.value.what
        assert caught.value.fix

    asyncio.run(story())


def test_whoever_stops_waiting_for_a_build_leaves_nothing_behind(
    house: House, wheels: Path, tmp_path: Path
) -> None:
    begun = tmp_path / "begun"
    backend = building(house, "one") / "backend.py"
    slow = f"    Path({str(begun)!r}).write_text(str(os.getpid()))\n    time.sleep(600)\n"
    changed(backend, "    time.sleep(SECONDS)\n", slow)

    async def story() -> None:
        preparing = asyncio.ensure_future(house.prepare(strict=True))
        async with asyncio.timeout(60):
            while not begun.exists() or not begun.read_text():
                await asyncio.sleep(0.01)
            preparing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await preparing

    asyncio.run(story())
    with pytest.raises(ProcessLookupError):
        os.kill(int(begun.read_text()), 0)
