"""Prepare a bundle: bring its modules here, so that sessions can be opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from amplihack.bundles.model import Bundle
from amplihack.bundles.module_needs import module_needs
from amplihack.bundles.module_sources import named_sources
from amplihack.bundles.mount_plan import mount_plan
from amplihack.errors import AmplihackError, Problem
from amplihack.modules.table import MODULES
from amplihack.records import Record, field
from amplihack.system.kernel.resolver import BundleModuleResolver
from amplihack.system.modules.activation import (
    ActivationRequest,
    Activator,
    Progress,
    activation_error,
    tell_nobody,
)
from amplihack.system.sources import Sources


class PrepareRequest(Record, kw_only=True):
    """What to prepare, and how. `plan` is the bundle's own unless a program has changed it."""

    bundle: Bundle
    plan: Mapping[str, Any] | None = None
    cache_dir: Path
    environment: Mapping[str, str] = field(repr=False)
    base: Path
    install: bool = True
    offline: bool = False
    strict: bool = True  # a module that cannot be had is the failure of the whole
    redirect: Callable[[str, str], str] | None = None
    progress: Progress = tell_nobody
    python: Path | None = None
    constraints: Path | None = None


class PreparedModules(Record, repr=False):
    """A bundle whose modules are here. It holds on to their sources, so that nobody removes them."""

    bundle: Bundle
    plan: dict[str, Any]
    activator: Activator
    resolver: BundleModuleResolver
    sources: Sources
    failed: Mapping[str, AmplihackError]
    problems: tuple[Problem, ...]

    @property
    def package_paths(self) -> list[str]:
        return list(self.activator.package_paths)


async def prepare(request: PrepareRequest) -> PreparedModules:
    """Fetch, install and find the modules of a bundle, side by side. Raises ModuleActivationError."""
    plan = cast(dict[str, Any], request.plan if request.plan is not None else mount_plan(request.bundle))
    sources = Sources(
        request.cache_dir,
        environment=request.environment,
        base_path=request.base,
        offline=request.offline,
    )
    activator = _activator(request, sources)
    wanted = module_needs(plan)
    bundle = request.bundle
    roots = [bundle.base_path, *bundle.source_base_paths.values()] if request.install else []
    failed = await activator.activate_all(wanted.needs, [Path(each) for each in roots if each])
    if failed and request.strict:
        await sources.close()
        sources_here = named_sources(bundle)
        named = {
            need.module: sources_here[need.source] for need in wanted.needs if need.source in sources_here
        }
        raise activation_error(failed, len(wanted.needs), named)
    told = tuple(
        Problem(f"{name} is not available: {error.what}", error.where, error.fix, "warning", "module-failed")
        for name, error in failed.items()
    )
    problems = (*wanted.problems, *activator.problems, *told)
    sources_of = {need.module: need.source for need in wanted.needs}
    unfetched = {name: (sources_of[name], error) for name, error in failed.items() if name in sources_of}
    resolver = BundleModuleResolver({}, activator, unfetched)
    return PreparedModules(request.bundle, plan, activator, resolver, sources, failed, problems)


def _activator(request: PrepareRequest, sources: Sources) -> Activator:
    return Activator(
        ActivationRequest(
            sources=sources,
            cache_dir=request.cache_dir,
            variables=dict(request.environment),
            install=request.install,
            offline=sources.offline,
            redirect=request.redirect,
            progress=request.progress,
            python=request.python,
            constraints=request.constraints,
            base=request.base,
            shipped=frozenset(MODULES),
        )
    )
