"""Offer a prepared bundle: sessions of it, child sessions, and what they cost."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from amplihack.sessions import costs
from amplihack.sessions.costs import CostReader, CostTaker, sum_cost_usd

if TYPE_CHECKING:
    from amplifier_foundation.bundle._dataclass import Bundle
    from amplihack.app.sessions.opening import Opening, SessionSpec
    from amplihack.app.sessions.prepare import PreparedModules
    from amplihack.system.kernel.resolver import BundleModuleResolver, BundleModuleSource

__all__ = [
    "BundleModuleResolver",
    "BundleModuleSource",
    "PreparedBundle",
    "SessionPreInitializer",
    "bridge_child_cost",
    "sum_cost_usd",
]

_logger = logging.getLogger(__name__)
SessionPreInitializer: TypeAlias = Callable[[Any], Awaitable[None]]


def __getattr__(name: str) -> object:
    if name in ("BundleModuleResolver", "BundleModuleSource"):
        from amplihack.system.kernel import resolver

        return getattr(resolver, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@dataclass
class PreparedBundle:
    """A bundle whose modules are here. The plan may be changed until a session is opened with it."""

    mount_plan: dict[str, Any]
    resolver: Any
    bundle: Bundle
    bundle_package_paths: list[str] = field(default_factory=list)
    mode_warnings: list[str] = field(default_factory=list)
    module_exports: dict[str, Any] = field(default_factory=dict)
    effective_sources: dict[str, str] = field(default_factory=dict)
    _modules: PreparedModules | None = field(default=None, repr=False, compare=False)

    def create_session(
        self,
        session_id: str | None = None,
        parent_id: str | None = None,
        approval_system: Any = None,
        display_system: Any = None,
        session_cwd: Path | str | None = None,
        is_resumed: bool = False,
        before_initialize: SessionPreInitializer | None = None,
    ) -> Opening:
        """Open a session: `await` it, or use it with `async with`, which closes it.

        Nothing is shared with other sessions of this bundle. `before_initialize` gets the kernel's session
        before any module is mounted; what it raises is raised.
        """
        from amplihack.app.sessions.opening import Opening, open_session
        from amplihack.app.sessions.spawning import with_spawning
        from amplihack.records import replace

        spec = replace(
            self._spec(self.bundle, session_cwd),
            session_id=session_id,
            parent_id=parent_id,
            approval_system=approval_system,
            display_system=display_system,
            is_resumed=is_resumed,
            before=before_initialize,
        )

        return Opening(lambda: open_session(with_spawning(spec)))

    async def spawn(
        self,
        child_bundle: Bundle,
        instruction: str,
        *,
        compose: bool = True,
        parent_session: Any = None,
        session_id: str | None = None,
        orchestrator_config: dict[str, Any] | None = None,
        parent_messages: list[dict[str, Any]] | None = None,
        session_cwd: Path | str | None = None,
        provider_preferences: Sequence[Any] | None = None,
        self_delegation_depth: int = 0,
        agent_name: str | None = None,
        tool_inheritance: dict[str, Any] | None = None,
        hook_inheritance: dict[str, Any] | None = None,
        session_metadata: dict[str, Any] | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - a name that programs know
        on_child_initialized: Callable[[Any], Any] | None = None,
        before_initialize: SessionPreInitializer | None = None,
    ) -> dict[str, Any]:
        """Run a child session with an instruction; the spawn policy of this bundle holds for it.

        Returns `output`, `session_id`, `status`, `turn_count` and `metadata`.
        """
        from amplifier_foundation.bundle._translation import to_core
        from amplihack.app.sessions.agent_plans import as_listed, child_of
        from amplihack.app.sessions.child import ChildRequest, run_child
        from amplihack.app.sessions.spawning import with_spawning
        from amplihack.app.sessions.wished_models import wished_models
        from amplihack.records import replace

        whole = self.bundle.compose(child_bundle) if compose else child_bundle
        asked = {"tools": tool_inheritance, "hooks": hook_inheritance}
        spec, plan = self._spec(whole, session_cwd), child_bundle.to_mount_plan()
        spec = child_of(spec, plan, asked, child_bundle.name) if compose else replace(spec, plan=plan)
        spec = replace(spec, before=before_initialize)
        agent = agent_name or child_bundle.name
        spec = replace(spec, bundle=lambda: as_listed(to_core(whole), to_core(self.bundle), agent))
        request = ChildRequest(
            spec=spec,
            instruction=instruction,
            agent=agent,
            session_id=session_id,
            messages=parent_messages if session_id is None else None,
            preferences=wished_models(list(provider_preferences or ())),
            orchestrator_config=orchestrator_config,
            metadata=session_metadata,
            self_delegation_depth=self_delegation_depth,
            working_dir=Path(session_cwd) if session_cwd is not None else None,
            seconds=timeout,
            on_initialized=on_child_initialized,
            offer=with_spawning,
        )
        return (await run_child(parent_session, request)).to_dict()

    def register_spawn(self, session: Any, policy: dict[str, Any] | None = None) -> None:
        """Offer `session.spawn` and `session.resume` to the modules of a session, under another policy."""
        from amplihack.app.sessions.spawning import with_spawning
        from amplihack.records import replace

        spec = self._spec(self.bundle, None)
        plan = {**self.mount_plan, **({"spawn": policy} if policy is not None else {})}
        offering = with_spawning(replace(spec, plan=plan, capabilities={}))
        for name, value in offering.capabilities.items():
            session.coordinator.register_capability(name, value)
        if offering.on_open is not None:
            offering.on_open(session)

    def _spec(self, bundle: Bundle, session_cwd: Path | str | None) -> SessionSpec:
        """Return what every session of a bundle has in common."""
        from amplifier_foundation.bundle._translation import to_core
        from amplifier_foundation.mentions.deduplicator import ContentDeduplicator
        from amplihack.app.sessions.opening import SessionSpec
        from amplihack.bundles.mentions import MentionScope
        from amplihack.system.files import real
        from amplihack.system.home import this_process

        environment, cwd = this_process()
        directory = real(Path(session_cwd or bundle.base_path or cwd))
        return SessionSpec(
            plan=self.mount_plan,
            bundle=lambda: to_core(bundle),
            resolver=self.resolver,
            package_paths=self.bundle_package_paths,
            working_dir=directory,
            scope=MentionScope(bases=(str(directory),), home=environment.get("HOME")),
            capabilities={
                "mention_resolver": _mention_resolver(bundle, directory),
                "mention_deduplicator": ContentDeduplicator(),
            },
            allow_partial=True,
            log_failures=_logger.warning,
            told=frozenset(self._modules.failed) if self._modules is not None else frozenset(),
        )


def _mention_resolver(bundle: Bundle, directory: Path) -> Any:
    from amplifier_foundation.mentions.resolver import BaseMentionResolver

    names = {bundle.name: bundle, **dict.fromkeys(bundle.source_base_paths, bundle)}
    return BaseMentionResolver({name: each for name, each in names.items() if name}, directory)


async def prepare_bundle(
    bundle: Bundle,
    *,
    install_deps: bool,
    source_resolver: Callable[[str, str], str] | None,
    progress_callback: Callable[[str, str], None] | None,
    strict: bool,
) -> PreparedBundle:
    """Bring the modules of a bundle here. Failures are logged, or with `strict` raised as one error."""
    import asyncio  # deferred: most names of this package need no event loop

    from amplifier_foundation.bundle._translation import to_core
    from amplifier_foundation.paths.resolution import get_amplifier_home
    from amplihack.app.sessions.prepare import PrepareRequest, prepare
    from amplihack.system.home import this_process
    from amplihack.system.modules.activation import tell_nobody

    environment, cwd = this_process()
    plan = await asyncio.to_thread(_read_agents, bundle)
    found = await prepare(
        PrepareRequest(
            bundle=to_core(bundle),
            plan=plan,
            cache_dir=get_amplifier_home() / "cache",
            environment=environment,
            base=bundle.base_path or cwd,
            install=install_deps,
            strict=strict,
            redirect=source_resolver,
            progress=progress_callback or tell_nobody,
        )
    )
    for problem in found.problems:
        _logger.warning("%s%s", problem.what, f" ({problem.fix})" if problem.fix else "")
    return PreparedBundle(
        mount_plan=plan,
        resolver=found.resolver,
        bundle=bundle,
        bundle_package_paths=found.package_paths,
        mode_warnings=await asyncio.to_thread(bundle.validate_modes),
        module_exports=_exports(found.activator.packages),
        effective_sources=dict(found.activator.effective_sources),
        _modules=found,
    )


def _read_agents(bundle: Bundle) -> dict[str, Any]:
    """Return the plan with what the agents' files say; import what opening a session will need."""
    from amplifier_foundation.mentions import resolver  # noqa: F401 - not on the event loop, where it is used
    from amplihack.app.sessions import spawning  # noqa: F401 - likewise

    bundle.load_agent_metadata()
    return bundle.to_mount_plan()


def _exports(packages: Mapping[str, Any]) -> dict[str, Any]:
    """Return where each module lies, and the package that it is imported as."""
    return {name: {"path": str(each.root), "package": each.package} for name, each in packages.items()}


async def bridge_child_cost(
    child_coordinator: CostReader, parent_coordinator: CostTaker, child_session_id: str
) -> None:
    """Let the parent report what the child has cost so far; never raises."""
    await costs.bridge_child_cost(
        child_coordinator, parent_coordinator, child_session_id, warn=_logger.warning
    )
