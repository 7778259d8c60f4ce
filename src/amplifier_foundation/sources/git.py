"""Fetch repositories."""

from __future__ import annotations

from amplifier_foundation.sources._handler import Handler
from amplihack.bundles.uris import ParsedURI
from amplihack.system.sources.errors import GitCloneTimeoutError

__all__ = ["GitCloneTimeoutError", "GitSourceHandler"]


class GitSourceHandler(Handler):
    def can_handle(self, parsed: ParsedURI) -> bool:
        return parsed.is_git
