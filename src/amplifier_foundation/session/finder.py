"""Find sessions, by default in Amplifier's home."""

from __future__ import annotations

from pathlib import Path

from amplifier_foundation.paths.resolution import get_amplifier_home
from amplihack.system.transcripts import finder
from amplihack.system.transcripts.finder import SessionEntry, SessionFilter, session_info

__all__ = ["find_sessions", "resolve_session", "session_info"]


def resolve_session(ref: str, *, sessions_root: Path | None = None, project: str | None = None) -> Path:
    """Return the directory of the session with that path, id, or id prefix."""
    return finder.resolve_session(ref, sessions_root=sessions_root or _default_root(), project=project)


def find_sessions(
    *,
    sessions_root: Path | None = None,
    project: str | None = None,
    after: str | None = None,
    before: str | None = None,
    keyword: str | None = None,
    status: str | None = None,
    limit: int | None = 50,
) -> list[SessionEntry]:
    """Return the matching sessions, newest first."""
    matching = SessionFilter(project, after, before, keyword, status)
    return finder.find_sessions(
        sessions_root=sessions_root or _default_root(), matching=matching, limit=limit
    )


def _default_root() -> Path:
    return get_amplifier_home() / "projects"
