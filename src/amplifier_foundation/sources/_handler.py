"""Share the code of the four handlers: each asks amplihack's sources."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

from amplihack.bundles.uris import ParsedURI, print_uri
from amplihack.system.home import this_process
from amplihack.system.sources import ResolvedSource, Sources, SourceStatus

_logger = logging.getLogger(__name__)


class Handler:
    """Fetches a source into a cache directory. Relative paths start at `base_path`."""

    def __init__(self, base_path: Path | None = None) -> None:
        self.base_path = base_path

    async def resolve(self, parsed: ParsedURI, cache_dir: Path) -> ResolvedSource:
        """Return where the source is on the disk, fetched if needed. Raises BundleNotFoundError."""
        async with open_sources(cache_dir, self.base_path) as sources:
            return await sources.resolve(_address(parsed))

    async def get_status(self, parsed: ParsedURI, cache_dir: Path) -> SourceStatus:
        """Compare the cached source with its origin, without changing anything."""
        async with open_sources(cache_dir, self.base_path) as sources:
            (status,) = await sources.status([_address(parsed)])
            return status

    async def update(self, parsed: ParsedURI, cache_dir: Path) -> ResolvedSource:
        """Fetch what is new. On failure the old copy stays and the error is raised."""
        async with open_sources(cache_dir, self.base_path) as sources:
            report = await sources.update(_address(parsed))
            if report.error is not None:
                raise report.error
            return await sources.resolve(_address(parsed))


def open_sources(cache_dir: Path, base_path: Path | None = None) -> Sources:
    """Return sources for this process. Relative paths start at `base_path`, else the current directory."""
    environment, cwd = this_process()
    return Sources(cache_dir, environment=environment, base_path=base_path or cwd, warn=_logger.warning)


def _address(parsed: ParsedURI) -> str:
    """Return the address as text. A repository without a ref means the current one of its server."""
    return print_uri(replace(parsed, ref="HEAD") if parsed.is_git and not parsed.ref else parsed)
