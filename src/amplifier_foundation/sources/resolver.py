"""Resolve an address with the first handler that accepts it."""

from __future__ import annotations

from pathlib import Path

from amplifier_foundation.paths.resolution import get_amplifier_home
from amplifier_foundation.sources.file import FileSourceHandler
from amplifier_foundation.sources.git import GitSourceHandler
from amplifier_foundation.sources.http import HttpSourceHandler
from amplifier_foundation.sources.protocol import ResolvedSource, SourceHandlerProtocol
from amplifier_foundation.sources.zip import ZipSourceHandler
from amplihack.bundles.errors import BundleNotFoundError, Subject
from amplihack.bundles.uris import parse_uri, shown

__all__ = ["SimpleSourceResolver"]


class SimpleSourceResolver:
    """Fetches into `cache_dir`, by default the one in Amplifier's home."""

    def __init__(self, cache_dir: Path | None = None, base_path: Path | None = None) -> None:
        self.cache_dir = cache_dir or get_amplifier_home() / "cache" / "bundles"
        self.base_path = base_path or Path.cwd()
        self._handlers: list[SourceHandlerProtocol] = [
            FileSourceHandler(base_path=self.base_path),
            GitSourceHandler(),
            ZipSourceHandler(),
            HttpSourceHandler(),
        ]

    def add_handler(self, handler: SourceHandlerProtocol) -> None:
        """Add a handler that is asked before all others."""
        self._handlers.insert(0, handler)

    async def resolve(self, uri: str) -> ResolvedSource:
        """Return where the source is on the disk. Raises BundleNotFoundError."""
        parsed = parse_uri(uri)
        for handler in self._handlers:
            if handler.can_handle(parsed):
                return await handler.resolve(parsed, self.cache_dir)
        what = f"No handler for URI: {shown(uri)}"
        raise BundleNotFoundError(what, fix="give an address or a path", subject=Subject(uri=shown(uri)))
