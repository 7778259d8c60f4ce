"""Find sessions by id, time, words or health, below `<root>/<project>/sessions/<id>`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypedDict

from amplihack.records import Record
from amplihack.sessions.diagnosis import diagnose_transcript
from amplihack.sessions.events import moment
from amplihack.sessions.messages import count_turns
from amplihack.system.transcripts.store import (
    METADATA_FILENAME,
    TRANSCRIPT_FILENAME,
    load_metadata,
    load_transcript,
    read_jsonl,
)

_LABELS = frozenset({"role", "type"})  # whose values are not the words of a conversation
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class SessionEntry(TypedDict):
    session_id: str
    path: Path
    project: str
    created: str | None
    bundle: str | None
    model: str | None


class SessionInfo(SessionEntry):
    turn_count: int
    status: str
    failure_modes: list[str]


class SessionFilter(Record):
    """The search criteria. Times are ISO 8601, both ends included."""

    project: str | None = None
    after: str | None = None
    before: str | None = None
    keyword: str | None = None
    status: str | None = None


_EVERYTHING = SessionFilter()


def resolve_session(ref: str, *, sessions_root: Path, project: str | None = None) -> Path:
    """Return the directory of the session with that path, id, or id prefix.

    Raises FileNotFoundError when there is none, and ValueError when there are several.
    """
    if Path(ref).is_absolute():
        if _is_session(Path(ref)):
            return Path(ref)
        raise FileNotFoundError(f"{ref} is no session: it has no {METADATA_FILENAME}")
    paths = [path for path in _directories(sessions_root, project) if ref and path.name.startswith(ref)]
    exact = [path for path in paths if path.name == ref]
    found = exact or paths
    if not found:
        raise FileNotFoundError(f"no session {ref!r} in {sessions_root}")
    if len(found) > 1:
        listed = ", ".join(f"{_project(path)}/{path.name}" for path in found)
        raise ValueError(f"{ref!r} is ambiguous: it may be {listed}")
    return found[0]


def find_sessions(
    *, sessions_root: Path, matching: SessionFilter = _EVERYTHING, limit: int | None = 50
) -> list[SessionEntry]:
    """Return the matching sessions, newest first. Unreadable metadata is skipped.

    Raises ValueError for an invalid time.
    """
    after, before = _bound(matching.after), _bound(matching.before)
    entries = [entry for path in _directories(sessions_root, matching.project) if (entry := _entry(path))]
    dated = [(moment(entry["created"]), entry) for entry in entries]
    chosen = [(at, entry) for at, entry in dated if _between(at, after, before)]
    chosen.sort(key=lambda pair: pair[1]["session_id"])
    chosen.sort(key=lambda pair: pair[0] or _LONG_AGO, reverse=True)
    found: list[SessionEntry] = []
    for _, entry in chosen:
        if limit is not None and len(found) >= limit:
            break
        if _has_words(entry["path"], matching.keyword) and _has_status(entry["path"], matching.status):
            found.append(entry)
    return found


def session_info(session_dir: Path) -> SessionInfo:
    """Return everything known about a session, with its health. Raises FileNotFoundError or ValueError."""
    metadata = load_metadata(session_dir)
    messages = _messages(session_dir)
    diagnosis = diagnose_transcript(messages)
    return {
        **_described(session_dir, metadata),
        "turn_count": count_turns(messages),
        "status": diagnosis["status"],
        "failure_modes": diagnosis["failure_modes"],
    }


def _directories(root: Path, project: str | None) -> Iterator[Path]:
    pattern = "*/sessions/*"
    for path in sorted(root.glob(pattern)) if root.is_dir() else ():
        hidden = path.name.startswith(".")  # a fork that is being written
        if not hidden and (project is None or _project(path) == project) and _is_session(path):
            yield path


def _is_session(path: Path) -> bool:
    return (path / METADATA_FILENAME).is_file()


def _project(path: Path) -> str:
    return path.parent.parent.name


def _entry(path: Path) -> SessionEntry | None:
    try:
        return _described(path, load_metadata(path))
    except (OSError, ValueError):
        return None


def _described(path: Path, metadata: dict[str, Any]) -> SessionEntry:
    return {
        "session_id": str(metadata.get("session_id") or path.name),
        "path": path,
        "project": _project(path),
        "created": metadata.get("created"),
        "bundle": metadata.get("bundle"),
        "model": metadata.get("model"),
    }


def _bound(text: str | None) -> datetime | None:
    if text is None:
        return None
    found = moment(text)
    if found is None:
        raise ValueError(f"{text!r} is no ISO 8601 date or time")
    return found


def _between(at: datetime | None, after: datetime | None, before: datetime | None) -> bool:
    if after is None and before is None:
        return True
    return at is not None and (after is None or at >= after) and (before is None or at <= before)


def _messages(path: Path) -> list[dict[str, Any]]:
    return load_transcript(path) if (path / TRANSCRIPT_FILENAME).exists() else []


def _has_status(path: Path, status: str | None) -> bool:
    return status is None or diagnose_transcript(_messages(path))["status"] == status


def _has_words(path: Path, keyword: str | None) -> bool:
    if keyword is None:
        return True
    transcript = path / TRANSCRIPT_FILENAME
    if not transcript.exists():
        return False
    wanted = keyword.casefold()
    return any(wanted in text.casefold() for message in read_jsonl(transcript) for text in _texts(message))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in _LABELS:
                yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
