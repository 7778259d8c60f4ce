"""A prepared bundle becomes a running session, as the guides show it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
from tests.support.ecosystem import MODULES, House
from tests.support.kernel_sessions import Shown

from amplifier_foundation import get_working_dir, set_working_dir
from amplihack.sessions.errors import ModulesFailed, SessionError
from amplihack.system.kernel.session import LiveSession


def test_a_session_answers_as_the_guide_shows(house: House) -> None:
    async def story() -> None:
        prepared = await house.prepare()
        async with prepared.create_session() as session:
            assert await session.execute("Hello!") == "you said: Hello!"
            assert session.initialized
        assert not session.initialized

    asyncio.run(story())


def test_a_session_can_be_awaited_too(house: House) -> None:
    async def story() -> None:
        prepared = await house.prepare()
        session = await prepared.create_session(session_id="one", session_cwd=house.work)
        assert session.session_id == "one"
        assert await session.execute("call echo hi") == f"tool said: hi in {house.work}"
        await session.cleanup()
        await session.cleanup()
        with pytest.raises(SessionError, match="closed"):
            await session.execute("more")

    asyncio.run(story())


def test_the_system_prompt_holds_the_instruction_and_what_it_mentions(house: House) -> None:
    async def story() -> None:
        prepared = await house.prepare()
        async with prepared.create_session() as session:
            first = await session.execute("system")
            assert first.startswith("You are a careful helper.")
            assert "Never guess." in first
            (house.directory / "context" / "rules.md").write_text("Always ask.\n")
            assert "Always ask." in await session.execute("system")

    asyncio.run(story())


def test_modules_see_their_session_while_they_are_mounted(house: House) -> None:
    code = """
        async def mount(coordinator, config=None):
            names = ("session.working_dir", "mention_resolver", "mention_deduplicator")
            seen = {name: coordinator.get_capability(name) for name in names}
            coordinator.register_capability("seen", seen)
    """
    house.add("hooks", "hooks-look", code)

    async def story() -> dict[str, Any]:
        prepared = await house.prepare()
        async with prepared.create_session(session_cwd=house.work) as session:
            seen: dict[str, Any] = session.coordinator.get_capability("seen")
            assert get_working_dir(session.coordinator) == house.work
            set_working_dir(session.coordinator, house.directory)
            assert get_working_dir(session.coordinator) == house.directory
            return seen

    seen = asyncio.run(story())
    assert seen["session.working_dir"] == str(house.work)
    assert (
        seen["mention_resolver"].resolve("@house:context/rules.md")
        == house.directory / "context" / "rules.md"
    )
    assert seen["mention_deduplicator"] is not None


def test_a_hundred_sessions_at_once_share_nothing(house: House, tmp_path: Path) -> None:
    async def one(number: int, session: LiveSession) -> None:
        place = tmp_path / f"place-{number}"
        assert await session.execute(f"call echo {number}") == f"tool said: {number} in {place}"
        assert session.usage.calls == 2
        session.config["tools"].append({"module": f"tool-{number}"})
        session.coordinator.session_state["mine"] = number

    async def story() -> None:
        prepared = await house.prepare()
        for number in range(100):
            (tmp_path / f"place-{number}").mkdir()
        sessions = await asyncio.gather(
            *(prepared.create_session(session_cwd=tmp_path / f"place-{number}") for number in range(100))
        )
        await asyncio.gather(*(one(number, session) for number, session in enumerate(sessions)))
        for number, session in enumerate(sessions):
            messages = await session.messages()
            assert [each["role"] for each in messages] == ["user", "assistant", "tool", "assistant"]
            assert messages[0]["content"] == f"call echo {number}"
            assert session.coordinator.session_state["mine"] == number
            assert len(session.config["tools"]) == 2
        assert len({session.session_id for session in sessions}) == 100
        assert len(prepared.mount_plan["tools"]) == 1
        await asyncio.gather(*(session.cleanup() for session in sessions))

    asyncio.run(story())


def test_sessions_leave_nothing_on_the_path(house: House) -> None:
    async def story() -> None:
        prepared = await house.prepare()
        before = list(sys.path)
        for _ in range(3):
            async with prepared.create_session() as session:
                assert await session.execute("Hello!")
            assert sys.path == before

    asyncio.run(story())


def test_what_an_app_changes_in_the_plan_reaches_later_sessions(house: House) -> None:
    async def story() -> None:
        prepared = await house.prepare()
        prepared.mount_plan["tools"][0]["config"] = {"prefix": "so: "}
        async with prepared.create_session(session_cwd=house.work) as session:
            assert await session.execute("call echo x") == f"tool said: so: x in {house.work}"

    asyncio.run(story())


# modules that cannot be used -------------------------------------------------------------------------------


def opened(house: House, **options: Any) -> LiveSession:
    async def story() -> LiveSession:
        prepared = await house.prepare()
        async with prepared.create_session(**options) as session:
            return session

    return asyncio.run(story())


FAULTS = {
    "mounts nothing": (
        "async def mount(coordinator, config=None):\n    return None\n",
        "No tool was mounted and mount() did not return a Tool instance",
        "await coordinator.mount('tools', tool, name=tool.name)",
    ),
    "has no mount": ("x = 1\n", "No mount() function found", "async def mount(coordinator, config=None)"),
    "is not async": (
        "def mount(coordinator, config=None):\n    return None\n",
        "mount() should be async",
        "async def mount",
    ),
    "raises": (
        "async def mount(coordinator, config=None):\n    raise ValueError('no such house')\n",
        "no such house",
        "its mount() raises this",
    ),
    "exits when it is imported": ("raise SystemExit(3)\n", "SystemExit(3)", "other errors"),
    "exits when it is mounted": (
        "async def mount(coordinator, config=None):\n    raise SystemExit(4)\n",
        "SystemExit(4)",
        "other errors",
    ),
    "cancels itself": (
        "import asyncio\nasync def mount(c, config=None):\n    raise asyncio.CancelledError\n",
        "CancelledError",
        "other errors",
    ),
    "raises what is no Exception": (
        "class Odd(BaseException): pass\nraise Odd('at import')\n",
        "Odd(at import)",
        "other errors",
    ),
    "mounts what is no Exception": (
        "class Odd(BaseException): pass\nasync def mount(c, config=None):\n    raise Odd('at mount')\n",
        "Odd(at mount)",
        "other errors",
    ),
    "cannot be read": ("def mount(:\n", "invalid syntax", "importing its package"),
    "is half a tool": (
        "class T:\n    name = description = 'x'\n"
        "async def mount(c, config=None):\n    await c.mount('tools', T(), name='x')\n",
        "does not implement Tool interface",
        "add the members",
    ),
    "is not awaited": (
        "class T:\n    name = description = 'x'\n    input_schema = {}\n    def execute(self, given): ...\n"
        "async def mount(c, config=None):\n    await c.mount('tools', T(), name='x')\n",
        "Tool.execute() should be async",
        "async def execute",
    ),
    "imports what is not there": ("import nowhere_at_all\n", "nowhere_at_all", "dependencies"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_tool_that_cannot_be_mounted_is_told_before_the_first_prompt(house: House, fault: str) -> None:
    code, what, fix = FAULTS[fault]
    house.add("tools", "tool-broken", code)
    session = opened(house)
    (failure,) = session.load_failures
    assert (failure.kind, failure.module) == ("tool", "tool-broken")
    assert what in failure.what
    assert fix in failure.fix
    (problem,) = session.problems
    assert what in problem.what


def test_a_tool_that_mounts_nothing_is_told_in_every_session(house: House) -> None:
    """The kernel validates a module once; what it mounts is looked at each time."""
    code = """
        from amplifier_module_tool_echo import EchoTool
        async def mount(coordinator, config=None):
            if (config or {}).get("on"):
                await coordinator.mount("tools", EchoTool(coordinator, {}), name="other")
    """
    house.add("tools", "tool-maybe", code, config={"on": True})

    async def story() -> None:
        prepared = await house.prepare()
        async with prepared.create_session() as session:
            assert session.load_failures == ()
            assert session.owner_of("other") == "tool-maybe"
        prepared.mount_plan["tools"][0]["config"] = {}
        async with prepared.create_session() as session:
            (failure,) = session.load_failures
            assert "No tool was mounted" in failure.what

    asyncio.run(story())


def test_a_loop_that_fails_is_the_failure_of_the_session_with_its_cause(house: House) -> None:
    code = "async def mount(coordinator, config=None):\n    raise KeyError('the loop')\n"
    (house.directory / "modules/loop-plain/amplifier_module_loop_plain/__init__.py").write_text(code)
    with pytest.raises(ModulesFailed, match="loop-plain failed") as caught:
        opened(house)
    assert "the loop" in caught.value.what
    assert caught.value.failures[0].kind == "orchestrator"


def test_a_module_that_is_nowhere_names_what_was_tried(house: House) -> None:
    house.change(
        "tools:\n", "tools:\n  - {module: tool-nowhere}\n  - {module: tool-gone, source: ./modules/gone}\n"
    )
    session = opened(house)
    gone, nowhere = sorted(session.load_failures, key=lambda each: each.module)
    assert "tool-nowhere" in nowhere.what
    assert "source:" in nowhere.fix
    assert "gone" in gone.what


def test_a_tool_that_takes_the_place_of_another_is_told(house: House) -> None:
    house.add("tools", "tool-other", MODULES["tool-echo"].replace("Says what", "Whispers what"))
    session = opened(house)
    assert session.load_failures == ()
    (problem,) = session.problems
    assert problem.what == "tool-other and tool-echo both have a tool 'echo'; that of tool-echo is used"


def test_failures_are_shown_where_a_program_shows_messages(house: House) -> None:
    house.add("tools", "tool-broken", FAULTS["mounts nothing"][0])
    shown: list[tuple[str, str]] = []

    class Display:
        def show_message(self, message: str, level: str, source: str) -> None:
            assert source == "amplihack"
            shown.append((message, level))

    async def story() -> None:
        prepared = await house.prepare()
        async with prepared.create_session(display_system=Display()):
            assert len(shown) == 1

    asyncio.run(story())
    assert "No tool was mounted" in shown[0][0]
    assert shown[0][1] == "warning"


def test_a_session_whose_display_fails_is_closed_again(house: House, tmp_path: Path) -> None:
    mark = tmp_path / "closed"
    code = f"""
        import pathlib
        async def mount(coordinator, config=None):
            coordinator.register_cleanup(lambda: pathlib.Path({str(mark)!r}).touch())
    """
    house.add("hooks", "hooks-closing", code)
    house.add("tools", "tool-broken", "async def mount(coordinator, config=None):\n    return None\n")

    class Broken:
        def show_message(self, *_: str) -> None:
            raise RuntimeError("the display broke")

    async def story() -> None:
        prepared = await house.prepare()
        with pytest.raises(RuntimeError, match="the display broke"):
            await prepared.create_session(session_cwd=house.work, display_system=Broken())

    asyncio.run(story())
    assert mark.exists()


def test_a_provider_that_declines_is_a_failure(house: House) -> None:
    house.add("providers", "provider-shy", "async def mount(coordinator, config=None):\n    return None\n")
    (failure,) = opened(house).load_failures
    assert (failure.kind, failure.module) == ("provider", "provider-shy")
    assert "credentials" in failure.fix


def test_a_plan_without_a_loop_says_what_to_add(house: House) -> None:
    async def story() -> None:
        prepared = await house.prepare()
        del prepared.mount_plan["session"]["orchestrator"]
        with pytest.raises(SessionError, match=r"session\.orchestrator") as caught:
            await prepared.create_session()
        assert "orchestrator" in caught.value.fix

    asyncio.run(story())


# layouts of packages ---------------------------------------------------------------------------------------


def test_a_package_below_src_and_one_that_only_its_entry_point_names_are_mounted(house: House) -> None:
    tool = MODULES["tool-echo"].replace('return "echo"', 'return "second"')
    house.write("modules/tool-second/src/amplifier_module_tool_second/__init__.py", tool)
    third = MODULES["tool-echo"].replace('return "echo"', 'return "third"')
    house.write("modules/tool-third/house_third/__init__.py", third)
    house.write(
        "modules/tool-third/pyproject.toml",
        '[project]\nname = "x"\nversion = "1"\n'
        '[project.entry-points."amplifier.modules"]\ntool-third = "house_third:mount"\n',
    )
    entries = "".join(
        f"  - {{module: tool-{each}, source: ./modules/tool-{each}}}\n" for each in ("second", "third")
    )
    house.change("tools:\n", f"tools:\n{entries}")
    session = opened(house)
    assert session.load_failures == ()
    assert session.owner_of("second") == "tool-second"
    assert session.owner_of("third") == "tool-third"


def test_the_first_of_two_bundles_with_packages_of_one_name_gets_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process holds one copy: the other bundle is told so, and never runs the code of the first."""
    monkeypatch.setenv("AMPLIFIER_HOME", str(tmp_path / "home"))
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    first, second = House(tmp_path / "one" / "house"), House(tmp_path / "two" / "house")

    async def story() -> None:
        one, two = await first.prepare(strict=True), await second.prepare(strict=True)
        async with one.create_session(session_cwd=first.work) as session:
            assert await session.execute("call echo x") == f"tool said: x in {first.work}"
        with pytest.raises(ModulesFailed, match="Refusing to") as caught:
            await two.create_session()
        assert "one copy of a package" in caught.value.fix

    asyncio.run(story())


def test_a_package_of_a_name_that_is_taken_never_runs_the_code_of_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMPLIFIER_HOME", str(tmp_path / "home"))
    entry = '[project.entry-points."amplifier.modules"]\ntool-own = "house_own:mount"\n'
    for name in ("one", "two"):
        project = tmp_path / name / "tool-own"
        (project / "house_own").mkdir(parents=True)
        (project / "pyproject.toml").write_text(f'[project]\nname = "own-{name}"\nversion = "1"\n{entry}')
        code = MODULES["tool-echo"].replace('return "echo"', f'return "{name}"')
        (project / "house_own" / "__init__.py").write_text(code)
    house = House(tmp_path / "house")

    async def story() -> None:
        prepared = await house.prepare(strict=True)
        for name, problems in (("one", 0), ("two", 1)):
            again = await house.prepare(strict=True)
            entry = {"module": "tool-own", "source": str(tmp_path / name / "tool-own")}
            again.mount_plan["tools"] = [*prepared.mount_plan["tools"], entry]
            async with again.create_session() as session:
                assert len(session.load_failures) == problems
                assert ("one" in session.coordinator.get("tools")) == (name == "one")
        assert "Refusing to load house_own" in session.load_failures[0].what

    asyncio.run(story())


def test_a_package_with_the_name_of_one_of_pythons_is_told_to_be_renamed(house: House) -> None:
    house.add("tools", "tool-own", MODULES["tool-echo"])
    project = house.directory / "modules" / "tool-own"
    (project / "amplifier_module_tool_own").rename(project / "json")
    file = project / "pyproject.toml"
    file.write_text(file.read_text().replace('"amplifier_module_tool_own:mount"', '"json:mount"'))
    (failure,) = opened(house).load_failures
    assert "Refusing to load json" in failure.what
    assert failure.fix == "rename the package: Python itself has one of that name"


def test_a_directory_without_package_and_entry_point_says_what_to_write(house: House) -> None:
    house.write("modules/tool-empty/README.md", "nothing here")
    house.change("tools:\n", "tools:\n  - {module: tool-empty, source: ./modules/tool-empty}\n")

    async def story() -> None:
        with pytest.raises(Exception, match="1 of 6 modules failed to activate") as caught:
            await house.prepare(strict=True)
        text = str(caught.value)
        assert "neither a package amplifier_module_tool_empty nor an entry point" in text

    asyncio.run(story())


def test_the_event_loop_stays_free_while_modules_are_imported(house: House, tmp_path: Path) -> None:
    begun, go = tmp_path / "begun", tmp_path / "go"
    slow = f"""
        import pathlib, time
        pathlib.Path({str(begun)!r}).touch()
        end = time.monotonic() + 30
        while not pathlib.Path({str(go)!r}).exists():
            assert time.monotonic() < end, "nobody else could do anything"
            time.sleep(0.01)
        async def mount(coordinator, config=None):
            coordinator.register_capability("slow", True)
    """
    house.add("hooks", "hooks-slow", slow)

    async def story() -> None:
        async def others() -> None:
            while not begun.exists():
                await asyncio.sleep(0.01)
            go.touch()

        prepared = await house.prepare()
        session, _ = await asyncio.gather(prepared.create_session(), others())
        assert session.load_failures == ()
        await session.cleanup()

    asyncio.run(story())


WAITS = """
import pathlib, time
end = time.monotonic() + 60
while not pathlib.Path({go!r}).exists():
    assert time.monotonic() < end, "nobody was told"
    time.sleep(0.01)
async def mount(coordinator, config=None):
    coordinator.register_capability("slow", True)
"""


@pytest.fixture
def told_soon(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A display that lets a module go on as soon as it is told that this one is waited for."""
    monkeypatch.setattr("amplihack.system.kernel.mounter._NOTICEABLE", 0.01)

    class Display:
        lines: ClassVar[list[str]] = []

        def show_message(self, message: str, *_: str) -> None:
            self.lines.append(message)
            if "slow" in message:
                (tmp_path / "go").touch()

    return Display()


def test_a_module_that_takes_long_to_import_is_named_meanwhile(
    house: House, tmp_path: Path, told_soon: Any
) -> None:
    house.add("hooks", "hooks-slow", WAITS.format(go=str(tmp_path / "go")))
    session = opened(house, display_system=told_soon)
    assert session.load_failures == ()
    assert "hooks-slow is still being loaded" in told_soon.lines


def test_an_installed_module_that_takes_long_to_import_is_named_too(
    house: House, tmp_path: Path, told_soon: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    (site / "house_slow-1.dist-info").mkdir(parents=True)
    (site / "house_slow-1.dist-info/METADATA").write_text("Name: house-slow\nVersion: 1\n")
    entry = "[amplifier.modules]\nhooks-slow = house_slow:mount\n"
    (site / "house_slow-1.dist-info/entry_points.txt").write_text(entry)
    (site / "house_slow.py").write_text(WAITS.format(go=str(tmp_path / "go")))
    monkeypatch.syspath_prepend(site)
    house.change("hooks:\n", "hooks:\n  - {module: hooks-slow}\n")
    session = opened(house, display_system=told_soon)
    assert session.load_failures == ()
    assert "hooks-slow is still being loaded" in told_soon.lines


@pytest.mark.parametrize(
    ("code", "told", "fix"),
    [
        ("def mount(coordinator, config=None):\n    pass\n", "mount() should be async", "async def mount"),
        ("async def mount(coordinator, config=None):\n    pass\n", "No tool was mounted", "mount('tools'"),
        ("x = 1\n", "No mount() function found", "async def mount"),
        ("import no_such_package\n", "No module named 'no_such_package'", "dependencies"),
        ("raise ValueError('at import')\n", "at import", ""),
        ("raise SystemExit(3)\n", "SystemExit(3)", "raise other errors"),
    ],
)
def test_an_installed_module_that_cannot_be_mounted_says_why(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, told: str, fix: str
) -> None:
    """The kernel does not validate modules that it finds by entry point."""
    site = tmp_path / "site"
    info = site / "house_broken-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: house-broken\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[amplifier.modules]\ntool-broken = house_broken:mount\n")
    (site / "house_broken.py").write_text(code)
    monkeypatch.syspath_prepend(site)
    house.change("tools:\n", "tools:\n  - {module: tool-broken}\n")
    (failure,) = opened(house).load_failures
    assert (failure.kind, failure.module) == ("tool", "tool-broken")
    assert told in failure.what
    assert fix in failure.fix


@pytest.mark.parametrize("name", ["", " "])
def test_a_tool_without_a_name_is_left_out_and_told(house: House, name: str) -> None:
    code = f"""
        from amplifier_module_tool_echo import EchoTool
        async def mount(coordinator, config=None):
            await coordinator.mount("tools", EchoTool(coordinator, {{}}), name={name!r})
            if (config or {{}}).get("more"):
                await coordinator.mount("tools", EchoTool(coordinator, {{}}), name="more")
    """
    house.add("tools", "tool-nameless", code, config={"more": True})

    async def story() -> None:
        prepared = await house.prepare()
        async with prepared.create_session() as session:
            assert sorted(session.coordinator.get("tools")) == ["echo", "more"]
            (problem,) = session.problems
            assert problem.what == "tool-nameless has a tool without a name; it is left out"
            assert "`name`" in problem.fix
        prepared.mount_plan["tools"][0]["config"] = {}
        async with prepared.create_session() as session:
            assert [each.module for each in session.load_failures] == ["tool-nameless"]
            assert any("without a name" in each.what for each in session.problems)

    asyncio.run(story())


def test_whoever_stops_waiting_for_a_session_leaves_nothing_behind(house: House, tmp_path: Path) -> None:
    code = f"""
        import asyncio, pathlib
        async def mount(coordinator, config=None):
            try:
                pathlib.Path({str(tmp_path / "begun")!r}).touch()
                await asyncio.sleep(1000)
            finally:
                pathlib.Path({str(tmp_path / "ended")!r}).touch()
    """
    house.add("hooks", "hooks-endless", code)

    async def story() -> None:
        prepared = await house.prepare()
        opening = asyncio.ensure_future(prepared.create_session().__aenter__())
        while not (tmp_path / "begun").exists():
            await asyncio.sleep(0.01)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        assert (tmp_path / "ended").exists()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(story())


def test_a_module_of_hooks_that_hears_nothing_and_brings_nothing_is_told(house: House) -> None:
    late = """
        async def mount(coordinator, config=None):
            return None
        async def on_session_ready(coordinator):
            coordinator.hooks.register("tool:pre", lambda *_: None, name="late")
    """
    house.add("hooks", "hooks-deaf", "async def mount(coordinator, config=None):\n    return None\n")
    house.add("hooks", "hooks-late", late)
    (problem,) = opened(house).problems
    assert problem.what == "hooks-deaf registers no handler in mount(), so that it does nothing"
    assert "coordinator.hooks.register" in problem.fix


def test_a_hook_that_wants_to_end_the_program_does_not(house: House) -> None:
    code = """
        import sys
        async def mount(coordinator, config=None):
            async def leave(event, data):
                sys.exit(3)
            coordinator.hooks.register("tool:pre", leave, name="leave")
    """
    house.add("hooks", "hooks-leaving", code)

    async def story() -> None:
        async with (await house.prepare()).create_session(session_cwd=house.work) as session:
            assert await session.execute("call echo x") == f"tool said: x in {house.work}"

    asyncio.run(story())


ENDLESS = """
import asyncio
from amplifier_module_tool_echo import EchoTool
mounts = []
async def endless():
    if len(mounts) == 1:  # on trial, by the validator of the kernel
        return
    for _ in range({stubborn}):
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            pass
    await asyncio.sleep(1000)
async def mount(coordinator, config=None):
    mounts.append(coordinator)
    await coordinator.mount("tools", EchoTool(coordinator, {{}}), name="endless")
    {given}
"""


@pytest.mark.parametrize("stubborn", [0, 1])  # cancellations that it does not care about
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("return endless", "tool-endless has not cleaned up after 0.1 seconds; it is left as it is"),
        (
            "coordinator.register_cleanup(endless)",
            "a module has not cleaned up after 0.2 seconds; it is left as it is",
        ),
    ],
)
def test_a_cleanup_that_never_ends_keeps_no_session_from_closing(
    house: House, monkeypatch: pytest.MonkeyPatch, given: str, told: str, stubborn: int
) -> None:
    monkeypatch.setattr("amplihack.system.kernel.closing._FOR_ONE", 0.1)
    for_all = 0.2 if told.startswith("a module") else 30.0  # the first of the two that is over tells it
    monkeypatch.setattr("amplihack.system.kernel.closing._FOR_ALL", for_all)
    monkeypatch.setattr("amplihack.system.kernel.closing._A_MOMENT", 0.1)
    house.add("tools", "tool-endless", ENDLESS.format(given=given, stubborn=stubborn))
    shown = Shown()

    async def story() -> None:
        prepared = await house.prepare()
        session = await prepared.create_session(display_system=shown)
        assert await session.execute("hello") == "you said: hello"
        async with asyncio.timeout(30):
            await session.cleanup()
        assert any(told in line for line in shown.lines)
        for left in asyncio.all_tasks() - {asyncio.current_task()}:
            left.cancel()

    asyncio.run(story())


def test_what_takes_long_is_logged_where_nothing_shows_messages(
    house: House, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amplihack.system.kernel.mounter._NOTICEABLE", 0.01)
    code = """
        import asyncio
        async def mount(coordinator, config=None):
            await asyncio.sleep(0.2)
            coordinator.register_capability("slow", True)
    """
    house.add("hooks", "hooks-slow", code)
    assert opened(house).load_failures == ()
    assert "hooks-slow is still" in caplog.text


def test_an_import_that_never_ends_keeps_no_program_from_ending(house: House, tmp_path: Path) -> None:
    code = f"""
        import pathlib, time
        pathlib.Path({str(tmp_path / "begun")!r}).touch()
        while True:
            time.sleep(0.1)
    """
    house.add("hooks", "hooks-endless", code)
    script = (
        "import asyncio, pathlib\n"
        "from amplifier_foundation import load_bundle\n"
        "async def story():\n"
        f"    prepared = await (await load_bundle({str(house.file)!r})).prepare()\n"
        "    opening = asyncio.ensure_future(prepared.create_session().__aenter__())\n"
        f"    while not pathlib.Path({str(tmp_path / 'begun')!r}).exists():\n"
        "        await asyncio.sleep(0.01)\n"
        "    opening.cancel()\n"
        "    await asyncio.wait({opening})\n"
        "    print('cancelled' if opening.cancelled() else opening)\n"
        "asyncio.run(story())\n"
    )
    argv = [sys.executable, "-c", script]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout.strip(), done.returncode) == ("cancelled", 0), done.stderr


def test_importing_and_preparing_does_not_import_the_kernel(house: House) -> None:
    script = (
        "import asyncio, sys\n"
        "from amplifier_foundation import load_bundle\n"
        "async def both():\n"
        f"    return await (await load_bundle({str(house.file)!r})).prepare()\n"
        "asyncio.run(both())\n"
        "print('amplifier_core' in sys.modules, 'pydantic' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
