"""Fork a session on disk: the new one is complete or not there at all."""

from __future__ import annotations

import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypedDict

from amplihack.records import Record
from amplihack.sessions.calls import Message
from amplihack.sessions.forks import Cut, ForkPreview, ForkResult, cut_at, new_id, preview_fork
from amplihack.sessions.lineage import SessionLineage, lineage_of
from amplihack.system.transcripts.event_files import slice_events_for_fork
from amplihack.system.transcripts.store import (
    EVENTS_FILENAME,
    METADATA_FILENAME,
    TRANSCRIPT_FILENAME,
    load_conversation,
    load_metadata,
    write_metadata,
    write_transcript,
)

# What an agent was, it stays in a fork: the policy for it holds, and so does its depth.
_CARRIED_OVER = ("bundle", "model", "provider", "working_dir", "agent_name", "asked", "depth")


class Fork(TypedDict):
    session_id: str
    session_dir: Path
    forked_from_turn: int
    forked_at: str | None


class ForkSource(Record):
    """A session to fork: what was said in it, and what is known of it."""

    directory: Path
    messages: list[Message]
    metadata: dict[str, Any]

    @property
    def session_id(self) -> str:
        return str(self.metadata.get("session_id") or self.directory.name)


def fork_session(
    session_dir: Path,
    *,
    turn: int | None = None,
    new_session_id: str | None = None,
    target_dir: Path | None = None,
    include_events: bool = True,
    handle_orphaned_tools: str = "complete",
) -> ForkResult:
    """Make a new session with the conversation up to a turn, or up to the last one.

    Raises FileNotFoundError without a transcript, FileExistsError when the id is taken, ValueError for an
    unknown turn. Events that cannot be cut leave an empty log.
    """
    metadata = load_metadata(session_dir) if (session_dir / METADATA_FILENAME).exists() else {}
    source = ForkSource(session_dir, load_conversation(session_dir), metadata)
    cut = cut_at(source.messages, turn, handle_orphaned_tools=handle_orphaned_tools)
    return write_fork(
        source, cut, new_session_id=new_session_id, target_dir=target_dir, include_events=include_events
    )


def write_fork(
    source: ForkSource,
    cut: Cut,
    *,
    new_session_id: str | None = None,
    target_dir: Path | None = None,
    include_events: bool = True,
) -> ForkResult:
    """Write a part of a conversation as a session of its own. Raises FileExistsError when the id is taken."""
    target = (target_dir or source.directory.parent) / _file_name(new_session_id or new_id())
    if target.exists():
        raise FileExistsError(f"there is a session {target.name} already: {target}")
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".fork-", dir=target.parent))
    try:
        result = _write(source, draft, target, cut, include_events=include_events)
        draft.rename(target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return result


def get_fork_preview(session_dir: Path, turn: int) -> ForkPreview:
    """Return what a fork at the turn would hold. Raises ValueError for an unknown turn."""
    return preview_fork(load_conversation(session_dir), turn, _identity(session_dir))


def list_session_forks(session_dir: Path, sessions_root: Path | None = None) -> list[Fork]:
    """Return the sessions in the same directory that were forked from this one, oldest first."""
    parent = _identity(session_dir)
    forks: list[Fork] = [
        {
            "session_id": str(data.get("session_id") or path.name),
            "session_dir": path,
            "forked_from_turn": data["forked_from_turn"],
            "forked_at": data.get("forked_at"),
        }
        for path, data in _all_metadata(sessions_root or session_dir.parent)
        if data.get("parent_id") == parent and isinstance(data.get("forked_from_turn"), int)
    ]
    return sorted(forks, key=lambda fork: (fork["forked_at"] or "", fork["session_id"]))


def get_session_lineage(session_dir: Path, sessions_root: Path | None = None) -> SessionLineage:
    """Return the session's parents and children in the same directory."""
    family = {
        str(data.get("session_id") or path.name): data
        for path, data in _all_metadata(sessions_root or session_dir.parent)
    }
    own = _identity(session_dir)
    if (session_dir / METADATA_FILENAME).exists():
        family[own] = load_metadata(session_dir)
    return lineage_of(own, family)


def _write(source: ForkSource, draft: Path, target: Path, cut: Cut, *, include_events: bool) -> ForkResult:
    write_transcript(draft, cut.messages)
    write_metadata(draft, _fork_metadata(source, target.name, cut))
    events = _copy_events(source, draft, target.name, cut.turn) if include_events else 0
    return ForkResult(
        target.name, target, source.session_id, cut.turn, len(cut.messages), events_count=events
    )


def _fork_metadata(source: ForkSource, session_id: str, cut: Cut) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat()
    return {
        "session_id": session_id,
        "parent_id": source.session_id,
        "forked_from_turn": cut.turn,
        "forked_at": now,
        "created": now,
        "turn_count": cut.turn,
        **{key: source.metadata[key] for key in _CARRIED_OVER if source.metadata.get(key) is not None},
    }


def _copy_events(source: ForkSource, draft: Path, session_id: str, turn: int) -> int:
    output = draft / EVENTS_FILENAME
    try:
        return slice_events_for_fork(
            source.directory / EVENTS_FILENAME,
            source.directory / TRANSCRIPT_FILENAME,
            turn,
            output,
            new_session_id=session_id,
            parent_session_id=source.session_id,
        )
    except (OSError, ValueError):  # no events, or no times to cut them by: the fork starts its own log
        output.touch(mode=0o600)
        return 0


def _identity(session_dir: Path) -> str:
    if not (session_dir / METADATA_FILENAME).exists():
        return session_dir.name
    return str(load_metadata(session_dir).get("session_id") or session_dir.name)


def _all_metadata(root: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Return the readable metadata of every session in the directory."""
    found: list[tuple[Path, dict[str, Any]]] = []
    for path in sorted(root.iterdir()) if root.is_dir() else ():
        if not path.name.startswith("."):  # a fork that is being written
            try:
                found.append((path, load_metadata(path)))
            except (OSError, ValueError):
                continue
    return found


def _file_name(session_id: str) -> str:
    if session_id in ("", ".", "..") or "/" in session_id or "\0" in session_id:
        raise ValueError(f"{session_id!r} cannot be a session's id: it names its directory")
    return session_id
