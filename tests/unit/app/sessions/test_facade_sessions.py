"""The rest of the ecosystem's names: overlays, the configurator, sessions in processes of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from tests.support.ecosystem import TOOL, House, write_module

from amplifier_foundation import (
    RUNTIME_CONTEXT_OVERLAY_CAPABILITY,
    RUNTIME_SKILL_OVERLAY_CAPABILITY,
    Bundle,
    RuntimeOverlay,
    SessionConfigurator,
    run_session_in_subprocess,
)
from amplifier_foundation.bundle import PreparedBundle
from amplifier_foundation.configurator import Origin, walk_include_chain, walk_include_chains
from amplifier_foundation.modules import InstallStateManager, ModuleActivationError, ModuleActivator
from amplifier_foundation.subprocess_runner import (
    _build_child_env,
    _extract_framed_result,
    _sanitize_error,
    configure_subprocess_limit,
    deserialize_subprocess_config,
    serialize_subprocess_config,
)
from amplihack.app.sessions.child_process import answer
from amplihack.app.sessions.in_subprocess import RESULT_END, RESULT_START, framed_result
from amplihack.system.kernel.session import LiveSession

Story = Callable[[PreparedBundle, LiveSession], Awaitable[None]]


def run(house: House, story: Story) -> None:
    async def whole() -> None:
        prepared = await house.prepare(strict=True)
        async with prepared.create_session(session_cwd=house.work) as session:
            await story(prepared, session)

    asyncio.run(whole())


# overlays --------------------------------------------------------------------------------------------------


def overlay(prepared: PreparedBundle, session: LiveSession) -> RuntimeOverlay:
    events = {"success_event": "mode:changed", "failure_event": "mode:failed"}
    return RuntimeOverlay(session.coordinator, bundle=prepared.bundle, **events)


def test_a_scope_adds_agents_context_and_skills_and_takes_them_away(house: House) -> None:
    house.write("context/extra.md", "Be brief.\n")
    heard: list[tuple[str, dict[str, Any]]] = []

    async def story(prepared: PreparedBundle, session: LiveSession) -> None:
        async def hear(event: str, data: dict[str, Any]) -> None:
            heard.append((event, data))

        session.coordinator.hooks.register("mode:changed", hear)
        over = overlay(prepared, session)
        more = {"agents": {"x": {"instruction": "X"}}, "context": ["house:context/extra.md"], "skills": ["s"]}
        result = await over.apply("mode:brief", more)
        assert result.success
        assert result.mounted == ["agent:x", "context:house:context/extra.md", "skill:s"]
        assert session.coordinator.get_capability(RUNTIME_SKILL_OVERLAY_CAPABILITY) == ["s"]
        assert "Be brief." in await session.execute("system")
        spawn = session.coordinator.get_capability("session.spawn")
        answer = await spawn(agent_name="x", instruction="hi", parent_session=session)
        assert answer["output"] == "you said: hi"
        assert prepared.bundle.origins["agent:x"] == [Origin("mode:brief", None)]
        assert (await over.apply("mode:brief", more)).mounted == []
        gone = await over.revoke("mode:brief")
        assert sorted(gone.unmounted) == sorted(result.mounted)
        assert session.coordinator.get_capability(RUNTIME_CONTEXT_OVERLAY_CAPABILITY) == []
        assert "Be brief." not in await session.execute("system")
        assert "agent:x" not in prepared.bundle.origins
        assert (await over.revoke("mode:brief")).unmounted == []

    run(house, story)
    assert [event for event, _ in heard] == ["mode:changed"] * 2
    assert heard[0][1]["scope"] == "mode:brief"


def test_what_two_scopes_want_stays_until_both_are_gone(house: House) -> None:
    async def story(prepared: PreparedBundle, session: LiveSession) -> None:
        session.config["agents"]["own"] = {"instruction": "mine"}
        over = overlay(prepared, session)
        for scope in ("a", "b"):
            await over.apply(scope, {"skills": ["s"], "agents": {"own": {"instruction": "theirs"}}})
        assert over.get_refcount("skills", "s") == 2
        assert over.get_refcount("agents", "own") == 3
        assert (await over.revoke("a")).unmounted == []
        assert (await over.revoke("b")).unmounted == ["skill:s"]
        assert session.config["agents"]["own"] == {"instruction": "mine"}
        assert over.dump_state()["scopes"] == {}

    run(house, story)


def test_a_scope_that_fails_leaves_nothing(house: House) -> None:
    async def story(prepared: PreparedBundle, session: LiveSession) -> None:
        over = overlay(prepared, session)
        result = await over.apply("bad", {"agents": {"x": {}}, "skills": ["s"], "context": "not a list"})
        assert not result.success
        assert result.rolled_back == ["skill:s", "agent:x"]
        assert "context should be a list" in str(result.error)
        assert "x" not in session.config["agents"]
        assert (await over.apply("bad", {"skills": ["s"], "tools": ["ignored"]})).success

    run(house, story)


# the configurator ------------------------------------------------------------------------------------------


def test_parts_are_switched_off_and_on(house: House) -> None:
    house.change("---\n\nYou are", "agents:\n  helper: {description: H, instruction: I}\n---\n\nYou are")
    house.change("---\n\nYou are", "context:\n  include: [context/rules.md]\n---\n\nYou are")
    house.change("@house:context/rules.md\n", "")

    async def story(prepared: PreparedBundle, session: LiveSession) -> None:
        switches = SessionConfigurator(session, prepared)
        await switches.tool_disable("tool-echo")
        await switches.tool_disable("tool-echo")
        assert "echo" not in session.coordinator.get("tools")
        switches.agent_disable("helper")
        assert session.config["agents"] == {}
        (name,) = prepared.bundle.context
        switches.context_disable(name)
        assert "Never guess." not in await session.execute("system")
        changed = {(each["category"], each["name"]) for each in switches.diff_from_original()}
        assert changed == {("tools", "echo"), ("agents", "helper"), ("context", name)}
        assert [(each.name, each.enabled) for each in switches.tools_list()] == [("echo", False)]
        assert switches.tools_list()[0].module_id == "tool-echo"
        await switches.tool_enable("echo")
        switches.agent_enable("helper")
        switches.context_enable(name)
        assert switches.diff_from_original() == []
        assert "Never guess." in await session.execute("system")
        with pytest.raises(ValueError, match="not found"):
            switches.context_disable("nothing")
        with pytest.raises(ValueError, match="not in stash"):
            await switches.tool_enable("nothing")

    run(house, story)


def test_a_behaviour_is_switched_with_all_that_only_it_brought_in(house: House) -> None:
    write_module(house.directory / "modules", "tool-extra", TOOL.replace('"echo"', '"extra"'))
    house.write(
        "behaviors/more.yaml",
        """\
        bundle: {name: more}
        tools:
          - {module: tool-extra, source: ../modules/tool-extra}
        agents:
          scout: {description: S, instruction: Look.}
        """,
    )
    house.change("version: 1.0.0\n", "version: 1.0.0\nincludes:\n  - bundle: ./behaviors/more.yaml\n")

    async def story(prepared: PreparedBundle, session: LiveSession) -> None:
        switches = SessionConfigurator(session, prepared)
        done = await switches.behavior_disable("more")
        assert sorted(done["disabled"]) == ["agent:scout", "tool:tool-extra"]
        assert list(session.coordinator.get("tools")) == ["echo"]
        assert {each.name: each.enabled for each in switches.behaviors_list()}["more"] is False
        back = await switches.behavior_enable("more")
        assert sorted(back["enabled"]) == ["agent:scout", "tool:tool-extra"]
        assert "extra" in session.coordinator.get("tools")
        with pytest.raises(ValueError, match="not found in provenance"):
            await switches.behavior_disable("nobody")

    run(house, story)


COUNTING = """
    from amplifier_core import HookResult
    async def mount(coordinator, config=None):
        heard = []
        coordinator.register_capability("heard", heard)
        async def named(event, data):
            heard.append("named")
            return HookResult(action="continue")
        def unnamed(event, data):
            heard.append("unnamed")
            return HookResult(action="continue")
        coordinator.hooks.register("prompt:submit", named, name="counts")
        coordinator.get("hooks").on("prompt:submit", unnamed)
        coordinator.of_the_module = True
    async def on_session_ready(coordinator):
        async def late(event, data):
            coordinator.get_capability("heard").append("late")
            return HookResult(action="continue")
        coordinator.hooks.register("prompt:submit", late, name="late")
"""


def test_hooks_are_switched_off_and_on_by_name_and_by_module(house: House) -> None:
    house.add("hooks", "hooks-counting", COUNTING)

    async def story(prepared: PreparedBundle, session: LiveSession) -> None:
        switches = SessionConfigurator(session, prepared)
        heard = session.coordinator.get_capability("heard")

        async def asked() -> set[str]:
            heard.clear()
            await session.coordinator.hooks.emit("prompt:submit", {"prompt": "x"})
            return set(heard)

        assert await asked() == {"named", "unnamed", "late"}
        assert session.coordinator.of_the_module is True
        switches.hook_disable("counts")
        assert await asked() == {"unnamed", "late"}
        assert {"category": "hooks", "name": "counts", "action": "disabled"} in switches.diff_from_original()
        switches.hook_disable("hooks-counting")
        assert await asked() == set()
        records = {each.name: (each.enabled, each.module_id) for each in switches.hooks_list()}
        for name in ("counts", "hooks-counting", "late"):
            assert records[name] == (False, "hooks-counting")
        saved = switches.saved()
        assert saved["disabled"]["hooks"] == ["counts", "hooks-counting", "late"]
        switches.hook_enable("hooks-counting")
        assert await asked() == {"named", "unnamed", "late"}
        assert switches.diff_from_original() == []
        assert await switches.apply_saved_settings(saved) == []
        assert await asked() == set()

    run(house, story)


def test_a_module_of_hooks_knows_its_coordinator_again(house: House) -> None:
    """Modules keep what they know of a session under its coordinator."""
    code = """
        KNOWN = {}
        async def mount(coordinator, config=None):
            KNOWN[coordinator] = coordinator
        async def on_session_ready(coordinator):
            coordinator.register_capability("same", KNOWN[coordinator] is coordinator)
            coordinator.register_capability("known", KNOWN)
    """
    house.add("hooks", "hooks-keeping", code)

    async def story(prepared: PreparedBundle, session: LiveSession) -> None:
        assert session.load_failures == ()
        assert session.coordinator.get_capability("same") is True
        assert session.coordinator in session.coordinator.get_capability("known")

    run(house, story)


def test_a_hook_that_cannot_be_switched_says_why_and_stays(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(prepared: PreparedBundle, session: LiveSession) -> None:
        async def mine(event: str, data: dict[str, Any]) -> Any:
            return None

        session.coordinator.hooks.register("prompt:submit", mine, name="of-the-program")
        switches = SessionConfigurator(session, prepared)
        switches.hook_disable("of-the-program")
        switches.hook_disable("nobody")
        (_, why), (_, unknown) = [(each.name, each.message) for each in caplog.records]
        assert "'of-the-program' stays on: no module under `hooks:` registered it" in why
        assert "'nobody' not found; there are" in unknown
        assert "of-the-program" in switches.snapshot()["hooks"]["enabled"]
        caplog.clear()
        foreign = SimpleNamespace(coordinator=session.coordinator)
        SessionConfigurator(foreign, prepared).hook_disable("of-the-program")
        assert "was not opened by `create_session`" in caplog.text

    run(house, story)


def test_a_behaviour_is_switched_with_its_hooks(house: House) -> None:
    write_module(house.directory / "modules", "hooks-counting", COUNTING)
    house.write(
        "behaviors/more.yaml",
        "bundle: {name: more}\nhooks: [{module: hooks-counting, source: ../modules/hooks-counting}]\n",
    )
    house.change("version: 1.0.0\n", "version: 1.0.0\nincludes:\n  - bundle: ./behaviors/more.yaml\n")

    async def story(prepared: PreparedBundle, session: LiveSession) -> None:
        switches = SessionConfigurator(session, prepared)
        done = await switches.behavior_disable("more")
        assert done == {"disabled": ["hook:hooks-counting"], "warnings": []}
        await session.coordinator.hooks.emit("prompt:submit", {})
        assert session.coordinator.get_capability("heard") == []
        await switches.behavior_enable("more")
        await session.coordinator.hooks.emit("prompt:submit", {})
        assert "named" in session.coordinator.get_capability("heard")

    run(house, story)


def test_what_is_off_is_saved_and_applied_again(house: House, tmp_path: Path) -> None:
    settings = tmp_path / "home" / "settings.yaml"
    settings.parent.mkdir()
    settings.write_text("bundle: {active: x}\n")

    async def story(prepared: PreparedBundle, session: LiveSession) -> None:
        switches = SessionConfigurator(session, prepared)
        await switches.tool_disable("echo")
        switches.config_set("session.raw", True)
        assert switches.config_get("session.raw") is True
        assert switches.save() == settings
        assert switches.save("project") == house.work / ".amplifier" / "settings.yaml"
        with pytest.raises(ValueError, match="Invalid scope"):
            switches.save("elsewhere")  # type: ignore[arg-type] # what a program may do all the same

    run(house, story)
    saved = yaml.safe_load(settings.read_text())
    assert saved["bundle"] == {"active": "x"}

    async def again(prepared: PreparedBundle, session: LiveSession) -> None:
        switches = SessionConfigurator(session, prepared)
        saved["configurator"]["disabled"]["agents"] = ["gone"]
        warnings = await switches.apply_saved_settings(saved)
        assert warnings == ["agents 'gone' not found"]
        assert "echo" not in session.coordinator.get("tools")
        assert session.config["session"]["raw"] is True

    run(house, again)


def test_secrets_are_not_listed(house: House) -> None:
    async def story(prepared: PreparedBundle, session: LiveSession) -> None:
        prepared.mount_plan["providers"][0]["config"] = {
            "api_key": "short",
            "deep": {"token": "t" * 30},
            "n": 1,
        }
        (record,) = SessionConfigurator(session, prepared).providers_list()
        assert record.config_summary is not None
        assert "short" not in str(record.config_summary)
        assert "ttt" not in str(record.config_summary)
        assert record.config_summary["n"] == 1

    run(house, story)


def test_the_ways_to_a_bundle_are_found_and_circles_end() -> None:
    registry = {
        "root": {
            "version": "1",
            "uri": "u",
            "is_root": True,
            "explicitly_requested": True,
            "included_by": [],
        },
        "other": {"version": "1", "uri": "o", "included_by": ["root"]},
        "leaf": {"version": "2", "uri": "l", "included_by": ["other", "root"]},
        "ring": {"version": "3", "uri": "r", "included_by": ["ring", "leaf"]},
    }
    assert [step.bundle for step in walk_include_chain("leaf", registry)] == ["root", "leaf"]
    ways = [[step.bundle for step in way] for way in walk_include_chains("ring", registry)]
    assert ways == [["root", "leaf", "ring"], ["root", "other", "leaf", "ring"]]
    assert walk_include_chain("nobody", registry) == []


# modules by themselves -------------------------------------------------------------------------------------


def test_an_activator_brings_modules_and_names_all_that_fail(tmp_path: Path) -> None:
    good = write_module(tmp_path, "tool-good", TOOL)

    async def story() -> None:
        modules = [
            {"module": "tool-good", "source": str(good)},
            {"module": "tool-bad", "source": str(tmp_path / "nowhere")},
            {"module": "tool-none"},
        ]
        activator = ModuleActivator(tmp_path / "cache")
        assert await activator.activate_all(modules) == {"tool-good": good}
        with pytest.raises(
            ModuleActivationError, match=r"1 of 2 modules failed to activate: tool-bad"
        ) as caught:
            await ModuleActivator(tmp_path / "cache", strict=True).activate_all(modules)
        assert caught.value.__cause__ is not None

    asyncio.run(story())


def test_install_state_notices_changes_and_other_interpreters(tmp_path: Path) -> None:
    project = write_module(tmp_path, "tool-x", TOOL)
    state = InstallStateManager(tmp_path / "cache")
    assert not state.is_installed(project)
    state.mark_installed(project)
    state.save()
    assert InstallStateManager(tmp_path / "cache").is_installed(project)
    assert not InstallStateManager(tmp_path / "cache", tmp_path / "python").is_installed(project)
    (project / "pyproject.toml").write_text("[project]\nname = 'y'\n")
    assert not InstallStateManager(tmp_path / "cache").is_installed(project)
    (tmp_path / "cache" / "install-state.json").write_text("{")
    assert not InstallStateManager(tmp_path / "cache").is_installed(project)


def test_a_program_gets_a_session_and_a_child_before_any_module_and_may_refuse_them(house: House) -> None:
    async def story() -> None:
        prepared = await house.prepare(strict=True)
        seen: list[tuple[str, Any]] = []

        async def before(session: Any) -> None:
            assert session.coordinator.get("providers") == {}
            assert session.coordinator.get_capability("session.working_dir") == str(house.work)
            seen.append((session.session_id, session.parent_id))

        async def refuse(_: Any) -> None:
            raise LookupError("not this one")

        common: dict[str, Any] = {"session_cwd": house.work, "before_initialize": before}
        async with prepared.create_session("root", **common) as session:
            spawn = session.coordinator.get_capability("session.spawn")
            await spawn("self", "hello", session)  # what a program gave for the root is for the root
            child = Bundle(name="child", instruction="You are small.")
            found = await prepared.spawn(child, "hello", parent_session=session, **common)
            with pytest.raises(LookupError, match="not this one"):
                await prepared.spawn(child, "hello", parent_session=session, before_initialize=refuse)
        assert seen == [("root", None), (found["session_id"], "root")]
        with pytest.raises(LookupError, match="not this one"):
            await prepared.create_session(before_initialize=refuse)

    asyncio.run(story())


# a process of its own --------------------------------------------------------------------------------------


def test_a_session_runs_in_a_process_of_its_own(house: House) -> None:
    async def story() -> None:
        prepared = await house.prepare(strict=True)
        paths = {name: each["path"] for name, each in prepared.module_exports.items()}
        common: dict[str, Any] = {"module_paths": paths, "mention_mappings": {"house": str(house.directory)}}
        plan = prepared.mount_plan

        async def ask(prompt: str, **more: Any) -> str:
            return await run_session_in_subprocess(plan, prompt, "parent", house.work, **common, **more)

        said, failed = await asyncio.gather(
            ask("call echo @house:context/rules.md"), ask("fail"), return_exceptions=True
        )
        assert "Never guess." in str(said) or "in " in str(said)
        assert isinstance(failed, RuntimeError)
        assert "RateLimitError: slow down" in str(failed)
        with pytest.raises(TimeoutError, match="timed out after 2s"):
            await ask("wait", timeout=2)
        with pytest.raises(ValueError, match="does not exist or is not a directory"):
            await run_session_in_subprocess(plan, "x", "parent", house.work / "nowhere")

    asyncio.run(story())


def test_a_session_in_another_process_asks_and_shows_here_and_its_cost_counts(house: House) -> None:
    code = """
        from amplifier_core import HookResult
        async def mount(coordinator, config=None):
            async def ask(event, data):
                return HookResult(action="ask_user", approval_prompt="Run the tool?")
            coordinator.hooks.register("tool:pre", ask, name="hooks-asking")
    """
    house.add("hooks", "hooks-asking", code)
    house.add("tools", "tool-broken", "async def mount(coordinator, config=None):\n    return None\n")
    shown: list[str] = []

    class Host:
        answer = "Allow once"

        async def request_approval(self, prompt: str, *more: Any) -> str:
            assert (prompt, more[-1]) == ("Run the tool?", "deny")
            return self.answer

        def show_message(self, message: str, *more: str) -> None:
            assert more == ("warning", "amplihack")
            shown.append(message)

    async def story() -> None:
        prepared = await house.prepare()
        paths = {name: each["path"] for name, each in prepared.module_exports.items()}
        host = Host()
        common: dict[str, Any] = {"module_paths": paths, "approval_system": host, "display_system": host}
        async with prepared.create_session() as session:

            async def ask() -> str:
                plan = prepared.mount_plan
                return await run_session_in_subprocess(
                    plan, "call echo x", "p", house.work, **common, parent_session=session
                )

            assert await ask() == f"tool said: x in {house.work}"
            assert any("No tool was mounted" in each for each in shown)
            assert (session.usage.calls, str(session.usage.cost_usd)) == (2, "0.02")
            host.answer = "Deny"
            assert "x in" not in await ask()

    asyncio.run(story())


def test_a_child_process_gets_only_the_variables_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET", "x")
    monkeypatch.setenv("ANTHROPIC_MODEL", "m")
    found = _build_child_env()
    assert "MY_SECRET" not in found
    assert found["ANTHROPIC_MODEL"] == "m"
    assert found["PYTHONUTF8"] == "1"


def test_what_a_session_says_cannot_end_its_frame() -> None:
    said = f"a {RESULT_END} b {RESULT_START} c"
    text, code = answer(lambda: {"output": said})
    assert framed_result(f"noise\n{text}") == {"output": said}
    assert code == 0


def test_what_a_child_is_told_can_be_written_down() -> None:
    text = serialize_subprocess_config({"a": 1}, "p", "parent", "/x")
    assert deserialize_subprocess_config(text)["config"] == {"a": 1}
    with pytest.raises(ValueError, match="parent_id, project_path"):
        deserialize_subprocess_config('{"config": {}, "prompt": "p"}')
    start, end = "<<<AMPLIFIER_RESULT_START>>>", "<<<AMPLIFIER_RESULT_END>>>"
    assert _extract_framed_result(f'noise {start}{{"output": "x"}}{end} noise') == {"output": "x"}
    assert _extract_framed_result("nothing") is None
    assert "sk-" not in _sanitize_error("key sk-abcdefghijk and token=abc Bearer xyz")


def test_the_limit_is_chosen_once() -> None:
    configure_subprocess_limit(4)
    configure_subprocess_limit(4)
    with pytest.raises(RuntimeError, match="already configured"):
        configure_subprocess_limit(5)
