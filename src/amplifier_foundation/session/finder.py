"""Sessions found; unless told otherwise, those in Amplifier's home."""

from __future__ import annotations

from pathlib import Path

from amplifier_foundation.paths.resolution import get_amplifier_home
from amplihack.system.foundation.transcripts import finder
from amplihack.system.foundation.transcripts.finder import SessionEntry, SessionFilter, session_info

__all__ = ["find_sessions", "resolve_session", "session_info"]


def resolve_session(ref: str, *, sessions_root: Path | None = None, project: str | None = None) -> Path:
    """The directory of the session with that path, id, or beginning of an id."""
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
    """The sessions that match, newest first."""
    matching = SessionFilter(project, after, before, keyword, status)
    return finder.find_sessions(
        sessions_root=sessions_root or _default_root(), matching=matching, limit=limit
    )


def _default_root() -> Path:
    return get_amplifier_home() / "projects"
