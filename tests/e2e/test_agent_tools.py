"""The real claude, codex and copilot, with a model of ours on 127.0.0.1 behind them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from tests.support.agent_tools import PERMISSIONS, agent_environment, needs_agent_tools
from tests.support.marked import marked
from tests.support.model_server import Garble, ModelServer, Refuse, Say, UseTool

from amplihack.recipes.agent_port import AgentFailed, AgentReply, AgentRequest, Usage
from amplihack.system.agent_tools.choose import choose_agent
from amplihack.system.agent_tools.environment import RunIdentity
from amplihack.system.agent_tools.spec import AgentSearch

pytestmark = [pytest.mark.asyncio, *needs_agent_tools]
every_tool = pytest.mark.parametrize("tool", ["claude", "codex", "copilot"])


@dataclass
class Desk:
    """A home and a working directory of their own, and a mark on every process that is started."""

    home: Path
    work: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    lines: list[str] = field(default_factory=list)

    async def ask(
        self,
        tool: str,
        server: ModelServer,
        request: AgentRequest | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> AgentReply:
        around = AgentSearch(
            environment={**agent_environment(self.home, server), **(variables or {})},
            cwd=self.work,
            run=RunIdentity(run_id="run", tree_id=self.mark),
        )
        asked = request or self.request("Say hello.")
        return await choose_agent(tool, around).ask(asked, self.lines.append)

    def request(self, prompt: str) -> AgentRequest:
        return AgentRequest(prompt=prompt, working_dir=str(self.work), persona="You are Zebulon.", timeout=60)

    def alive(self) -> list[str]:
        return list(marked(self.mark).values())


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    for folder in ("home", "work", "tmp"):
        (tmp_path / folder).mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    return Desk(tmp_path / "home", tmp_path / "work")


@every_tool
async def test_the_answer_of_the_model_is_the_answer_of_the_agent(desk: Desk, tool: str) -> None:
    with ModelServer(Say("Hello from the model.")) as server:
        reply = await desk.ask(tool, server)
    assert reply.text == "Hello from the model."
    assert reply.session_id
    assert desk.lines[-1] == "Hello from the model."
    assert len(server.asked) == 1
    for words in ("Say hello.", "You are Zebulon.", "Execute the requested step directly", "autonomously"):
        assert words in server.last.text
    assert desk.alive() == []


async def test_tokens_and_cost_are_reported_where_the_tool_knows_them(desk: Desk) -> None:
    with ModelServer(Say("Hello.")) as server:
        claude, codex, copilot = [await desk.ask(tool, server) for tool in ("claude", "codex", "copilot")]
    assert claude.usage == codex.usage == Usage(input_tokens=11, output_tokens=7, cached_tokens=3)
    assert claude.cost_usd is not None
    assert claude.cost_usd > 0
    assert (codex.cost_usd, copilot.cost_usd, copilot.usage) == (None, None, None)


@every_tool
async def test_a_long_prompt_and_persona_reach_the_model_whole(desk: Desk, tool: str) -> None:
    request = replace(desk.request("w " * 20_000 + "THE-END"), persona="p " * 10_000 + "THE-PERSONA")
    with ModelServer(Say("Read it.")) as server:
        reply = await desk.ask(tool, server, request)
    assert reply.text == "Read it."
    assert "THE-END" in server.last.text
    assert "THE-PERSONA" in server.last.text


@every_tool
async def test_a_prompt_that_looks_like_a_flag_is_still_a_prompt(desk: Desk, tool: str) -> None:
    with ModelServer(Say("Fine.")) as server:
        reply = await desk.ask(tool, server, desk.request("--version"))
    assert reply.text == "Fine."
    assert "--version\\n\\nIMPORTANT" in server.last.text


TOOL_CALLS = {
    "claude": UseTool("Bash", {"command": "touch made", "description": "make a file"}),
    "codex": UseTool("exec_command", {"cmd": "touch made"}),
    "copilot": UseTool("bash", {"command": "touch made", "description": "make a file"}),
}


@every_tool
async def test_a_tool_that_nobody_allowed_is_not_run(desk: Desk, tool: str) -> None:
    with ModelServer(TOOL_CALLS[tool], Say("I could not.")) as server:
        reply = await desk.ask(tool, server)
    assert reply.text == "I could not."
    assert not (desk.work / "made").exists()
    assert reply.denied == {"claude": ("Bash",), "copilot": ("bash",), "codex": ()}[tool]


@pytest.mark.parametrize(("tool", "permission"), PERMISSIONS.items())
async def test_a_tool_that_the_user_allowed_is_run_in_the_working_directory(
    desk: Desk, tool: str, permission: dict[str, str]
) -> None:
    with ModelServer(TOOL_CALLS[tool], Say("Made it.")) as server:
        reply = await desk.ask(tool, server, variables=permission)
    assert reply.text == "Made it."
    assert (desk.work / "made").exists()
    assert any("touch made" in line for line in desk.lines)


@every_tool
async def test_a_rate_limit_that_ends_is_waited_out(desk: Desk, tool: str) -> None:
    limit = Refuse(429, "slow down", {"retry-after": "0"})
    with ModelServer(limit, Say("At last.")) as server:
        reply = await desk.ask(tool, server)
    assert reply.text == "At last."
    assert len(server.asked) == 2


@pytest.mark.parametrize("tool", ["claude", "codex"])
async def test_a_rate_limit_that_stays_is_an_error(desk: Desk, tool: str) -> None:
    failing = pytest.raises(AgentFailed, match="persisted after 1 retries")
    with ModelServer(Refuse(429, "slow down")) as server, failing as caught:
        await desk.ask(tool, server, variables={"AMPLIHACK_RATELIMIT_MAX_RETRIES": "1"})
    assert caught.value.rate_limited
    assert caught.value.tool_exit_code == 1


@pytest.mark.parametrize("tool", ["claude", "codex"])
@pytest.mark.parametrize("turn", [Refuse(500, "boom"), Garble()], ids=["error", "malformed"])
async def test_an_error_of_the_model_is_an_error_of_the_agent(
    desk: Desk, tool: str, turn: Refuse | Garble
) -> None:
    with ModelServer(turn) as server, pytest.raises(AgentFailed, match=f"{tool} failed") as caught:
        await desk.ask(tool, server)
    assert not caught.value.rate_limited


@every_tool
async def test_a_slow_model_is_cut_off_at_the_timeout_and_nothing_keeps_running(
    desk: Desk, tool: str
) -> None:
    # On a busy machine a tool may need longer than that to ask at all.
    for seconds in (4, 16, 59):
        request = replace(desk.request("Say a lot."), timeout=float(seconds))
        failing = pytest.raises(AgentFailed, match=f"timed out after {seconds}s")
        with ModelServer(Say("word " * 4000, pause=0.1)) as server, failing:
            await desk.ask(tool, server, request)
        if server.asked:
            break
    assert len(server.asked) == 1
    assert desk.alive() == []
