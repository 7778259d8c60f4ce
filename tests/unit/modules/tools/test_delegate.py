from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.support.kernel_sessions import opened, plan
from tests.support.tool_stage import mounted

from amplihack.modules.tools.delegate import inherited

pytestmark = pytest.mark.asyncio

AGENTS = {"reviewer": {"description": "Reviews code."}, "writer": {"meta": {"description": "Writes."}}}


class Spawner:
    """A capability that keeps what it was asked for."""

    def __init__(self, **answer: Any) -> None:
        self.asked: list[dict[str, Any]] = []
        self._answer = {
            "output": "Looks good.",
            "session_id": "child-1",
            "status": "success",
            "turn_count": 1,
        }
        self._answer |= answer

    async def __call__(self, **options: Any) -> dict[str, Any]:
        self.asked.append(options)
        return self._answer


def with_agents(steps: list[Any]) -> dict[str, Any]:
    return {**plan(steps=steps, tools=[{"module": "tool-delegate"}]), "agents": AGENTS}


def delegation(**given: Any) -> dict[str, Any]:
    return {"tools": [{"name": "delegate", "input": {"instruction": "Look.", **given}}]}


async def test_an_agent_gets_the_work_and_its_answer_comes_back() -> None:
    spawn = Spawner()
    steps = [delegation(agent="reviewer"), {"expect": "Looks good", "text": "Done."}]
    async with opened(with_agents(steps), capabilities={"session.spawn": spawn}) as stage:
        events: list[str] = []

        async def hear(event: str, _: dict[str, Any]) -> None:
            events.append(event)

        for name in ("delegate:agent_spawned", "delegate:agent_completed"):
            stage.coordinator.hooks.register(name, hear, name=name)
        assert await stage.say("go") == "Done."
        assert events == ["delegate:agent_spawned", "delegate:agent_completed"]
        assert spawn.asked[0]["agent_name"] == "reviewer"
        assert spawn.asked[0]["agent_configs"] == AGENTS
        assert spawn.asked[0]["self_delegation_depth"] == 1
        assert spawn.asked[0]["parent_messages"] is None
        described = stage.coordinator.get("tools")["delegate"].description
        assert "- reviewer: Reviews code.\n- writer: Writes." in described


async def test_an_agent_that_fails_is_a_result_with_its_session() -> None:
    class Broken(Exception):
        session_id = "child-7"

    async def spawn(**_: Any) -> Any:
        raise Broken("no model")

    steps = [delegation(agent="reviewer"), {"expect": r"failed \(session child-7\): no model", "text": "Ok."}]
    async with opened(with_agents(steps), capabilities={"session.spawn": spawn}) as stage:
        assert await stage.say("go") == "Ok."


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"agent": "reviewr"}, "did you mean 'reviewer'"),
        ({"agent": "nobody"}, "the agents are reviewer, writer"),
        ({"agent": "reviewer", "model_role": "fast"}, "no model for the role"),
        ({"session_id": "x"}, "cannot start others"),
    ],
)
async def test_what_cannot_be_handed_over_is_told(given: dict[str, Any], said: str) -> None:
    async with opened(
        with_agents([delegation(**given), {"expect": said, "text": "Ok."}]),
        capabilities={"session.spawn": Spawner()},
    ) as stage:
        assert await stage.say("go") == "Ok."


async def test_agents_go_no_deeper_than_allowed() -> None:
    spawn = Spawner()
    capabilities = {"session.spawn": spawn, "self_delegation_depth": 3}
    steps = [delegation(agent="reviewer"), {"expect": "3 deep already", "text": "Ok."}]
    async with opened(with_agents(steps), capabilities=capabilities) as stage:
        assert await stage.say("go") == "Ok."
    assert spawn.asked == []


async def test_without_the_capability_there_is_a_word_about_it(tmp_path: Path) -> None:
    async with mounted("tool-delegate", tmp_path) as tools:
        assert "cannot start others" in await tools.fails("delegate", agent="x", instruction="y")


async def test_only_so_many_agents_work_at_once() -> None:
    running = most = 0

    async def spawn(**_: Any) -> dict[str, Any]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02)
        running -= 1
        return {"output": "x", "session_id": "y"}

    calls = {
        "tools": [
            {"name": "delegate", "input": {"agent": "reviewer", "instruction": str(n)}} for n in range(5)
        ]
    }
    given = with_agents([calls, {"text": "Ok."}])
    given["tools"][0]["config"] = {"max_concurrent": 2}
    async with opened(given, capabilities={"session.spawn": spawn}) as stage:
        assert await stage.say("go") == "Ok."
    assert most == 2


async def test_the_older_form_hands_over_context_by_its_own_name() -> None:
    spawn = Spawner()
    call = {"name": "task", "input": {"agent": "writer", "instruction": "Go.", "inherit_context": "all"}}
    given = {
        **plan(steps=[{"tools": [call]}, {"text": "Ok."}], tools=[{"module": "tool-task"}]),
        "agents": AGENTS,
    }
    async with opened(given, capabilities={"session.spawn": spawn}) as stage:
        assert await stage.say("the task") == "Ok."
    assert spawn.asked[0]["parent_messages"] == [{"role": "user", "content": "the task"}]


def conversation() -> list[dict[str, Any]]:
    def calling(call: str, tool: str) -> dict[str, Any]:
        block = {"type": "tool_call", "id": call, "name": tool, "input": {}}
        text = {"type": "text", "text": f"calling {tool}"}
        listed = [{"id": call, "tool": tool, "arguments": {}}]
        return {"role": "assistant", "content": [text, block], "tool_calls": listed}

    return [
        {"role": "system", "content": "rules"},
        {"role": "user", "content": "hi"},
        calling("1", "bash"),
        {"role": "tool", "tool_call_id": "1", "content": "files"},
        calling("2", "delegate"),
        {"role": "tool", "tool_call_id": "2", "content": "the agent says"},
        calling("3", "delegate"),
    ]


@pytest.mark.parametrize(
    ("scope", "results"), [("conversation", []), ("agents", ["2"]), ("full", ["1", "2"])]
)
async def test_a_child_knows_as_much_as_it_may_and_no_open_call(scope: str, results: list[str]) -> None:
    kept = inherited(conversation(), scope, "delegate")
    assert [message["tool_call_id"] for message in kept if message["role"] == "tool"] == results
    called = [call["id"] for message in kept for call in message.get("tool_calls", ())]
    assert called == results
    assert kept[0] == {"role": "user", "content": "hi"}
    assert "calling bash" in str(kept)
