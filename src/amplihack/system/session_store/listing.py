"""List the sessions that are kept, also those that a crash or a bad disk has left damaged."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias

from amplihack.errors import Problem
from amplihack.moments import calendar_moment
from amplihack.records import Record
from amplihack.sessions.conversation import first_prompt
from amplihack.sessions.messages import count_turns
from amplihack.sessions.usage import TokenUsage
from amplihack.system.session_store.reading import StoredSession, lost, read_stored
from amplihack.system.session_store.store import SessionStore
from amplihack.system.transcripts.store import TRANSCRIPT_FILENAME

# idle: it can go on; open: a process has it; interrupted: its last turn was cut off; damaged: some is lost
SessionStatus: TypeAlias = Literal["idle", "open", "interrupted", "damaged"]


class KeptSession(Record, kw_only=True):
    """What is known of a session without opening it."""

    session_id: str
    directory: Path
    status: SessionStatus
    prompt: str = ""
    name: str = ""  # that a person gave it
    bundle: str | None = None
    model: str | None = None
    working_dir: str | None = None
    started: str | None = None
    updated: str | None = None
    turns: int = 0
    used: TokenUsage = TokenUsage()
    parent_id: str | None = None
    agent: str | None = None
    forked_from_turn: int | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def is_inside(self) -> bool:
        """Tell whether an agent had it inside another session; a fork of such a one stands for itself."""
        return self.agent is not None and self.forked_from_turn is None


def kept_sessions(store: SessionStore) -> list[KeptSession]:
    """Return all sessions, the one that was used last first. Blocking."""
    return [kept_session(store, each) for each in store.ids()]


def kept_session(store: SessionStore, session_id: str) -> KeptSession:
    """Return what is known of one session; that it cannot be read is one of its problems."""
    directory = store.directory(session_id)
    try:
        stored = read_stored(directory, briefly=True)
    except OSError as error:
        what = f"{directory} cannot be read: {error.strerror}"
        problem = Problem(what, None, "give read access to it", code="session-unreadable")
        return KeptSession(session_id=session_id, directory=directory, status="damaged", problems=(problem,))
    return described(stored, is_open=store.is_open(session_id))


def described(stored: StoredSession, *, is_open: bool) -> KeptSession:
    """Return a session as lists show it. What a running turn has not finished yet is no problem."""
    known, problems = stored.metadata, () if is_open else stored.problems
    status: SessionStatus = "open" if is_open else _status(problems)
    turn = known.get("forked_from_turn")
    return KeptSession(
        session_id=stored.session_id,
        directory=stored.directory,
        status=status,
        prompt=first_prompt(stored.messages),
        name=_text(known.get("name")) or "",
        bundle=_text(known.get("bundle")),
        model=_text(known.get("asked_model")) or _text(known.get("model")),
        working_dir=_text(known.get("working_dir")),
        started=_text(known.get("created")),
        updated=(_text(known.get("updated")) if status == "idle" else None) or _changed(stored.directory),
        turns=count_turns(stored.messages),
        used=stored.used,
        parent_id=_text(known.get("parent_id")),
        agent=_text(known.get("agent_name")),
        forked_from_turn=turn if isinstance(turn, int) else None,
        problems=problems,
    )


def _status(problems: tuple[Problem, ...]) -> SessionStatus:
    if lost(problems):
        return "damaged"
    return "interrupted" if problems else "idle"


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _changed(directory: Path) -> str:
    transcript = directory / TRANSCRIPT_FILENAME
    found = (transcript if transcript.is_file() else directory).stat()
    return datetime.fromtimestamp(calendar_moment(found.st_mtime), UTC).isoformat()
