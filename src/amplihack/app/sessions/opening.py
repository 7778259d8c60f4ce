"""Open sessions of a prepared bundle: `await` one, or use it with `async with`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from amplihack.bundles.kernel_plan import kernel_plan
from amplihack.bundles.mentions import MentionScope
from amplihack.bundles.model import Bundle
from amplihack.bundles.mount_plan import MountPlan
from amplihack.bundles.variables import expand_plan
from amplihack.errors import Problem
from amplihack.modules.table import MODULES
from amplihack.records import Record, field
from amplihack.sessions.calls import Message
from amplihack.sessions.errors import ModulesFailed
from amplihack.sessions.kept_children import KeptChild
from amplihack.sessions.observability import FOUNDATION_OBSERVABILITY_EVENTS, inject_additional_events
from amplihack.sessions.overlay import RUNTIME_CONTEXT_OVERLAY_CAPABILITY
from amplihack.sessions.usage import TokenUsage
from amplihack.system.kernel.approvals import ApprovalMemory
from amplihack.system.kernel.opening import OpenRequest, open_live
from amplihack.system.kernel.session import LiveSession
from amplihack.system.prompt_source import PromptSource
from amplihack.system.session_store.log import SessionLog


class SessionSpec(Record, kw_only=True):
    """One session of a prepared bundle.

    `plan` is copied; `bundle` is asked anew for each prompt. `environment` fills the `${VARIABLES}` of the
    plan; None leaves them, for a program that has filled them itself.
    """

    plan: Mapping[str, Any] = field(repr=False)
    bundle: Callable[[], Bundle]
    resolver: Any = None
    package_paths: Sequence[str] = ()
    working_dir: Path
    scope: MentionScope = MentionScope()
    session_id: str | None = None
    parent_id: str | None = None
    approval_system: Any = None
    display_system: Any = None
    memory: ApprovalMemory | None = None
    is_resumed: bool = False
    environment: Mapping[str, str] | None = field(default=None, repr=False)
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    messages: list[Message] | None = None
    children: Sequence[KeptChild] = ()  # agents that it had started before
    used: TokenUsage = TokenUsage()
    log: SessionLog | None = None
    depth: int = 0
    agent: str = ""
    strict: bool = False
    allow_partial: bool = False
    required: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()
    hidden_tools: frozenset[str] = frozenset()  # tools that are taken away, except those of
    own_modules: frozenset[str] = frozenset()
    log_failures: Callable[[str], None] | None = None  # hears what the session goes without
    on_open: Callable[[LiveSession], None] | None = None  # gets the session before its first turn
    before: Callable[[Any], Awaitable[None]] | None = None  # gets the kernel's session before any module
    told: frozenset[str] = frozenset()  # modules whose failure was told when the bundle was prepared


async def open_session(spec: SessionSpec) -> LiveSession:
    """Open a session. Raises ModulesFailed or SessionError, both before anything was asked of a model."""
    clean = kernel_plan(spec.plan)
    plan = clean.plan
    if spec.environment is not None:
        plan = _filled(plan, spec.environment)
    inject_additional_events(plan, FOUNDATION_OBSERVABILITY_EVENTS)
    live: list[LiveSession] = []

    def overlay() -> Sequence[str]:
        found = live[0].coordinator.get_capability(RUNTIME_CONTEXT_OVERLAY_CAPABILITY) if live else None
        return [each for each in found if isinstance(each, str)] if isinstance(found, list) else ()

    session = await open_live(
        OpenRequest(
            plan=plan,
            resolver=spec.resolver,
            shipped={name: each.package for name, each in MODULES.items()},
            working_dir=spec.working_dir,
            session_id=spec.session_id,
            parent_id=spec.parent_id,
            approval_system=spec.approval_system,
            display_system=spec.display_system,
            memory=spec.memory,
            is_resumed=spec.is_resumed,
            capabilities=_capabilities(spec),
            prompt=PromptSource(spec.bundle, lambda: spec.scope, overlay),
            messages=spec.messages,
            used=spec.used,
            log=spec.log,
            depth=spec.depth,
            agent=spec.agent,
            problems=(*spec.problems, *clean.problems),
            strict=spec.strict,
            allow_partial=spec.allow_partial,
            required=spec.required,
            told=spec.log_failures,
            before=spec.before,
        )
    )
    live.append(session)
    if spec.on_open is not None:
        spec.on_open(session)
    try:
        await _hide_tools(session, spec)
        _tell_failures(session, spec)
    except BaseException:
        await session.cleanup()
        raise
    return session


def _tell_failures(session: LiveSession, spec: SessionSpec) -> None:
    if spec.log_failures is not None:
        known = {each.problem.what for each in session.load_failures if each.module in spec.told}
        for problem in (each for each in session.problems if each.what not in known):
            spec.log_failures(f"{problem.what}" + (f" ({problem.fix})" if problem.fix else ""))


async def _hide_tools(session: LiveSession, spec: SessionSpec) -> None:
    """Take away what a spawn policy names by the name of the tool."""
    mounted = session.coordinator.get("tools") or {}
    for name in spec.hidden_tools.intersection(mounted):
        if session.owner_of(name) not in spec.own_modules:
            await session.coordinator.unmount("tools", name=name)


class Opening:
    """A session that is about to be opened: `await` it, or `async with` it, which closes it at the end."""

    def __init__(self, opened: Callable[[], Awaitable[LiveSession]]) -> None:
        self._opened = opened
        self._session: LiveSession | None = None

    def __await__(self) -> Generator[Any, None, LiveSession]:
        return self._opened().__await__()

    async def __aenter__(self) -> LiveSession:
        self._session = await self._opened()
        return self._session

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.cleanup()


def _capabilities(spec: SessionSpec) -> dict[str, Any]:
    found = dict(spec.capabilities)
    if spec.package_paths:
        found.setdefault("bundle_package_paths", list(spec.package_paths))
    return found


def _filled(plan: dict[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    expanded = expand_plan(plan, environment)  # type: ignore[arg-type] # plain data of the same shape
    if expanded.missing:
        first = expanded.missing[0].problem
        raise ModulesFailed("; ".join(each.problem.what for each in expanded.missing), fix=first.fix)
    filled: MountPlan = expanded.plan
    return dict(filled)
