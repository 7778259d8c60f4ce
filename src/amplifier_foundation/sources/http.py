"""Fetch files from the web."""

from __future__ import annotations

from amplifier_foundation.sources._handler import Handler
from amplihack.bundles.uris import ParsedURI

__all__ = ["HttpSourceHandler"]


class HttpSourceHandler(Handler):
    def can_handle(self, parsed: ParsedURI) -> bool:
        return parsed.is_http
