"""The sources of a bundle over time: locked, compared, updated and cleaned up."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from amplihack.app.bundles.locking import (
    LOCK_FILE,
    lock_drift,
    lock_of,
    remote_sources,
    stored_lock,
    write_lock,
)
from amplihack.app.bundles.modules import lock_modules, module_sources
from amplihack.app.bundles.opening import (
    Asked,
    Ready,
    name_table,
    open_bundle,
    open_sources,
    remote_address,
)
from amplihack.app.bundles.settings_files import read_settings
from amplihack.app.workspace import Workspace
from amplihack.bundles.errors import BundleDependencyError, BundleError
from amplihack.bundles.lock import Drift
from amplihack.bundles.uris import parse_uri, without_fragment
from amplihack.errors import Problem
from amplihack.system.sources import CleanReport, SourceStatus, UpdateReport


@dataclass(frozen=True, slots=True)
class Locked:
    path: Path
    sources: int
    problems: tuple[Problem, ...]


async def lock(workspace: Workspace, asked: Asked) -> Locked:
    """Writes the lock file. Raises BundleError when something cannot be locked, unless that is allowed."""
    ready = await open_bundle(workspace, asked)
    async with open_sources(workspace, offline=asked.offline) as sources:
        modules, errors = await lock_modules(sources, ready.bundle)
    problems = tuple(
        Problem(f"a module cannot be locked: {error.what}", None, error.fix, code="module-not-locked")
        for error in errors
    )
    if problems and asked.strict:
        raise BundleDependencyError("modules cannot be locked", found=problems)
    made = await asyncio.to_thread(lock_of, ready.closure, modules, workspace.directory)
    path = await asyncio.to_thread(write_lock, made, workspace.directory)
    left = tuple(replace(problem, severity="warning") for problem in problems)
    return Locked(path, len(made.entries), (*ready.problems, *left))


@dataclass(frozen=True, slots=True)
class Status:
    """How the closure compares with the lock file, and with where it came from."""

    locked: bool
    drift: tuple[Drift, ...]
    sources: tuple[SourceStatus, ...]
    problems: tuple[Problem, ...]


async def status(workspace: Workspace, asked: Asked) -> Status:
    ready = await open_bundle(workspace, asked)
    async with open_sources(workspace, offline=asked.offline) as sources:
        statuses = await sources.status(_fetched(ready))
    locked = (workspace.directory / LOCK_FILE).is_file()
    differences: tuple[Drift, ...] = ()
    if locked:
        differences = await asyncio.to_thread(lock_drift, workspace.directory, ready.closure)
    return Status(locked, differences, statuses, ready.problems)


def _fetched(ready: Ready) -> tuple[str, ...]:
    """Every source that comes from elsewhere: bundles, then modules."""
    modules = (each for each in module_sources(ready.bundle) if parse_uri(each).is_git)
    return tuple(
        dict.fromkeys((*remote_sources(ready.nodes.values()), *(without_fragment(each) for each in modules)))
    )


@dataclass(frozen=True, slots=True)
class Updated:
    reports: tuple[UpdateReport, ...]
    problems: tuple[Problem, ...]


async def update(workspace: Workspace, asked: Asked) -> Updated:
    """Fetches what is new for every source of the include graph; a failure changes nothing.

    What is new may include more: that is fetched too, until nothing more is found. A bundle that cannot be
    loaded as it is may be repaired by what is new, so what fails now is only told at the end.
    """
    done: dict[str, UpdateReport] = {}
    while True:
        used, problems = await _used_sources(workspace, replace(asked, strict=False), done)
        wanted = [uri for uri in used if uri not in done]
        if not wanted:
            return Updated(tuple(done.values()), problems)
        async with open_sources(workspace, offline=asked.offline) as sources:
            reports = await asyncio.gather(*(sources.update(uri) for uri in wanted))
        done.update(zip(wanted, reports, strict=True))


async def _used_sources(
    workspace: Workspace, asked: Asked, done: Mapping[str, UpdateReport]
) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """The sources that a bundle uses; if it cannot be loaded at all, its own, unless that was tried."""
    try:
        ready = await open_bundle(workspace, asked)
    except BundleError as error:
        own = await asyncio.to_thread(remote_address, workspace, asked)
        if own is None or (own in done and done[own].outcome != "failed"):
            raise
        return (own,), error.problems
    return remote_sources(ready.nodes.values()), ready.problems


async def clean(workspace: Workspace, *, dry_run: bool) -> CleanReport:
    """Removes cached sources that no bundle with a name, and not the lock file of this directory, uses."""
    names = await asyncio.to_thread(lambda: name_table(workspace, read_settings(workspace)))
    keep = [known.uri for known in names.every() if known.source in ("settings", "registry")]
    if (workspace.directory / LOCK_FILE).is_file():
        stored = await asyncio.to_thread(stored_lock, workspace.directory)
        keep += [entry.uri for entry in stored.entries]
    async with open_sources(workspace, offline=True) as sources:
        return await asyncio.to_thread(sources.clean, keep=keep, dry_run=dry_run)
