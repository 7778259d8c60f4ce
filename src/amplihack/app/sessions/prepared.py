"""Offer a prepared bundle of this place: new sessions, stored ones that go on, and forks of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from amplihack.app.bundles.command_request import request_here
from amplihack.app.bundles.load import LoadedBundle, LoadRequest, load
from amplihack.app.sessions.agent_plans import (
    SpawnedAgent,
    agent_bundle,
    laid,
    line_plan,
    spawned_agents,
)
from amplihack.app.sessions.opening import Opening, SessionSpec, open_session
from amplihack.app.sessions.prepare import PreparedModules, PrepareRequest, prepare
from amplihack.app.sessions.spawning import with_spawning
from amplihack.app.workspace import Workspace, open_workspace
from amplihack.bundles.completion import prompt_scope
from amplihack.bundles.mentions import MentionScope
from amplihack.bundles.mount_plan import mount_plan
from amplihack.bundles.prompt import with_mentioned
from amplihack.errors import Problem
from amplihack.records import Record, field, replace
from amplihack.sessions.calls import Message
from amplihack.sessions.errors import SessionError
from amplihack.sessions.forks import ForkResult
from amplihack.sessions.kept_children import KeptChild
from amplihack.system.bundle_files import BundleFiles
from amplihack.system.kernel.session import LiveSession
from amplihack.system.modules.activation import ALLOW_NATIVE, Progress, tell_nobody
from amplihack.system.session_mentions import SeenContents, SessionMentions
from amplihack.system.session_store.children import depth_of, spawned_line
from amplihack.system.session_store.log import SessionLog
from amplihack.system.session_store.store import OpenedSession, SessionStore
from amplihack.system.settings_files import home_allows_native


class HostParts(Record, kw_only=True):
    """What the program that opens a session brings with it, and how strict it is about modules."""

    approval_system: Any = None
    display_system: Any = None
    working_dir: Path | None = None
    strict: bool = False
    allow_partial: bool = False
    required: frozenset[str] = frozenset()
    told: Callable[[str], None] | None = None  # hears what a session goes without
    capabilities: Mapping[str, Any] = field(default_factory=dict)  # of the host, for modules and children
    agent: str = ""  # one that is answering in place of the bundle
    instruction: str = ""  # of that agent
    hidden_tools: frozenset[str] = frozenset()  # which a policy takes away from it, except those of
    own_modules: frozenset[str] = frozenset()
    described: Mapping[str, Any] = field(default_factory=dict)  # what is stored with a new session besides
    messages: list[Message] | None = None  # what was said before in a new session, unless it is stored
    children: Sequence[KeptChild] = ()  # the agents that it had started then


class Prepared:
    """A bundle that is ready to run here. Sessions are written to `store` as they happen."""

    def __init__(
        self, workspace: Workspace, loaded: LoadedBundle, modules: PreparedModules, store: SessionStore | None
    ) -> None:
        self._workspace, self._loaded, self._modules = workspace, loaded, modules
        self.store = store

    @property
    def name(self) -> str:
        return self._loaded.bundle.name

    @property
    def plan(self) -> dict[str, Any]:
        """Return the mount plan. Whoever changes it changes it for sessions that are opened later."""
        return self._modules.plan

    @property
    def problems(self) -> tuple[Problem, ...]:
        return (*self._loaded.problems, *self._modules.problems)

    def create_session(
        self,
        session_id: str | None = None,
        host: HostParts = HostParts(),  # noqa: B008 - frozen
    ) -> Opening:
        """Open a new session: `await` it, or use it with `async with`."""
        return Opening(lambda: self._create(session_id or str(uuid4()), host))

    def resume_session(self, session_id: str, host: HostParts = HostParts()) -> Opening:  # noqa: B008 - frozen
        """Open a stored session where it was left; a turn that a crash cut off is closed first.

        Raises SessionNotFound, and SessionInUse while another process has it open.
        """
        return Opening(lambda: self._resume(session_id, host))

    async def fork_session(self, session_id: str, turn: int | None = None) -> ForkResult:
        """Copy a stored session up to a turn. Raises ValueError for an unknown turn."""
        return await asyncio.to_thread(self._stored().fork, session_id, turn=turn)

    def with_mentioned(self, prompt: str, directory: Path) -> str:
        """Return a prompt with the files that it mentions (`@notes.md`) in front of it. Blocking."""
        bundle = self._loaded.bundle
        scope = prompt_scope(bundle, self._scope(directory))
        return with_mentioned(prompt, replace(scope, holder=""), BundleFiles())

    def _scope(self, directory: Path) -> MentionScope:
        home = self._workspace.home
        return MentionScope(
            bases=(str(directory),),
            home=str(home.user),
            user=str(home.root),
            project=str(directory / ".amplihack"),
        )

    async def _create(self, session_id: str, host: HostParts) -> LiveSession:
        spec = self._spec(host)
        log = None
        if self.store is not None:
            directory = str(spec.working_dir)
            facts = {"bundle": self.name, "working_dir": directory, "parent_id": None, **host.described}
            log = await self.store.create(session_id, **facts)
        try:
            return await self._open(replace(spec, session_id=session_id, log=log), log)
        except BaseException:
            if self.store is not None:
                self.store.discard(session_id)  # nothing was said in it, and nobody looks for it
            raise

    async def _resume(self, session_id: str, host: HostParts) -> LiveSession:
        opened = await self._stored().open(session_id)
        try:
            spec = await asyncio.to_thread(self._as_it_was, opened, host)
        except BaseException:
            opened.log.close()  # else nobody could open it again
            raise
        return await self._open(spec, opened.log)

    def _as_it_was(self, opened: OpenedSession, host: HostParts) -> SessionSpec:
        """Return what a stored session is opened with. Raises SpawnRefused for an unreadable policy."""
        stored, spec = opened.stored, self._spec(host)
        known = stored.metadata.get("working_dir")
        if host.working_dir is None and isinstance(known, str) and known:
            spec = self._spec(replace(host, working_dir=Path(known)))
        line = spawned_line(self._stored(), stored.metadata)
        return replace(
            self._as_spawned(spec, spawned_agents(line), host),
            session_id=stored.session_id,
            parent_id=stored.metadata.get("parent_id"),
            is_resumed=True,
            messages=stored.messages,
            used=stored.used,
            log=opened.log,
            problems=stored.problems,
            depth=depth_of(line),
        )

    def _as_spawned(self, spec: SessionSpec, line: Sequence[SpawnedAgent], host: HostParts) -> SessionSpec:
        """Return the spec of a session that an agent had: it goes on as that agent, under the policy for it.

        A host that names an agent itself has done so already.
        """
        if not line or host.agent:
            return spec
        made, agent = line_plan(self.plan, line)
        named = agent_bundle(spec.bundle, agent.name, agent.definition)
        return replace(laid(spec, made), bundle=named, agent=agent.name)

    async def _open(self, spec: SessionSpec, log: SessionLog | None) -> LiveSession:
        try:
            return await open_session(with_spawning(spec, store=self.store))
        except BaseException:
            if log is not None:
                log.close()
            raise

    def _spec(self, host: HostParts) -> SessionSpec:
        directory = host.working_dir or self._workspace.directory
        scope = self._scope(directory)
        bundle = self._loaded.bundle
        return SessionSpec(
            plan=self._modules.plan,
            bundle=agent_bundle(lambda: bundle, host.agent, {"instruction": host.instruction}),
            resolver=self._modules.resolver,
            package_paths=self._modules.package_paths,
            working_dir=directory,
            scope=scope,
            approval_system=host.approval_system,
            display_system=host.display_system,
            environment=self._workspace.environment,
            capabilities={
                "mention_resolver": SessionMentions(lambda: bundle, scope),
                "mention_deduplicator": SeenContents(),
                **host.capabilities,
            },
            messages=host.messages,
            children=host.children,
            is_resumed=host.messages is not None,
            strict=host.strict,
            allow_partial=host.allow_partial,
            required=host.required,
            log_failures=host.told,
            hidden_tools=host.hidden_tools,
            own_modules=host.own_modules,
        )

    def _stored(self) -> SessionStore:
        if self.store is None:
            raise SessionError("these sessions are not stored", fix="prepare the bundle with a store")
        return self.store


class BundleHere(Record, repr=False):
    """A bundle that was loaded here, and what it was loaded with."""

    request: LoadRequest
    loaded: LoadedBundle


async def load_here(
    workspace: Workspace,
    source: str | None = None,
    *,
    offline: bool = False,
    frozen: bool = False,
    strict: bool = True,
) -> BundleHere:
    """Load a bundle as a command does: with the settings, names and lock file of this place."""
    request = request_here(workspace, source, offline=offline, frozen=frozen, strict=strict)
    return BundleHere(request, await load(request))


async def prepare_loaded(
    workspace: Workspace,
    here: BundleHere,
    *,
    install: bool = True,
    keep: bool = True,
    progress: Progress = tell_nobody,
    adapt: Callable[[dict[str, Any]], dict[str, Any]] = dict,
) -> Prepared:
    """Bring the modules of a loaded bundle here. `adapt` may change the mount plan before that."""
    request, bundle = here.request, here.loaded.bundle
    native = {ALLOW_NATIVE: "1"} if home_allows_native(workspace.home) else {}
    modules = await prepare(
        PrepareRequest(
            bundle=bundle,
            plan=adapt(dict(mount_plan(bundle))),
            cache_dir=request.cache_dir,
            environment={**request.environment, **native},
            base=request.base,
            install=install,
            offline=request.offline,
            strict=request.strict,
            progress=progress,
        )
    )
    store = SessionStore(workspace.home.root / "sessions") if keep else None
    return Prepared(workspace, here.loaded, modules, store)


async def prepare_here(
    workspace: Workspace,
    source: str | None = None,
    *,
    offline: bool = False,
    frozen: bool = False,
    install: bool = True,
    strict: bool = True,
    keep: bool = True,
    progress: Progress = tell_nobody,
) -> Prepared:
    """Load and prepare a bundle as a command does."""
    here = await load_here(workspace, source, offline=offline, frozen=frozen, strict=strict)
    return await prepare_loaded(workspace, here, install=install, keep=keep, progress=progress)


async def prepare_bundle(
    source: str | None = None, *, offline: bool = False, install: bool = True, keep: bool = True
) -> Prepared:
    """Prepare a bundle by name, address or path, here: `sessions/` of our home keeps what is said."""
    workspace = await asyncio.to_thread(open_workspace)
    return await prepare_here(workspace, source, offline=offline, install=install, keep=keep)
