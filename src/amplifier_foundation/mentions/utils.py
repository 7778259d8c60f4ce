"""Show directories as text."""

from __future__ import annotations

from pathlib import Path

from amplihack.bundles import gathered_mentions
from amplihack.system.bundle_files import BundleFiles

__all__ = ["format_directory_listing"]


def format_directory_listing(path: Path) -> str:
    """List directories first, then files, each by name, ignoring case."""
    return gathered_mentions.format_directory_listing(str(path), BundleFiles().list(str(path)))
