"""Build the paths of a bundle's agents and context files."""

from __future__ import annotations

from pathlib import Path

from amplihack.bundles import roster
from amplihack.bundles.sections import context

__all__ = ["construct_agent_path", "construct_context_path"]


def construct_agent_path(base: Path, name: str) -> Path:
    return Path(roster.construct_agent_path(str(base), name))


def construct_context_path(base: Path, name: str) -> Path:
    """Return the path of a context file, which is named by its path below the bundle."""
    return Path(context.construct_context_path(str(base), name))
