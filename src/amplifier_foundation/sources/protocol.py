"""Define the protocol of a source handler, and its answers."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

from amplihack.bundles.uris import ParsedURI
from amplihack.system.sources.model import ResolvedSource, SourceStatus

__all__ = [
    "ResolvedSource",
    "SourceHandlerProtocol",
    "SourceHandlerWithStatusProtocol",
    "SourceResolverProtocol",
    "SourceStatus",
]


@runtime_checkable
class SourceHandlerProtocol(Protocol):
    def can_handle(self, parsed: ParsedURI) -> bool: ...

    async def resolve(self, parsed: ParsedURI, cache_dir: Path) -> ResolvedSource: ...


@runtime_checkable
class SourceHandlerWithStatusProtocol(SourceHandlerProtocol, Protocol):
    async def get_status(self, parsed: ParsedURI, cache_dir: Path) -> SourceStatus: ...

    async def update(self, parsed: ParsedURI, cache_dir: Path) -> ResolvedSource: ...


@runtime_checkable
class SourceResolverProtocol(Protocol):
    async def resolve(self, uri: str) -> ResolvedSource: ...
