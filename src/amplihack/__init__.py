"""Package, compose and run AI-agent work."""

from __future__ import annotations

from amplihack.version import __version__

__all__ = ["__version__"]
