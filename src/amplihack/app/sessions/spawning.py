"""Spawn agents as child sessions, under the policy of the bundle."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from amplihack.app.sessions.agent_plans import agent_bundle, inheritance, laid, plan_of, policy_doubts
from amplihack.app.sessions.child import RESUME, SPAWN, ChildRequest, run_child
from amplihack.app.sessions.family import CHILDREN, Family
from amplihack.app.sessions.going_on import AFTER_A_CRASH
from amplihack.app.sessions.opening import SessionSpec
from amplihack.app.sessions.wished_models import wished_models
from amplihack.bundles.child_plan import mapping_of
from amplihack.documents.suggest import closest
from amplihack.records import replace
from amplihack.sessions.calls import Message
from amplihack.sessions.errors import SpawnRefused
from amplihack.sessions.ids import is_fit_id
from amplihack.sessions.kept_children import KeptChild
from amplihack.system.kernel.session import LiveSession
from amplihack.system.session_store.children import cut_off_child, stored_child, told_of_child
from amplihack.system.session_store.reading import StoredSession
from amplihack.system.session_store.store import SessionStore

_AT_ONCE = 16  # children of one session


def with_spawning(
    spec: SessionSpec, *, store: SessionStore | None = None, at_once: int = _AT_ONCE
) -> SessionSpec:
    """Return a spec whose session offers `session.spawn` and `session.resume` to its modules."""
    spawner = Spawner(spec, store, at_once)
    offered = {SPAWN: spawner.spawn, RESUME: spawner.resume, CHILDREN: spawner.family}
    wrong = policy_doubts(spec.plan) if spec.depth == 0 else ()  # told once, not for each child
    return replace(
        spec,
        capabilities={**offered, **spec.capabilities},
        problems=(*spec.problems, *wrong),
        on_open=spawner.belong_to,
    )


class Spawner:
    """Spawns the agents of one session by their names, and remembers them so that they can be resumed.

    One that was cut off before it had answered goes on when it is asked for again in the same words.
    """

    def __init__(self, spec: SessionSpec, store: SessionStore | None, at_once: int) -> None:
        self._spec, self._store = spec, store
        self._slots = asyncio.Semaphore(at_once)
        self.family = Family(spec.children, listens=store is None)
        self._agents: dict[str, Mapping[str, Any]] = {}  # what those are that were started here
        self._parents: dict[str, Any] = {}
        self._at_work: set[str] = set()  # ids that were asked for
        self._session: LiveSession | None = None
        self._some_cut_off = spec.is_resumed

    def belong_to(self, session: LiveSession) -> None:
        """Be told whose children these are, for callers that do not say it."""
        self._session = session

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
        named = parent_session if parent_session is not None else extra.get("parent")
        parent = named if named is not None else self._session
        if not isinstance(instruction, str):
            raise SpawnRefused(f"{agent_name}: {instruction!r:.80} is no instruction", fix="give it a text")
        if sub_session_id:
            _require_fit(sub_session_id, parent)
        if extra.get("use_subprocess"):
            _tell(parent, f"{agent_name} runs in this process, although a process of its own was asked for")
        agent = self._agent(agent_name, agent_configs, parent)
        wishes = [each.to_dict() for each in wished_models(provider_preferences)]
        asked = {
            "tools": tool_inheritance,
            "hooks": hook_inheritance,
            "provider_preferences": wishes,
            "orchestrator_config": orchestrator_config,
        }
        request = replace(
            self._request(agent_name, agent, {key: value for key, value in asked.items() if value}),
            instruction=instruction,
            session_id=sub_session_id,
            messages=parent_messages,
            metadata={"agent_name": agent_name, **(session_metadata or {})},
            self_delegation_depth=self_delegation_depth,
            seconds=extra.get("timeout"),
        )
        if sub_session_id is None:
            request = await self._where_it_was(request, parent)
        return await self._run(parent, request, agent)

    async def _where_it_was(self, request: ChildRequest, parent: Any) -> ChildRequest:
        """Return the request for an agent that is to go on, if one was cut off that was told the same."""
        kept = self.family.cut_off(request.agent, request.instruction)
        if kept is not None:
            return replace(
                request,
                session_id=kept.session_id,
                messages=[dict(each) for each in kept.messages],
                children=kept.children,
                resumed=True,
                goes_on=True,
            )
        own = self._spec.session_id
        if self._store is None or own is None or not self._some_cut_off:
            return request
        wanted = (self._store, own, request.agent, request.instruction)
        stored = await asyncio.to_thread(cut_off_child, *wanted)
        if stored is None:
            return request
        _tell(parent, f"{request.agent} goes on where it was cut off, in session {stored.session_id}", "info")
        return replace(
            request,
            session_id=stored.session_id,
            instruction=AFTER_A_CRASH,
            messages=stored.messages,
            resumed=True,
            counted=await asyncio.to_thread(told_of_child, self._store.directory(own), stored.session_id),
        )

    async def resume(self, sub_session_id: str, instruction: str, **extra: Any) -> dict[str, Any]:
        """Go on with a child that was spawned before, as it was asked for then.

        Raises SpawnRefused for an unknown one.
        """
        known = await asyncio.to_thread(self._remembered, sub_session_id)
        parent = extra.get("parent_session") or self._parents.get(sub_session_id) or self._session
        agent = self._agents.get(sub_session_id) or self._agent(known.agent, None, parent)
        request = replace(
            self._request(known.agent, agent, known.asked),
            instruction=instruction,
            session_id=known.session_id,
            messages=[dict(each) for each in known.messages],
            children=known.children,
            resumed=True,
        )
        return await self._run(parent, request, agent)

    def _request(self, name: str, agent: Mapping[str, Any], asked: Mapping[str, Any]) -> ChildRequest:
        """Return what is the same whenever an agent runs: its plan, its model and its loop."""
        made = plan_of(self._spec.plan, agent, inheritance(asked), name)
        bundle = agent_bundle(self._spec.bundle, name, agent)
        spec = replace(laid(self._spec, made), bundle=bundle, before=None)
        wished = asked.get("provider_preferences") or agent.get("provider_preferences")
        return ChildRequest(
            spec=spec,
            instruction="",
            agent=name,
            preferences=wished_models(wished),
            orchestrator_config=asked.get("orchestrator_config"),
            metadata={"agent_name": name},
            store=self._store,
            asked=asked,
            offer=self._offer,
            by_model=True,
        )

    async def _run(self, parent: Any, request: ChildRequest, agent: Mapping[str, Any]) -> dict[str, Any]:
        began: list[str] = []
        self._reserve(request.session_id)

        def note(child: LiveSession) -> None:
            began.append(child.session_id)
            self._agents[child.session_id], self._parents[child.session_id] = agent, parent
            about = KeptChild(
                session_id=child.session_id,
                agent=request.agent,
                instruction=request.instruction,
                asked=request.asked,
            )
            self.family.began(about, child)

        try:
            async with self._slots:
                answer = await run_child(parent, replace(request, on_initialized=note))
            await self.family.ended(answer.session_id, answer.messages)
        except BaseException:
            self._some_cut_off = True
            raise
        finally:
            self._at_work.discard(request.session_id or "")
            for each in began:
                self.family.left(each)
        return answer.to_dict()

    def _reserve(self, session_id: str | None) -> None:
        """Let a child do one thing at a time: two would write over each other."""
        if session_id in self._at_work:
            raise SpawnRefused(f"the child session {session_id} is at work", fix="wait for its answer")
        if session_id:
            self._at_work.add(session_id)

    def _offer(self, spec: SessionSpec) -> SessionSpec:
        return with_spawning(spec, store=self._store)

    def _agent(self, name: str, configs: Mapping[str, Any] | None, parent: Any) -> Mapping[str, Any]:
        """Return what an agent is: the caller's definition, else the session's own, as it is now."""
        if name == "self":
            return {}
        live = mapping_of(getattr(getattr(parent, "coordinator", None), "config", None)).get("agents")
        declared = (configs, live, self._spec.plan.get("agents"))
        for agents in map(mapping_of, declared):
            if isinstance(agents.get(name), Mapping):
                return dict(agents[name])
        known = sorted({str(each) for agents in map(mapping_of, declared) for each in agents})
        meant = closest(str(name), known)
        hint = f"; did you mean {meant!r}?" if meant else ""
        # A model reads what went wrong, and not how a user would mend it.
        listed = ", ".join(known) or "none"
        raise SpawnRefused(
            f"unknown agent: {name!r}{hint} (the agents here are {listed})",
            fix=f"name one of them, or add {name!r} to `agents:` of the bundle",
        )

    def _remembered(self, session_id: str) -> KeptChild:
        if (known := self.family.known(session_id)) is not None:
            return known
        if self._store is not None:
            return _kept(stored_child(self._store, self._spec.session_id, session_id))
        fix = "only children that this session spawned, or that are stored, can be resumed"
        raise SpawnRefused(f"unknown child session: {session_id!r}", fix=fix)


def _require_fit(session_id: str, parent: Any) -> None:
    """Raise SpawnRefused for an id that no child can have."""
    if not is_fit_id(session_id):
        what, fix = f"{session_id!r:.80} cannot be a session's id", "ids are short, without slashes and dots"
        raise SpawnRefused(what, fix=fix)
    if session_id == getattr(parent, "session_id", None):
        raise SpawnRefused(f"{session_id} is the parent itself", fix="give the child an id of its own")


def _kept(stored: StoredSession) -> KeptChild:
    return KeptChild(
        session_id=stored.session_id,
        agent=str(stored.metadata.get("agent_name") or "self"),
        instruction=str(stored.metadata.get("instruction") or ""),
        asked=mapping_of(stored.metadata.get("asked")),
        messages=stored.messages,
        done=True,
    )


def _tell(parent: Any, text: str, level: str = "warning") -> None:
    display = getattr(getattr(parent, "coordinator", None), "display_system", None)
    if display is not None:
        display.show_message(text, level, "amplihack")
