"""Parse addresses, make paths absolute, and find Amplifier's home."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from amplihack.bundles import uris
from amplihack.bundles.uris import ParsedURI, parse_uri, strip_uri_drive_prefix
from amplihack.system.foundation.app_paths import amplifier_home, normalize_path
from amplihack.system.home import this_process
from amplihack.system.sources.model import ResolvedSource

__all__ = [
    "ParsedURI",
    "ResolvedSource",
    "describe_cross_platform_path_mismatch",
    "get_amplifier_home",
    "normalize_path",
    "parse_uri",
    "strip_uri_drive_prefix",
]

_SYSTEMS = {"darwin": "macOS", "linux": "Linux"}


def get_amplifier_home() -> Path:
    """Return `$AMPLIFIER_HOME`, else `~/.amplifier`."""
    return amplifier_home(*this_process())


def describe_cross_platform_path_mismatch(path: str) -> str | None:
    """Return why an absolute path of another system cannot be found here, or None."""
    system = "Windows" if os.name == "nt" else _SYSTEMS.get(sys.platform, sys.platform)
    return uris.describe_cross_platform_path_mismatch(path, system)
