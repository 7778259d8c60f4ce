"""Lock, compare, update and clean up the sources of a bundle."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from amplihack.app.bundles.command_request import names_here
from amplihack.app.bundles.load import LoadedBundle, LoadRequest, load, open_sources
from amplihack.app.workspace import Workspace
from amplihack.bundles.composition import SkippedInclude
from amplihack.bundles.errors import BundleDependencyError, BundleError, caused_by
from amplihack.bundles.lock import Drift, pins_of
from amplihack.bundles.module_sources import NamedSource, module_sources, named_sources
from amplihack.bundles.uris import address_inside, canonical, parse_uri
from amplihack.errors import AmplihackError, Problem
from amplihack.records import Record, replace
from amplihack.system.bundle_lock import (
    LOCK_FILE,
    lock_drift,
    lock_modules,
    lock_of,
    moved_modules,
    stored_lock,
    write_lock,
)
from amplihack.system.sources import CleanReport, Sources, SourceStatus, UpdateReport
from amplihack.system.sources.errors import SourceError
from amplihack.system.sources.status import OFFLINE


class Locked(Record):
    path: Path
    sources: int
    problems: tuple[Problem, ...]


async def lock(request: LoadRequest) -> Locked:
    """Write the lock file. Raises BundleError when something cannot be locked, unless that is allowed."""
    loaded = await load(request)
    async with open_sources(request) as sources:
        modules, failed = await lock_modules(sources, loaded.bundle)
    named = named_sources(loaded.bundle) if failed else {}
    problems = tuple(_unlocked(error, named.get(source)) for source, error in failed.items())
    if problems and request.strict:
        what = "; ".join(each.what for each in problems)
        unlocked = BundleDependencyError(what, where=problems[0].where, fix=problems[0].fix, found=problems)
        raise caused_by(unlocked, tuple(failed.values()))
    made = await asyncio.to_thread(lock_of, loaded.closure, modules, request.base)
    path = await asyncio.to_thread(write_lock, made, request.base)
    left = tuple(replace(problem, severity="warning") for problem in problems)
    return Locked(path, len(made.entries), (*loaded.problems, *left))


def _unlocked(error: AmplihackError, named: NamedSource | None) -> Problem:
    told = (named or NamedSource("a module", None)).told(error, "module-not-locked")
    return replace(told, what=f"a module cannot be locked: {told.what}")


class Status(Record):
    """How the closure compares with the lock file, and with where it came from."""

    locked: bool
    drift: tuple[Drift, ...]
    sources: tuple[SourceStatus, ...]
    problems: tuple[Problem, ...]

    @property
    def exit_code(self) -> int:
        """Return 1 if something is not as it was locked, or a source cannot be compared with its origin."""
        unknown = any(each.error not in (None, OFFLINE) for each in self.sources)
        return AmplihackError.exit_code if self.drift or unknown else 0


async def status(request: LoadRequest) -> Status:
    loaded = await load(request)
    async with open_sources(request) as sources:
        statuses = await sources.status(_fetched(loaded), ask_tags=True)
    locked = (request.base / LOCK_FILE).is_file()
    differences: tuple[Drift, ...] = ()
    if locked:
        differences = await asyncio.to_thread(_differences, request.base, loaded, statuses)
    return Status(locked, differences, statuses, loaded.problems)


def _differences(
    directory: Path, loaded: LoadedBundle, statuses: Iterable[SourceStatus]
) -> tuple[Drift, ...]:
    """Return how bundles and modules differ from the lock; modules by the version that is cached."""
    found = lock_drift(directory, loaded.closure)
    known = {(each.uri, each.change) for each in found}
    moved = (each for each in moved_modules(directory, statuses) if (each.uri, each.change) not in known)
    return (*found, *moved)


def _fetched(loaded: LoadedBundle) -> tuple[str, ...]:
    """Return every source that comes from elsewhere, whole: bundles, then modules."""
    bundles = (node.uri for node in loaded.nodes.values() if not node.is_local)
    modules = (each for each in module_sources(loaded.bundle) if not _is_here(each))
    return tuple(dict.fromkeys(address_inside(each, "") for each in (*bundles, *modules)))


def _is_here(source: str) -> bool:
    parsed = parse_uri(source)
    return parsed.is_file or parsed.is_package


class Updated(Record):
    reports: tuple[UpdateReport, ...]
    problems: tuple[Problem, ...]
    leaves_lock: bool = False  # whether there is a lock file, and something is newer now than what it holds
    is_whole: bool = True  # whether every include can be had now


async def update(request: LoadRequest) -> Updated:
    """Fetch what is new for every source of the include graph and of modules; a failure changes nothing.

    What is new may include more: that is fetched too, until nothing more is found. A bundle that cannot be
    loaded as it is may be repaired by what is new, and so may one that it includes, so what fails now is only
    told at the end. An include that cannot be had even then has failed too: what it would bring is not up to
    date.
    """
    done: dict[str, UpdateReport] = {}
    while True:
        used = await _used_sources(replace(request, strict=False), done)
        wanted = [uri for uri in used.sources if uri not in done]
        if not wanted:
            reports = (*done.values(), *_unfetched(used.skipped, done))
            is_locked = await asyncio.to_thread((request.base / LOCK_FILE).is_file)
            is_newer = any(each.outcome == "updated" for each in reports)
            return Updated(reports, used.problems, is_locked and is_newer, not used.skipped)
        async with open_sources(request) as sources:
            fetched = await asyncio.gather(*(sources.update(uri) for uri in wanted))
        done.update(zip(wanted, fetched, strict=True))


class _Used(Record):
    """The sources of a bundle, and the includes that are none because they failed."""

    sources: tuple[str, ...]
    problems: tuple[Problem, ...]
    skipped: tuple[SkippedInclude, ...] = ()


async def _used_sources(request: LoadRequest, done: Mapping[str, UpdateReport]) -> _Used:
    """Return the sources that a bundle uses; if it cannot be loaded, its own, unless that was tried."""
    try:
        loaded = await load(request)
    except BundleError as error:
        own = await asyncio.to_thread(_remote_address, request)
        if own is None or (own in done and done[own].outcome != "failed"):
            raise
        return _Used((own,), error.problems)
    skipped = (each for whole in (loaded.composition, *loaded.policies) for each in whole.skipped)
    broken = [address_inside(uri, "") for uri in loaded.failed if not _is_here(uri)]
    async with open_sources(request) as sources:
        here = [uri for uri in broken if await sources.is_cached(uri)]
    return _Used(tuple(dict.fromkeys((*_fetched(loaded), *here))), loaded.problems, tuple(skipped))


def _unfetched(skipped: Iterable[SkippedInclude], done: Mapping[str, UpdateReport]) -> Iterator[UpdateReport]:
    """Report includes that could not be had, each once; why is told with the place that includes them."""
    tried, told = {canonical(uri) for uri in done}, set[str]()
    for each in skipped:
        if each.source not in told and address_inside(each.address, "") not in tried:
            told.add(each.source)
            error = SourceError(each.reason, fix=each.error.fix if each.error is not None else "")
            yield UpdateReport(uri=each.source, outcome="failed", error=error)


def _remote_address(request: LoadRequest) -> str | None:
    """Return where a bundle is fetched from, as far as its name tells; None if it is not."""
    source = request.source
    known = request.names.lookup(source.partition(":")[0])
    parsed = parse_uri(known.uri if known and "://" not in source else source)
    return None if parsed.is_file or parsed.is_package else address_inside(str(parsed), "")


async def clean(workspace: Workspace, *, dry_run: bool) -> CleanReport:
    """Remove cached sources that no bundle with a name, and not the lock file of this directory, uses.

    Of what is locked, both the locked version and the current one stay.

    And environments for modules that nobody can use any more, or has used for long.
    """
    names = await asyncio.to_thread(names_here, workspace)
    # Only names that were registered or configured: a folder's bundles are not in the cache.
    keep = [known.uri for known in names.every() if known.source in ("settings", "registry")]
    if (workspace.directory / LOCK_FILE).is_file():
        stored = await asyncio.to_thread(stored_lock, workspace.directory)
        keep += [*(entry.uri for entry in stored.entries), *pins_of(stored).values()]
    cache = Sources(
        workspace.home.root / "cache",
        environment=workspace.environment,
        base_path=workspace.directory,
        offline=True,
    )
    async with cache as sources:
        report: CleanReport = await asyncio.to_thread(sources.clean, keep=keep, dry_run=dry_run)
    from amplihack.system.modules.cleaning import clean_environments  # slow, and only cleaning needs it

    gone = await asyncio.to_thread(clean_environments, workspace.home.root / "cache", dry_run=dry_run)
    return replace(report, removed=(*report.removed, *gone))
