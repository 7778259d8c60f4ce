"""Fetch archives, local or from the web."""

from __future__ import annotations

from amplifier_foundation.sources._handler import Handler
from amplihack.bundles.uris import ParsedURI

__all__ = ["ZipSourceHandler"]


class ZipSourceHandler(Handler):
    def can_handle(self, parsed: ParsedURI) -> bool:
        return parsed.is_zip
