"""Which agent a run asks, if it needs one at all, and what its processes know about that."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from amplihack.app.request import RunRequest
from amplihack.app.run_book import Book
from amplihack.app.workspace import Workspace
from amplihack.errors import AmplihackError
from amplihack.recipes.agents import AgentReply, AgentRequest, AgentRunner
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Agent, SubRecipe, every_step
from amplihack.system.agents.environment import RunIdentity, child_environment
from amplihack.system.agents.spec import Surroundings, agent_spec


def agent_for(
    workspace: Workspace, located: Located, request: RunRequest, identity: RunIdentity
) -> AgentRunner | None:
    """The agent to ask; it is an error to have none when a step will need one."""
    around = Surroundings(environment=workspace.environment, cwd=workspace.home.cwd, run=identity)
    if request.dry_run:
        return None
    if request.agent is not None or needs_agent(workspace, located, request, set()):
        return _choose(request.agent, around)
    return _Late(lambda: _choose(None, around))


def _choose(spec: str | None, around: Surroundings) -> AgentRunner:
    from amplihack.system.agents.choose import choose_agent  # deferred: a run of bash steps needs no agent

    return choose_agent(spec, around)


def needs_agent(workspace: Workspace, located: Located, request: RunRequest, seen: set[str]) -> bool:
    """Whether the recipe, or one that it calls by a plain name, has an agent step that its tags let run.

    `seen` holds the files that were looked at; it grows.
    """
    excludes = request.options(workspace.directory, "").excludes
    for step in every_step(located.recipe.steps):
        match step.action:
            case _ if excludes(step.when_tags):
                continue
            case Agent() | SubRecipe(recovery=True):
                return True
            case SubRecipe(recipe=name):
                child = _unseen_child(workspace, name.text, located, seen)
                if child is not None and needs_agent(workspace, child, request, seen):
                    return True
    return False


def _unseen_child(workspace: Workspace, name: str, caller: Located, seen: set[str]) -> Located | None:
    try:
        child = Book(workspace).sub_recipe(name, caller.path)
    except AmplihackError:
        return None  # the step itself will say what is wrong, if it is reached
    path = child.path or ""
    new = path not in seen
    seen.add(path)
    return child if new else None


class _Late:
    """Chooses an agent only when a step that nobody foresaw asks for one."""

    name = "late"

    def __init__(self, choose: Callable[[], AgentRunner]) -> None:
        self._choose = choose

    async def ask(self, request: AgentRequest, on_line: Callable[[str], None]) -> AgentReply:
        return await self._choose().ask(request, on_line)


@dataclass(frozen=True, slots=True)
class Isolated:
    """Has the agent work in an empty directory of its own instead of the step's."""

    agent: AgentRunner | None
    scratch: Path
    name: str = "isolated"

    async def ask(self, request: AgentRequest, on_line: Callable[[str], None]) -> AgentReply:
        if self.agent is None:
            raise AmplihackError("there is no agent to ask")
        directory = tempfile.mkdtemp(prefix="agent-", dir=self.scratch)
        return await self.agent.ask(replace(request, working_dir=directory), on_line)


def environment_for(workspace: Workspace, request: RunRequest, identity: RunIdentity) -> dict[str, str]:
    around = Surroundings(environment=workspace.environment, cwd=workspace.home.cwd, run=identity)
    try:
        spec = agent_spec(request.agent, around)
    except AmplihackError:
        spec = None  # no agent is installed, and a run that only needs bash does not mind
    return child_environment(workspace.environment, agent=spec, run=identity)
