"""Run one child session: open it beneath its parent, let it answer, close it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from inspect import isawaitable
from pathlib import Path
from typing import Any

from amplihack.app.sessions.family import CALL_ENDED, CHILDREN
from amplihack.app.sessions.going_on import to_go_on
from amplihack.app.sessions.opening import SessionSpec, open_session
from amplihack.bundles.child_plan import mapping_of, max_depth, with_orchestrator_config
from amplihack.bundles.completion import prompt_scope
from amplihack.bundles.prompt import with_mentioned
from amplihack.errors import Problem
from amplihack.records import Record, field, replace
from amplihack.sessions.calls import Message
from amplihack.sessions.costs import SPENDING, bridge_child_cost
from amplihack.sessions.errors import SpawnRefused
from amplihack.sessions.ids import generate_sub_session_id
from amplihack.sessions.kept_children import KeptChild
from amplihack.sessions.models import is_glob_pattern
from amplihack.sessions.preferences import (
    ProviderPreference,
    apply_provider_preferences,
    apply_provider_preferences_with_resolution,
)
from amplihack.sessions.serialise import sanitize_for_json
from amplihack.sessions.usage import TokenUsage
from amplihack.system.bundle_files import BundleFiles
from amplihack.system.foundation.session_working_dir import WORKING_DIR_CAPABILITY
from amplihack.system.kernel.approvals import ApprovalDesk
from amplihack.system.kernel.opening import SESSION_CAPABILITY
from amplihack.system.kernel.session import LiveSession
from amplihack.system.session_store.store import SessionStore

SPAWN, RESUME = "session.spawn", "session.resume"
_OF_ITS_OWN = (SPAWN, RESUME, CHILDREN)
MAX_DEPTH = 3  # sessions below the one that a user opened
# Capabilities of other modules and of the host, for children too.
_PASSED_ON = ("session.routing", "model_role_resolver", CALL_ENDED, SPENDING)


class ChildRequest(Record, kw_only=True):
    """One child: its own plan and bundle, and what it is told."""

    spec: SessionSpec  # of the child: plan, bundle and resolver are its own
    instruction: str
    agent: str = ""
    session_id: str | None = None
    messages: list[Message] | None = None
    preferences: Sequence[ProviderPreference] = ()
    orchestrator_config: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] | None = None
    self_delegation_depth: int = 0
    working_dir: Path | None = None
    seconds: float | None = None
    on_initialized: Callable[[LiveSession], Any] | None = None
    store: SessionStore | None = None
    resumed: bool = False
    goes_on: bool = False  # its last turn stopped in the middle, and goes on from there
    children: Sequence[KeptChild] = ()  # agents that it had started itself
    counted: TokenUsage | None = None  # what the parent knows that it used, if that is not all
    by_model: bool = False  # whether a model wrote the instruction: it mentions no file outside its directory
    asked: Mapping[str, Any] = field(default_factory=dict)  # what the caller wished for, to resume it so
    offer: Callable[[SessionSpec], SessionSpec] = lambda spec: spec  # what it offers to its own modules


class ChildAnswer(Record):
    """What a child said, and how it stood at its end."""

    output: str
    session_id: str
    status: str = "success"
    turn_count: int = 1
    metadata: Mapping[str, Any] = field(default_factory=dict)
    messages: Sequence[Message] = field(default=(), repr=False)

    def to_dict(self) -> dict[str, Any]:
        return {
            "output": self.output,
            "session_id": self.session_id,
            "status": self.status,
            "turn_count": self.turn_count,
            "metadata": dict(self.metadata),
        }


async def run_child(parent: Any, request: ChildRequest) -> ChildAnswer:
    """Open a child session, run one turn and close it, whatever happens.

    `parent` is an open session, or the kernel's session beneath it. An error keeps its type and says which
    child it came from. Cancelling the parent cancels the child.
    """
    above = _live(parent)
    depth = (above.depth if above is not None else request.spec.depth) + 1
    _require_depth(depth, request)
    session_id = request.session_id or _new_id(request.agent, parent)
    spec = await _child_spec(parent, request, session_id, depth)
    try:
        child = await open_session(request.offer(spec))
    except BaseException:
        if spec.log is not None:
            spec.log.close()
        raise
    try:
        return await _run(parent, above, child, request)
    except Exception as error:
        error.add_note(
            f"in the child session {session_id}" + (f" of {request.agent}" if request.agent else "")
        )
        raise
    finally:
        await child.cleanup()


def _new_id(agent: str, parent: Any) -> str:
    """Return an id that tells the agent, and whose child it is."""
    above = parent.session_id if parent is not None else None
    trace = str(above).replace("-", "") if above is not None else None
    return generate_sub_session_id(agent or None, above, trace)


async def _child_spec(parent: Any, request: ChildRequest, session_id: str, depth: int) -> SessionSpec:
    spec, plan = request.spec, _own_plan(request)
    coordinator = parent.coordinator if parent is not None else None
    told: list[str] = []
    plan = await _preferred(plan, request.preferences, coordinator, told.append)
    approval, memory = _approvals(getattr(coordinator, "approval_system", None))
    directory = request.working_dir or _directory(coordinator) or spec.working_dir
    above = parent.session_id if parent is not None else None
    log, used, problems = None, TokenUsage(), tuple(map(_unmet, told))
    if request.store is not None and request.resumed:
        opened = await request.store.open(session_id)
        log, used = opened.log, opened.stored.used
        problems = (*opened.stored.problems, *problems)
    elif request.store is not None:
        described = _described(request) | {"working_dir": str(directory), "depth": depth}
        log = await request.store.create(session_id, parent_id=above, **described)
    return replace(
        spec,
        plan=plan,
        session_id=session_id,
        parent_id=above,
        approval_system=approval,
        memory=memory,
        display_system=getattr(coordinator, "display_system", None) or spec.display_system,
        working_dir=directory,
        scope=replace(spec.scope, bases=(str(directory),)),
        is_resumed=request.resumed,
        messages=request.messages,
        children=request.children,
        capabilities=_capabilities(coordinator, spec, request),
        used=used,
        log=log,
        depth=depth,
        on_open=None,
        agent=request.agent,
        problems=problems,
    )


def _own_plan(request: ChildRequest) -> dict[str, Any]:
    """Return the plan with what the request sets of the loop, and adds to the metadata of the session."""
    plan = with_orchestrator_config(dict(request.spec.plan), request.orchestrator_config)
    if not request.metadata:
        return plan
    session = dict(mapping_of(plan.get("session")))
    session["metadata"] = {**mapping_of(session.get("metadata")), **request.metadata}
    return {**plan, "session": session}


def _described(request: ChildRequest) -> dict[str, Any]:
    """Return what the store keeps of a request."""
    asked = {"asked": sanitize_for_json(dict(request.asked))} if request.asked else {}
    bundle = request.spec.bundle().name
    return {"agent_name": request.agent, "instruction": request.instruction, "bundle": bundle, **asked}


async def _preferred(
    plan: dict[str, Any],
    wishes: Sequence[ProviderPreference],
    coordinator: Any,
    warn: Callable[[str], None],
) -> dict[str, Any]:
    """Return the plan with the first wish that can be met. Only live providers know what a pattern means."""
    if not wishes:
        return plan
    if coordinator is not None:
        return await apply_provider_preferences_with_resolution(plan, wishes, coordinator, warn=warn)
    plain = [each for each in wishes if not is_glob_pattern(each.model)]
    if len(plain) < len(wishes):
        warn("patterns of models mean nothing without a parent session, whose providers could be asked")
    return apply_provider_preferences(plan, plain, warn=warn)


def _unmet(what: str) -> Problem:
    fix = "name a provider and a model of this bundle in `provider_preferences`"
    return Problem(f"the model is not the preferred one: {what}", None, fix, "warning", "preference-unmet")


async def _run(
    parent: Any, above: LiveSession | None, child: LiveSession, request: ChildRequest
) -> ChildAnswer:
    completed: dict[str, Any] = {}

    async def hear(_: str, data: dict[str, Any]) -> None:
        completed.update(data)

    forget = child.coordinator.hooks.register(
        "orchestrator:complete", hear, priority=999, name="_spawn_completion_capture"
    )
    before = child.usage if request.counted is None else request.counted
    token = parent.coordinator.cancellation if parent is not None else None
    if token is not None:
        token.register_child(child.coordinator.cancellation)
    try:
        if request.on_initialized is not None:
            told = request.on_initialized(child)
            if isawaitable(told):
                await told
        prompt = await asyncio.to_thread(_expanded, request, child)
        goes_on = False
        if request.goes_on:
            prompt, goes_on = await to_go_on(child, prompt)
        with_parent = nullcontext() if above is None else above.having(child)
        with with_parent:
            async with asyncio.timeout(request.seconds):
                output = await child.execute(prompt, goes_on=goes_on)
        return _answer(output, child, completed, await child.messages())
    finally:
        forget()
        if token is not None:
            token.unregister_child(child.coordinator.cancellation)
            await bridge_child_cost(child.coordinator, parent.coordinator, child.session_id)
        if above is not None:
            await above.add_child_usage(child.session_id, request.agent, child.usage.minus(before))


def _answer(
    output: str, child: LiveSession, completed: Mapping[str, Any], messages: Sequence[Message]
) -> ChildAnswer:
    turns, metadata = completed.get("turn_count"), completed.get("metadata")
    return ChildAnswer(
        output,
        child.session_id,
        str(completed.get("status") or "success"),
        turns if isinstance(turns, int) else 1,
        mapping_of(metadata),
        messages,
    )


def _expanded(request: ChildRequest, child: LiveSession) -> str:
    """Put what the instruction mentions in front of it, seen from the child's directory."""
    bundle = request.spec.bundle()
    directory = child.coordinator.get_capability(WORKING_DIR_CAPABILITY)
    around = replace(request.spec.scope, bases=(str(directory),))
    if request.by_model:
        around = replace(around, allowed=(str(directory),), home=None, user=None)
    scope = prompt_scope(bundle, around)
    return with_mentioned(request.instruction, replace(scope, holder=""), BundleFiles())


def _require_depth(depth: int, request: ChildRequest) -> None:
    most = max_depth(request.spec.plan, MAX_DEPTH)
    if depth > most:
        name = request.agent or "the child"
        what = f"{name} would be session number {depth} below the first one; {most} may be"
        raise SpawnRefused(
            what, fix="let an agent further up do it, or set `spawn: {max_depth: …}` in the bundle"
        )


def _approvals(system: Any) -> tuple[Any, Any]:
    return (system.host, system.memory) if isinstance(system, ApprovalDesk) else (system, None)


def _capabilities(coordinator: Any, spec: SessionSpec, request: ChildRequest) -> dict[str, Any]:
    """Return what a child knows: its parent's answers where they hold for children too."""
    kept = {name: value for name, value in spec.capabilities.items() if name not in _OF_ITS_OWN}
    for name in _PASSED_ON:
        value = coordinator.get_capability(name) if coordinator is not None else None
        if value is not None:
            kept[name] = value
    if request.self_delegation_depth > 0:
        kept["self_delegation_depth"] = request.self_delegation_depth
    return kept


def _live(parent: Any) -> LiveSession | None:
    if parent is None or isinstance(parent, LiveSession):
        return parent
    found = parent.coordinator.get_capability(SESSION_CAPABILITY)
    return found if isinstance(found, LiveSession) else None


def _directory(coordinator: Any) -> Path | None:
    found = coordinator.get_capability(WORKING_DIR_CAPABILITY) if coordinator is not None else None
    return Path(found) if isinstance(found, str) and found else None
