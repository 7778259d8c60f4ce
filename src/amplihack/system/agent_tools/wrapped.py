"""Wrap an agent: choose it late, keep secrets out of its arguments, or run it in a directory of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from amplihack.recipes.agent_port import AgentReply, AgentRequest, AgentRunner
from amplihack.records import Record, replace
from amplihack.system.temporary import make_directory


class Late(Record):
    """Chooses an agent only when a step asks for one."""

    choose: Callable[[], AgentRunner]
    name: str = "late"

    async def ask(self, request: AgentRequest, on_line: Callable[[str], None]) -> AgentReply:
        return await self.choose().ask(request, on_line)


class Discreet(Record):
    """Says which prompts hold a secret, so that they are not sent as arguments, which everybody can see."""

    agent: AgentRunner
    mask: Callable[[str], str]

    @property
    def name(self) -> str:
        return self.agent.name

    async def ask(self, request: AgentRequest, on_line: Callable[[str], None]) -> AgentReply:
        texts = (request.prompt, request.persona or "")
        private = any(self.mask(text) != text for text in texts)
        return await self.agent.ask(replace(request, private=private), on_line)


class Isolated(Record):
    """Runs the agent in an empty directory of its own instead of the step's."""

    agent: AgentRunner
    scratch: Path
    name: str = "isolated"

    async def ask(self, request: AgentRequest, on_line: Callable[[str], None]) -> AgentReply:
        directory = str(make_directory("agent-", self.scratch))
        return await self.agent.ask(replace(request, working_dir=directory), on_line)
