"""Hand work to another agent, in a session of its own: `tool-delegate`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from amplifier_core import ToolResult

from amplihack.documents.suggest import closest
from amplihack.modules.settings import ModuleSettings
from amplihack.modules.tools.tool import Properties, ShippedTool, ToolFailed
from amplihack.records import Record
from amplihack.sessions.calls import Message, calls_of, results_of, without_calls
from amplihack.sessions.messages import get_turn_boundaries

__amplifier_module_type__ = "tool"

_EVENTS = ("agent_spawned", "agent_resumed", "agent_completed", "agent_cancelled", "error")
_LONGEST_DESCRIPTION = 300
_MOST_DESCRIBED = 40


class DelegateSettings(Record, kw_only=True):
    most_depth: int
    most_children: int
    most_turns: int
    excluded: tuple[str, ...] = ()  # tools that no agent gets


ALSO = {"max_recursion_depth": "max_depth"}
GROUPS = ("settings",)


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    settings = ModuleSettings(coordinator, "tool-delegate", config, also=ALSO, groups=GROUPS)
    chosen = delegate_settings(settings)
    settings.done()
    await mount_delegation(coordinator, DelegateTool(coordinator, chosen), "delegate")


def delegate_settings(settings: ModuleSettings) -> DelegateSettings:
    return DelegateSettings(
        most_depth=settings.count("max_depth", 3),
        most_children=settings.count("max_concurrent", 5),
        most_turns=settings.count("context_turns", 5),
        excluded=settings.texts("exclude_tools"),
    )


async def mount_delegation(coordinator: Any, tool: DelegateTool, prefix: str) -> None:
    await coordinator.mount("tools", tool, name=tool.name)
    names = [f"{prefix}:{event}" for event in _EVENTS]
    coordinator.register_contributor("observability.events", f"tool-{prefix}", lambda: names)


class DelegateTool(ShippedTool):
    name: ClassVar[str] = "delegate"
    prefix: ClassVar[str] = "delegate"
    properties: ClassVar[Properties] = {
        "agent": {"type": "string", "description": "the name of the agent"},
        "instruction": {"type": "string", "description": "everything that it must know to do the work"},
        "session_id": {"type": "string", "description": "go on with this session of an agent instead"},
        "context_depth": {
            "type": "string",
            "enum": ["none", "recent", "all"],
            "description": "how much of this conversation it gets",
        },
        "context_turns": {"type": "integer", "minimum": 1, "description": "with recent: how many turns"},
        "context_scope": {
            "type": "string",
            "enum": ["conversation", "agents", "full"],
            "description": "what was said, also what agents answered, or everything with all tools",
        },
        "provider_preferences": {"type": "array", "description": "[{provider, model}], the first wins"},
        "model_role": {"type": "string", "description": "such as fast or reasoning"},
    }
    required = ("instruction",)

    def __init__(self, coordinator: Any, settings: DelegateSettings) -> None:
        self._coordinator, self._settings = coordinator, settings
        self._room = asyncio.Semaphore(settings.most_children)

    @property
    def description(self) -> str:
        agents = self._agents()
        lines = [f"- {name}: {_describe(agent)}" for name, agent in list(agents.items())[:_MOST_DESCRIBED]]
        if len(agents) > _MOST_DESCRIBED:
            lines.append(
                f"- and {len(agents) - _MOST_DESCRIBED} more: {', '.join(list(agents)[_MOST_DESCRIBED:])}"
            )
        known = "\n".join(lines) or "There are no agents in this session."
        return (
            "Hand a piece of work to an agent with its own context, and get its answer. Several can work "
            f"side by side. The agents:\n{known}"
        )

    async def run(self, given: Mapping[str, Any]) -> Any:
        async with self._room:
            if "session_id" in given:
                return await self._resume(given["session_id"], given["instruction"])
            return await self._spawn(given)

    async def _spawn(self, given: Mapping[str, Any]) -> Any:
        spawn = self._capability("session.spawn")
        agents, name = self._agents(), given.get("agent", "")
        if name not in agents and name != "self":
            meant = closest(name, agents)
            hint = f"did you mean {meant!r}?" if meant else f"the agents are {', '.join(agents) or 'none'}"
            raise ToolFailed(f"there is no agent {name!r}", fix=hint)
        options = {
            "agent_name": name,
            "instruction": given["instruction"],
            "parent_session": self._coordinator.session,
            "agent_configs": agents,
            "parent_messages": await self._inherited(given),
            "provider_preferences": await self._preferences(given),
            "self_delegation_depth": self._depth() + 1,
        }
        if self._settings.excluded:
            options["tool_inheritance"] = {"exclude_tools": list(self._settings.excluded)}
        await self._tell("agent_spawned", agent=name)
        return await self._answer(name, lambda: spawn(**options))

    async def _resume(self, session_id: str, instruction: str) -> Any:
        resume = self._capability("session.resume")
        await self._tell("agent_resumed", session_id=session_id)
        return await self._answer(
            session_id, lambda: resume(sub_session_id=session_id, instruction=instruction)
        )

    async def _answer(self, name: str, work: Callable[[], Any]) -> Any:
        """Return what the agent said. Raises ToolFailed, with the id of its session if there is one."""
        try:
            found = await work()
        except asyncio.CancelledError:
            await self._tell("agent_cancelled", agent=name)
            raise
        except Exception as error:
            child = getattr(error, "session_id", None)
            await self._tell("error", agent=name, session_id=child, error={"msg": str(error)})
            where = f" (session {child})" if child else ""
            raise ToolFailed(f"the agent {name} failed{where}: {error}", fix="do it another way") from error
        status = str(found.get("status", "success"))
        await self._tell("agent_completed", agent=name, session_id=found.get("session_id"), status=status)
        output = {
            "response": found.get("output", ""),
            "session_id": found.get("session_id"),
            "status": status,
            "turn_count": found.get("turn_count"),
        }
        return ToolResult(success=status not in ("error", "failed"), output=output)

    def _capability(self, name: str) -> Any:
        if self._depth() >= self._settings.most_depth:
            raise ToolFailed(
                f"agents are {self._depth()} deep already, and may not go deeper", fix="do the work here"
            )
        found = self._coordinator.get_capability(name)
        if found is None:
            raise ToolFailed("this session cannot start others", fix="do the work here")
        return found

    def _depth(self) -> int:
        found = self._coordinator.get_capability("self_delegation_depth")
        return found if isinstance(found, int) else 0

    def _agents(self) -> dict[str, Any]:
        found = (self._coordinator.config or {}).get("agents")
        return (
            {name: agent for name, agent in found.items() if name != "dirs"}
            if isinstance(found, dict)
            else {}
        )

    async def _preferences(self, given: Mapping[str, Any]) -> Any:
        role = given.get("model_role")
        if not role:
            return given.get("provider_preferences")
        resolver = self._coordinator.get_capability("model_role_resolver")
        if resolver is None:
            raise ToolFailed(f"there is no model for the role {role!r} here", fix="leave model_role out")
        found = resolver(role)
        return await found if asyncio.iscoroutine(found) else found

    async def _inherited(self, given: Mapping[str, Any]) -> list[Message] | None:
        depth = given.get("context_depth", "none")
        if depth == "none":
            return None
        messages: list[Message] = await self._coordinator.get("context").get_messages()
        if depth == "recent":
            starts = get_turn_boundaries(messages)
            first = (
                starts[-min(len(starts), given.get("context_turns", self._settings.most_turns))]
                if starts
                else 0
            )
            messages = messages[first:]
        return inherited(messages, given.get("context_scope", "conversation"), self.name)

    async def _tell(self, event: str, **data: Any) -> None:
        await self._coordinator.hooks.emit(f"{self.prefix}:{event}", data)


def inherited(messages: list[Message], scope: str, tool: str) -> list[Message]:
    """Return what a child may know: only what was said, also what agents answered, or everything.

    Calls that have no result yet, such as the one that starts the child, are always left out, and so is what
    the parent's model noted about its own answers.
    """
    answered = {found for message in messages for found in results_of(message)}
    kept: list[Message] = []
    wanted: set[str] = set()
    for message in messages:
        calls = calls_of(message)
        ours = [
            call.id
            for call in calls
            if call.id in answered and (scope == "full" or (scope == "agents" and call.name == tool))
        ]
        wanted.update(ours)
        if message.get("role") in ("system", "developer"):
            continue
        if results := results_of(message):
            if wanted.issuperset(results):
                kept.append(message)
        elif calls and len(ours) < len(calls):
            left = without_calls(message, [call.id for call in calls if call.id not in ours])
            kept += [left] if left is not None else []
        else:
            kept.append(message)
    return [_unmarked(each) if each.get("role") == "assistant" else each for each in kept]


def _unmarked(message: Message) -> Message:
    return {key: value for key, value in message.items() if key != "metadata"}


def _describe(agent: Any) -> str:
    if not isinstance(agent, Mapping):
        return ""
    meta = agent.get("meta")
    text = agent.get("description") or (meta.get("description") if isinstance(meta, Mapping) else "") or ""
    line = " ".join(str(text).split())
    return line if len(line) <= _LONGEST_DESCRIPTION else line[:_LONGEST_DESCRIPTION] + "…"
