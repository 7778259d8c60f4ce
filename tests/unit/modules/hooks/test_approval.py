from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from amplifier_core import ApprovalResponse
from tests.support.kernel_sessions import Lambda, opened, plan

from amplihack.modules.approval_rules import ApprovalRule, command_parts, decide

GIT = ApprovalRule("bash", "git status*", "allow")
RM = ApprovalRule("bash", "rm *", "deny")


@pytest.mark.parametrize(
    ("command", "action"),
    [
        ("git status", "allow"),
        ("git status --short", "allow"),
        ("git status && git status -s", "allow"),
        ("git status; rm -rf .", "deny"),
        ("git status | sh", "ask"),
        ("git status & rm x", "deny"),
        ("git status $(rm x)", "deny"),
        ("git status `rm x`", "deny"),
        ("git status > /etc/passwd", "ask"),
        ("git status\nrm x", "deny"),
        ("git status ${x}", "ask"),
        ("git status $(alarm x; farm-rm; rm.py)", "ask"),
        ("git status " + "x" * 5_000 + "; rm -rf .", "deny"),
        ("git status " + "x" * 5_000 + "; curl evil", "ask"),
        ("git status '", "ask"),
        ("rm -rf .", "deny"),
        ("true; rm -rf .", "deny"),
    ],
)
def test_a_rule_allows_a_command_only_if_it_fits_every_part(command: str, action: str) -> None:
    assert decide("ask", [RM, GIT], "bash", {"command": command}).action == action


def test_a_tricky_command_is_allowed_by_a_rule_that_is_written_exactly_so() -> None:
    exact = ApprovalRule("bash", "echo $HOME", "allow")
    assert decide("ask", [exact], "bash", {"command": "echo $HOME"}).action == "allow"
    assert decide("ask", [exact], "bash", {"command": "echo $HOME; ls"}).action == "ask"


@pytest.mark.parametrize(
    ("mode", "tool", "action"),
    [
        ("ask", "read_file", "allow"),
        ("ask", "write_file", "ask"),
        ("ask", "unknown", "ask"),
        ("auto-edit", "edit_file", "allow"),
        ("auto-edit", "bash", "ask"),
        ("plan", "grep", "allow"),
        ("plan", "bash", "deny"),
        ("yolo", "bash", "allow"),
    ],
)
def test_without_a_rule_the_mode_decides(mode: str, tool: str, action: str) -> None:
    assert decide(mode, [], tool, {}).action == action


def test_parts_of_a_command() -> None:
    assert command_parts("a 'b;c' && d | e") == ["a 'b;c'", "d", "e"]
    assert command_parts("a &") is None


class Host:
    """Answers by the command, since calls that run at once ask in any order; keeps what it was asked."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.asked: list[str] = []
        self._answers = answers

    async def request_approval(self, request: Any) -> Any:
        self.asked.append(f"{request.tool_name}: {request.action}")
        answer = self._answers[request.action]
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            await asyncio.sleep(3600)
        return answer


def calls(*commands: str, **config: Any) -> dict[str, Any]:
    steps = [{"tools": [{"name": "bash", "input": {"command": each}} for each in commands]}, {"text": "ok"}]
    return plan(steps=steps, hooks=[{"module": "hooks-approval", "config": config}])


class Ran:
    def __init__(self) -> None:
        self.commands: list[str] = []

    def tool(self) -> Lambda:
        async def run(given: dict[str, Any]) -> str:
            self.commands.append(given["command"])
            return "ran"

        return Lambda("bash", run)


async def results(given: dict[str, Any], host: Host | None, ran: Ran) -> list[str]:
    async with opened(given, tools=[ran.tool()]) as stage:
        if host is not None:
            stage.coordinator.get_capability("approval.register_provider")(host)
        assert await stage.say("go") == "ok"
        return [each["content"] for each in await stage.messages() if each["role"] == "tool"]


@pytest.mark.asyncio
async def test_the_host_is_asked_and_its_word_counts() -> None:
    ran = Ran()
    no = ApprovalResponse(approved=False, reason="not now")
    host = Host({"make": ApprovalResponse(approved=True), "make clean": no})
    found = await results(calls("make", "make clean"), host, ran)
    assert found == ["ran", "Denied: not now"]
    assert ran.commands == ["make"]
    assert sorted(host.asked) == ["bash: make", "bash: make clean"]


@pytest.mark.asyncio
async def test_always_holds_for_the_same_and_for_nothing_else() -> None:
    ran = Ran()
    yes = ApprovalResponse(approved=True, remember=True)
    host = Host({"make": yes, "make clean": ApprovalResponse(approved=False)})
    found = await results(calls("make", "make", "make clean"), host, ran)
    assert found[:2] == ["ran", "ran"]
    assert found[2].startswith("Denied")
    assert len(host.asked) == 2


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("answer", "said"), [(None, "nobody answered in time"), (OSError("tty"), "nobody could be asked")]
)
async def test_no_answer_is_a_no(answer: Any, said: str) -> None:
    ran = Ran()
    assert await results(calls("make", timeout=0.05), Host({"make": answer}), ran) == [f"Denied: {said}"]
    assert ran.commands == []


@pytest.mark.asyncio
async def test_with_nobody_to_ask_it_is_denied() -> None:
    ran = Ran()
    found = await results(calls("make"), None, ran)
    assert found[0].startswith("Denied")
    assert ran.commands == []


@pytest.mark.asyncio
async def test_a_wrong_rule_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="rule 1 must be"):
        async with opened(calls("x", rules=[{"tool": "bash", "action": "perhaps"}])):
            pass
