"""Check whether any source of a bundle has changed at its origin, and fetch it."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from amplifier_foundation.bundle._dataclass import Bundle
from amplifier_foundation.bundle._translation import to_core
from amplifier_foundation.paths.resolution import get_amplifier_home
from amplifier_foundation.sources._handler import open_sources
from amplihack.bundles.foundation.source_list import repository, sources_of
from amplihack.system.sources import Sources, SourceStatus

__all__ = ["BundleStatus", "check_bundle_status", "update_bundle"]

_logger = logging.getLogger(__name__)


@dataclass
class BundleStatus:
    """All sources of a bundle compared with their origins."""

    bundle_name: str
    bundle_source: str | None
    sources: list[SourceStatus] = field(default_factory=list)

    @property
    def has_updates(self) -> bool:
        return bool(self.updateable_sources)

    @property
    def updateable_sources(self) -> list[SourceStatus]:
        return [each for each in self.sources if each.has_update is True]

    @property
    def up_to_date_sources(self) -> list[SourceStatus]:
        return [each for each in self.sources if each.has_update is False]

    @property
    def unknown_sources(self) -> list[SourceStatus]:
        return [each for each in self.sources if each.has_update is None]

    @property
    def summary(self) -> str:
        updates, unknown = len(self.updateable_sources), len(self.unknown_sources)
        current = len(self.up_to_date_sources)
        if updates:
            return f"{updates} update(s) available ({current} up to date, {unknown} unknown)"
        if unknown:
            return f"Up to date ({unknown} source(s) could not be checked)"
        return f"All {current} source(s) up to date"


async def check_bundle_status(bundle: Bundle, cache_dir: Path | None = None) -> BundleStatus:
    """Return the status of a bundle, its includes and their modules, without changing anything."""
    async with _open(cache_dir) as sources:
        statuses = await sources.status(_addresses(bundle))
    return BundleStatus(bundle.name, bundle._source_uri, list(statuses))


async def update_bundle(
    bundle: Bundle,
    cache_dir: Path | None = None,
    selective: Iterable[str] | None = None,
    install_deps: bool = True,
) -> Bundle:
    """Fetch what is new for all sources that have something new, or for the selected ones.

    Returns the same bundle. A source that cannot be updated stays as it is, and is logged. The dependencies
    of a module are installed when the bundle is next prepared, unless `install_deps` is off.
    """
    if selective is None:
        status = await check_bundle_status(bundle, cache_dir)
        wanted = {repository(each.source_uri) for each in status.updateable_sources}
    else:
        wanted = {repository(uri) for uri in selective}
    async with _open(cache_dir) as sources:
        for uri in _addresses(bundle):
            if repository(uri) in wanted:
                await _update(sources, uri, install_deps=install_deps)
    return bundle


async def _update(sources: Sources, uri: str, *, install_deps: bool) -> None:
    report = await sources.update(uri)
    if report.error is not None:
        _logger.warning("%s was not updated: %s", report.uri, report.error.what)
    elif report.outcome in ("fetched", "updated"):
        later = "; what it depends on is installed when the bundle is next prepared" if install_deps else ""
        _logger.info("%s: %s → %s%s", report.uri, report.before, report.after, later)


def _addresses(bundle: Bundle) -> tuple[str, ...]:
    """Return the bundle's own source first, then all others, each repository once."""
    found: dict[str, str] = {}
    for uri in (bundle._source_uri, *sources_of(to_core(bundle))):
        if uri:
            found.setdefault(repository(uri), uri)
    return tuple(found.values())


def _open(cache_dir: Path | None) -> Sources:
    return open_sources(cache_dir or get_amplifier_home() / "cache")
