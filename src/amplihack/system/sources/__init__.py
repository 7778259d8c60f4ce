"""Fetch the sources of bundles and keep them on the disk."""

from amplihack.system.sources.cleaning import CleanReport
from amplihack.system.sources.hashing import content_hash
from amplihack.system.sources.model import (
    CacheEntry,
    FetchLimits,
    ResolvedSource,
    SourceStatus,
    UpdateReport,
)
from amplihack.system.sources.resolver import Sources

__all__ = [
    "CacheEntry",
    "CleanReport",
    "FetchLimits",
    "ResolvedSource",
    "SourceStatus",
    "Sources",
    "UpdateReport",
    "content_hash",
]
