"""Spawn agents as child sessions, under the policy of the bundle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from amplihack.app.sessions.child import RESUME, SPAWN, ChildRequest, run_child
from amplihack.app.sessions.opening import SessionSpec
from amplihack.bundles.child_plan import Inheritance, child_plan
from amplihack.bundles.model import Bundle
from amplihack.bundles.tree import Leaf, Table
from amplihack.records import replace
from amplihack.sessions.calls import Message
from amplihack.sessions.errors import SpawnRefused
from amplihack.sessions.preferences import (
    PROTECTED_KEYS,
    ProviderPreference,
)
from amplihack.system.session_store.store import SessionStore

_AT_ONCE = 16  # children of one session
_NOT_AN_OVERLAY = frozenset({"name", "description", "instruction", "instructions", "model_role"})


def child_of(
    parent: Mapping[str, Any], child: Mapping[str, Any], asked: Mapping[str, Any], name: str
) -> dict[str, Any]:
    """Return the plan of a child that is a bundle of its own, laid over its parent's."""
    wishes = Inheritance(tools=asked.get("tools"), hooks=asked.get("hooks"), protected=PROTECTED_KEYS)
    plan: dict[str, Any] = _plan(parent, child, wishes, name).plan
    return plan


def with_spawning(
    spec: SessionSpec, *, store: SessionStore | None = None, at_once: int = _AT_ONCE
) -> SessionSpec:
    """Return a spec whose session offers `session.spawn` and `session.resume` to its modules."""
    spawner = Spawner(spec, store, at_once)
    offered = {SPAWN: spawner.spawn, RESUME: spawner.resume}
    wrong = child_plan(spec.plan, {}).problems if spec.depth == 0 else ()  # told once, not for each child
    return replace(spec, capabilities={**offered, **spec.capabilities}, problems=(*spec.problems, *wrong))


class Spawner:
    """Spawns the agents of one session by their names, and remembers them so that they can be resumed."""

    def __init__(self, spec: SessionSpec, store: SessionStore | None, at_once: int) -> None:
        self._spec, self._store = spec, store
        self._slots = asyncio.Semaphore(at_once)
        self._known: dict[str, tuple[str, Mapping[str, Any], Sequence[Message]]] = {}
        self._parents: dict[str, Any] = {}

    async def spawn(
        self,
        agent_name: str,
        instruction: str,
        parent_session: Any = None,
        agent_configs: Mapping[str, Any] | None = None,
        sub_session_id: str | None = None,
        tool_inheritance: Mapping[str, Any] | None = None,
        hook_inheritance: Mapping[str, Any] | None = None,
        orchestrator_config: Mapping[str, Any] | None = None,
        parent_messages: list[Message] | None = None,
        provider_preferences: Sequence[Any] | None = None,
        self_delegation_depth: int = 0,
        session_metadata: Mapping[str, Any] | None = None,
        **extra: Any,
    ) -> dict[str, Any]:
        """Run an agent with an instruction. Raises SpawnRefused for an agent that may not be called here."""
        parent = parent_session if parent_session is not None else extra.get("parent")
        agent = self._agent(agent_name, agent_configs, parent)
        asked = Inheritance(tools=tool_inheritance, hooks=hook_inheritance, protected=PROTECTED_KEYS)
        made = _plan(self._spec.plan, agent, asked, agent_name)
        spec = replace(
            self._spec,
            plan=made.plan,
            bundle=_agent_bundle(self._spec.bundle, agent_name, agent),
        )
        request = ChildRequest(
            spec=spec,
            instruction=instruction,
            agent=agent_name,
            session_id=sub_session_id,
            messages=parent_messages,
            preferences=_preferences(provider_preferences or agent.get("provider_preferences")),
            orchestrator_config=orchestrator_config,
            metadata={"agent_name": agent_name, **(session_metadata or {})},
            self_delegation_depth=self_delegation_depth,
            seconds=extra.get("timeout"),
            store=self._store,
            offer=self._offer,
        )
        return await self._run(parent, request, agent)

    async def resume(self, sub_session_id: str, instruction: str, **extra: Any) -> dict[str, Any]:
        """Go on with a child that was spawned before. Raises SpawnRefused for an unknown one."""
        agent_name, agent, messages = self._remembered(sub_session_id)
        parent = extra.get("parent_session") or self._parents.get(sub_session_id)
        made = _plan(self._spec.plan, agent, Inheritance(protected=PROTECTED_KEYS), agent_name)
        spec = replace(self._spec, plan=made.plan, bundle=_agent_bundle(self._spec.bundle, agent_name, agent))
        request = ChildRequest(
            spec=spec,
            instruction=instruction,
            agent=agent_name,
            session_id=sub_session_id,
            messages=[dict(each) for each in messages],
            preferences=_preferences(agent.get("provider_preferences")),
            metadata={"agent_name": agent_name},
            store=self._store,
            offer=self._offer,
            resumed=True,
        )
        return await self._run(parent, request, agent)

    async def _run(self, parent: Any, request: ChildRequest, agent: Mapping[str, Any]) -> dict[str, Any]:
        async with self._slots:
            answer = await run_child(parent, request)
        self._known[answer.session_id] = (request.agent, agent, answer.messages)
        self._parents[answer.session_id] = parent
        return answer.to_dict()

    def _offer(self, spec: SessionSpec) -> SessionSpec:
        return with_spawning(spec, store=self._store)

    def _agent(self, name: str, configs: Mapping[str, Any] | None, parent: Any) -> Mapping[str, Any]:
        """Return what an agent is: the caller's definition, else the session's own, as it is now."""
        if name == "self":
            return {}
        live = _mapping(getattr(getattr(parent, "coordinator", None), "config", None)).get("agents")
        declared = (configs, live, self._spec.plan.get("agents"))
        for agents in map(_mapping, declared):
            if isinstance(agents.get(name), Mapping):
                return dict(agents[name])
        known = (
            ", ".join(sorted({str(each) for agents in map(_mapping, declared) for each in agents})) or "none"
        )
        raise SpawnRefused(f"unknown agent: {name!r}", fix=f"the agents here are {known}")

    def _remembered(self, session_id: str) -> tuple[str, Mapping[str, Any], Sequence[Message]]:
        if session_id in self._known:
            return self._known[session_id]
        if self._store is not None:
            stored = self._store.read(session_id)
            name = str(stored.metadata.get("agent_name") or "self")
            return name, self._agent(name, None, None), stored.messages
        fix = "only children that this session spawned, or that are stored, can be resumed"
        raise SpawnRefused(f"unknown child session: {session_id!r}", fix=fix)


def _plan(parent: Mapping[str, Any], agent: Mapping[str, Any], asked: Inheritance, name: str) -> Any:
    overlay = {key: value for key, value in agent.items() if key not in _NOT_AN_OVERLAY}
    try:
        return child_plan(parent, overlay, asked)
    except (ValueError, TypeError) as error:
        raise SpawnRefused(f"agent {name}: {error}", fix="correct the agent's definition") from error


def _agent_bundle(bundle: Callable[[], Bundle], name: str, agent: Mapping[str, Any]) -> Callable[[], Bundle]:
    """Return the bundle that an agent's prompt is made of: its own instruction over the parent's context."""
    text = agent.get("instruction")

    def made() -> Bundle:
        whole = bundle()
        if not isinstance(text, str) or not text:
            return whole
        known = whole.agents.get(name)
        leaf = known.get("instruction") if isinstance(known, Table) else None
        own = leaf if isinstance(leaf, Leaf) and leaf.value == text else Leaf(text)
        return replace(whole, instruction=own)

    return made


def _preferences(wished: Any) -> tuple[ProviderPreference, ...]:
    found = []
    for each in wished if isinstance(wished, list | tuple) else ():
        if isinstance(each, ProviderPreference):
            found.append(each)
        elif isinstance(each, Mapping):
            try:
                found.append(ProviderPreference.from_dict(each))
            except ValueError as error:
                fix = "write each preference as {provider: …, model: …}"
                raise SpawnRefused(f"provider_preferences: {error}", fix=fix) from error
    return tuple(found)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
