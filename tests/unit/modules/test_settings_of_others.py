"""Bundles that were written for other modules of the same name: what they restrict stays restricted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from amplifier_core import create_test_coordinator
from tests.support.tool_stage import mounted

from amplihack.modules.approval_rules import ApprovalRule, command_refusal, decide
from amplihack.modules.hooks import approval
from amplihack.modules.settings import ModuleConfigError
from amplihack.modules.tools import bash, delegate

pytestmark = pytest.mark.asyncio


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("git status", True),
        ("git", True),
        ("git log | head -3", False),
        ("git status && rm x", False),
        ("gitx", False),
        ("git status > x", False),
        ("git $(rm x)", False),
        ("git status\nrm x", False),
        ("ls", True),
    ],
)
async def test_only_allowed_commands_run(command: str, runs: bool) -> None:
    assert (command_refusal(command, ("git", "ls*"), ()) == "") is runs


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("ls", True),
        ("rm x", False),
        ("ls; rm x", False),
        ("echo `rm x`", False),
        ("echo $(sudo rm x)", False),
    ],
)
async def test_denied_commands_do_not_run(command: str, runs: bool) -> None:
    assert (command_refusal(command, (), ("rm *",)) == "") is runs


async def test_a_very_long_command_is_looked_at_at_once() -> None:
    long = "x" * 3_000_000
    assert command_refusal(f"echo {long}", ("echo *",), ()) != ""
    assert command_refusal(f"echo {long}; rm x", (), ("rm *",)) != ""


@pytest.mark.parametrize(
    "command",
    ["ls\nrm -rf x", "echo $(rm x)", "true; (rm x)", "rm x > y", "rm x", f"echo {'x' * 30_000}; rm x"],
)
async def test_a_denying_rule_is_not_got_around_by_what_cannot_be_taken_apart(command: str) -> None:
    rules = [ApprovalRule("bash", "rm *", "deny")]
    assert decide("yolo", rules, "bash", {"command": command}).action == "deny"
    assert decide("yolo", rules, "bash", {"command": "ls > x"}).action == "allow"


async def test_a_shell_keeps_to_the_commands_of_its_settings(tmp_path: Path) -> None:
    config = {"allowed_commands": ["echo *"], "denied_commands": ["echo secret"]}
    async with mounted("tool-bash", tmp_path, config=config) as tools:
        assert (await tools.call("bash", command="echo a"))["stdout"] == "a\n"
        assert "allow only echo *" in await tools.fails("bash", command="touch made")
        assert "deny" in await tools.fails("bash", command="echo secret")
        assert "allow only" in await tools.fails("bash", command="touch made", run_in_background=True)
    assert not (tmp_path / "made").exists()


async def test_an_approval_that_nobody_would_ask_for_is_refused() -> None:
    with pytest.raises(ModuleConfigError, match="hooks-approval"):
        await bash.mount(create_test_coordinator(), {"require_approval": True})
    await bash.mount(create_test_coordinator(), {"require_approval": False})


async def test_rules_of_the_ecosystem_are_understood() -> None:
    coordinator = create_test_coordinator()
    rules = [
        {"pattern": "ls*", "action": "auto_approve"},
        {"pattern": "rm -rf *", "action": "auto_deny"},
        {"tool": "bash", "risk_level": "high", "require_approval": True},
    ]
    await approval.mount(coordinator, {"rules": rules, "default_action": "deny", "mode": "yolo"})

    async def action(tool: str, **given: Any) -> str:
        result = await coordinator.hooks.emit("tool:pre", {"tool_name": tool, "tool_input": given})
        return str(result.action)

    assert await action("bash", command="ls -l") == "continue"
    assert await action("bash", command="rm -rf /") == "deny"
    assert await action("bash", command="make") == "ask_user"
    with pytest.raises(ModuleConfigError, match="default_action"):
        await approval.mount(create_test_coordinator(), {"default_action": "continue"})


async def test_tools_that_agents_shall_not_have_are_asked_for_without_them() -> None:
    coordinator = create_test_coordinator()
    asked: dict[str, Any] = {}

    async def spawn(**given: Any) -> dict[str, Any]:
        asked.update(given)
        return {"output": "done", "session_id": "x", "status": "success", "turn_count": 1}

    coordinator.register_capability("session.spawn", spawn)
    coordinator.config["agents"] = {"helper": {"description": "helps"}}
    await delegate.mount(coordinator, {"settings": {"exclude_tools": ["tool-bash"], "timeout": None}})
    result = await coordinator.get("tools")["delegate"].execute({"agent": "helper", "instruction": "go"})
    assert result.success, result
    assert asked["tool_inheritance"] == {"exclude_tools": ["tool-bash"]}


async def test_hosts_of_the_ecosystem_are_denied_with_all_below_them(tmp_path: Path) -> None:
    config = {"blocked_domains": ["evil.example"], "allowed_domains": ["*.example"]}
    async with mounted("tool-web", tmp_path, config=config) as tools:
        for host in ("evil.example", "deep.evil.example", "other.test"):
            assert "is not allowed here" in await tools.fails("web_fetch", url=f"https://{host}/")
