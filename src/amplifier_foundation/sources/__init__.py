"""Fetch bundles and modules from their sources."""

from amplifier_foundation.sources.file import FileSourceHandler
from amplifier_foundation.sources.git import GitCloneTimeoutError, GitSourceHandler
from amplifier_foundation.sources.http import HttpSourceHandler
from amplifier_foundation.sources.protocol import (
    ResolvedSource,
    SourceHandlerProtocol,
    SourceHandlerWithStatusProtocol,
    SourceResolverProtocol,
    SourceStatus,
)
from amplifier_foundation.sources.resolver import SimpleSourceResolver
from amplifier_foundation.sources.zip import ZipSourceHandler

__all__ = [
    "FileSourceHandler",
    "GitCloneTimeoutError",
    "GitSourceHandler",
    "HttpSourceHandler",
    "ResolvedSource",
    "SimpleSourceResolver",
    "SourceHandlerProtocol",
    "SourceHandlerWithStatusProtocol",
    "SourceResolverProtocol",
    "SourceStatus",
    "ZipSourceHandler",
]
