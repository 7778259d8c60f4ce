"""The table of agents is all that there is to know about a new tool."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.unit.system.agent_tools.test_choose import Machine

from amplihack.errors import NothingToUse, UsageError
from amplihack.recipes.agent_port import AgentRequest
from amplihack.system.agent_tools.choose import choose_agent
from amplihack.system.agent_tools.table import AGENTS, DescribedAgent, InstalledAgent, Start, choices
from amplihack.system.agent_tools.tool import Invocation


@dataclass(frozen=True, slots=True)
class Thinker:
    """A tool whose command line is like no other's."""

    start: Start
    name: str = "thinker"

    def call(self, request: AgentRequest, scratch: Path) -> Invocation:
        assert scratch.is_dir()
        return Invocation(
            (self.start.program, "--ponder", request.prompt, *self.start.allow, *self.start.extra)
        )

    def report(self) -> None:
        return None


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    row = InstalledAgent(install="get-thinker", start=Thinker, allow_all_tools=("--fearless",))
    monkeypatch.setitem(AGENTS, "thinker", row)
    return Machine(tmp_path)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("variables", "arguments"),
    [
        ({}, "--ponder hi"),
        (
            {"AMPLIHACK_AGENT_ARGS": "-x", "AMPLIHACK_ALLOW_ALL_TOOLS": "1"},
            "--ponder hi --fearless -x",
        ),
    ],
)
async def test_a_new_row_starts_with_its_own_flags(
    machine: Machine, variables: dict[str, str], arguments: str
) -> None:
    machine.install("thinker")
    (machine.bin / "thinker").write_text('#!/bin/sh\necho "$@"\n')
    agent = choose_agent(None, machine.around(**variables))
    assert agent.name == "thinker"
    reply = await agent.ask(AgentRequest(prompt="hi", working_dir=str(machine.folder)), lambda _: None)
    assert reply.text == arguments


def test_a_new_row_is_in_every_message(machine: Machine) -> None:
    assert (
        choices()
        == "claude, copilot, codex, thinker, session[:bundle], command:<template> or scripted:<file>"
    )
    with pytest.raises(
        NothingToUse, match="none of claude, copilot, codex and thinker is on the PATH"
    ) as none:
        choose_agent(None, machine.around())
    assert choices() in none.value.fix
    with pytest.raises(NothingToUse, match="thinker") as missing:
        choose_agent("thinker", machine.around())
    assert missing.value.fix.startswith("`get-thinker`, ")
    with pytest.raises(UsageError, match="unknown agent") as typo:
        choose_agent("thinkr", machine.around())
    assert typo.value.fix == 'did you mean "thinker"?'


@pytest.mark.asyncio
async def test_a_launcher_gives_a_tool_no_flags_of_another(machine: Machine) -> None:
    machine.install("wrap")
    (machine.bin / "wrap").write_text('#!/bin/sh\necho "$@"\n')
    around = machine.around(AMPLIHACK_LAUNCHER_BINARY="wrap", AMPLIHACK_ALLOW_ALL_TOOLS="1")
    request = AgentRequest(prompt="hi", working_dir=str(machine.folder))
    said = {
        name: (await choose_agent(name, around).ask(request, lambda _: None)).text
        for name in ("thinker", "copilot", "claude", "unheard-of")
    }
    assert {name: "--fearless" in text for name, text in said.items() if "--fearless" in text} == {
        "thinker": True
    }
    assert [name for name, text in said.items() if "--allow-all-tools" in text] == ["copilot"]
    assert [name for name, text in said.items() if "--system-prompt" in text] == ["claude"]


def test_rows_that_take_an_argument_need_one(machine: Machine) -> None:
    for name, kind in AGENTS.items():
        if isinstance(kind, DescribedAgent):
            with pytest.raises(UsageError, match=f'unknown agent "{name}:"'):
                choose_agent(f"{name}:", machine.around())
