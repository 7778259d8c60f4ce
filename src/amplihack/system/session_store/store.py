"""Find, make and open the sessions of a home."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from amplihack.errors import Problem
from amplihack.records import Record
from amplihack.sessions.calls import Message
from amplihack.sessions.errors import SessionInUse, SessionNotFound, SessionNotStored
from amplihack.sessions.forks import ForkResult
from amplihack.sessions.mending import mended
from amplihack.sessions.usage import CHILD_COMPLETED, TokenUsage, usage_from, usage_of
from amplihack.system.locks import HeldLock, LockError, try_lock
from amplihack.system.session_store.log import SessionLog
from amplihack.system.transcripts.fork_files import fork_session
from amplihack.system.transcripts.store import (
    EVENTS_FILENAME,
    METADATA_FILENAME,
    TRANSCRIPT_FILENAME,
    load_metadata,
    read_jsonl,
    write_metadata,
)

_LOCK = ".lock"


class StoredSession(Record):
    """A session as it was left, its last turn repaired where a crash cut it off."""

    session_id: str
    directory: Path
    metadata: dict[str, Any]
    messages: list[Message]
    used: TokenUsage = TokenUsage()
    problems: tuple[Problem, ...] = ()


class OpenedSession(Record):
    """A stored session, and the log that goes on with it."""

    stored: StoredSession
    log: SessionLog


class SessionStore:
    """The sessions below one directory, `<home>/sessions` by default, a directory for each."""

    def __init__(self, root: Path) -> None:
        self.root = Path(root)

    def directory(self, session_id: str) -> Path:
        if not session_id or session_id.startswith(".") or "/" in session_id or "\0" in session_id:
            raise SessionNotFound(
                f"{session_id!r} cannot be a session's id", fix="ids have no slashes and dots"
            )
        return self.root / session_id

    async def create(self, session_id: str, **metadata: Any) -> SessionLog:
        """Make the files of a new session. Raises SessionInUse if there is one of that id."""
        return await asyncio.to_thread(self._create, session_id, metadata)

    async def open(self, session_id: str) -> OpenedSession:
        """Open a session to go on with it, repaired in memory and on the disk.

        Raises SessionNotFound, and SessionInUse while another process has it open.
        """
        directory = self.directory(self.find(session_id))
        lock = await asyncio.to_thread(_lock, directory)
        try:
            stored, is_changed = await asyncio.to_thread(_read, directory)
            log = SessionLog(directory, lock, dict(stored.metadata), stored.messages)
            if is_changed:
                await log.replace(stored.messages)
        except BaseException:
            lock.release()
            raise
        return OpenedSession(stored, log)

    def read(self, session_id: str) -> StoredSession:
        """Return a session as resuming it would find it, and change nothing. Blocking."""
        return _read(self.directory(self.find(session_id)))[0]

    def find(self, reference: str) -> str:
        """Return the id that an id or its beginning means. Raises SessionNotFound."""
        if reference and (self.directory(reference) / METADATA_FILENAME).is_file():
            return reference
        found = [each for each in self.ids() if reference and each.startswith(reference)]
        if len(found) == 1:
            return found[0]
        if found:
            shown = ", ".join(found[:5]) + (" …" if len(found) > 5 else "")
            raise SessionNotFound(f"{reference!r} is ambiguous: it begins {shown}", fix="give more of the id")
        raise SessionNotFound(
            f"there is no session {reference!r} in {self.root}", fix="list the sessions there are"
        )

    def ids(self) -> list[str]:
        """Return the ids of all sessions, the one that was changed last first. Blocking."""
        if not self.root.is_dir():
            return []
        marked = [
            (file.stat().st_mtime_ns, file.parent.name)
            for file in self.root.glob(f"[!.]*/{METADATA_FILENAME}")
        ]
        return [name for _, name in sorted(marked, reverse=True)]

    def fork(self, session_id: str, *, turn: int | None = None, new_id: str | None = None) -> ForkResult:
        """Make a new session with the conversation up to a turn. Raises ValueError for an unknown turn."""
        return fork_session(self.directory(self.find(session_id)), turn=turn, new_session_id=new_id)

    def _create(self, session_id: str, metadata: dict[str, Any]) -> SessionLog:
        directory = self.directory(session_id)
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            directory.mkdir(mode=0o700)
        except FileExistsError as error:
            fix = "resume it, or choose another id"
            raise SessionInUse(f"there is a session {session_id} already: {directory}", fix=fix) from error
        except OSError as error:
            fix = "make room or give write access"
            raise SessionNotStored(f"cannot make {directory}: {error.strerror}", fix=fix) from error
        now = datetime.now(UTC).isoformat()
        whole = {"session_id": session_id, "created": now, "updated": now, "turn_count": 0, **metadata}
        log = SessionLog(directory, _lock(directory), whole)
        try:
            (directory / TRANSCRIPT_FILENAME).touch(mode=0o600)
            write_metadata(directory, whole)
        except OSError as error:
            log.close()
            fix = "make room or give write access"
            raise SessionNotStored(f"cannot write to {directory}: {error.strerror}", fix=fix) from error
        return log


def _lock(directory: Path) -> HeldLock:
    try:
        lock = try_lock(directory / _LOCK)
    except LockError as error:
        raise SessionNotStored(error.what, fix=error.fix) from error
    if lock is None:
        fix = "close it there, or fork it to go on from the same place"
        raise SessionInUse(f"the session {directory.name} is open elsewhere", fix=fix)
    return lock


def _read(directory: Path) -> tuple[StoredSession, bool]:
    """Read a session; tell whether what is on the disk has to be written anew."""
    metadata = _metadata(directory)
    messages, problems = _messages(directory / TRANSCRIPT_FILENAME)
    whole = mended(messages)
    if whole is not None:
        what = f"the session {directory.name} was interrupted in its last turn, which is closed now"
        problems.append(Problem(what, None, "check what its last tool did", "warning", "session-repaired"))
    used = _used(directory)
    stored = StoredSession(directory.name, directory, metadata, whole or messages, used, tuple(problems))
    return stored, bool(problems)


def _metadata(directory: Path) -> dict[str, Any]:
    try:
        return load_metadata(directory)
    except (OSError, ValueError) as error:
        raise SessionNotFound(
            f"{directory} is no session: {error}", fix="list the sessions there are"
        ) from error


def _messages(path: Path) -> tuple[list[Message], list[Problem]]:
    """Read what can be read; whatever cannot is told."""
    found: list[Message] = []
    problems: list[Problem] = []
    data = path.read_bytes() if path.is_file() else b""
    lines = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if isinstance(message, dict) and isinstance(message.get("role"), str):
            found.append(message)
            continue
        half = "is half-written" if number == len(lines) else "cannot be read"
        what = f"{path}, line {number}: the message {half} and is left out"
        problems.append(Problem(what, None, "look at the copy beside it", "warning", "message-lost"))
    return found, problems


def _used(directory: Path) -> TokenUsage:
    """Add up what was used until now, from the events, which are written as they happen."""
    by_event = {"llm:response": TokenUsage(), "provider:response": TokenUsage(), "child": TokenUsage()}
    path = directory / EVENTS_FILENAME
    for entry in read_jsonl(path) if path.is_file() else ():
        event, data = entry.get("event"), entry.get("data")
        if event == CHILD_COMPLETED and isinstance(data, dict):
            by_event["child"] = by_event["child"].plus(usage_from(data.get("usage")))
        elif event in by_event and isinstance(data, dict):
            by_event[event] = by_event[event].plus(usage_of(data))
    own = by_event["llm:response"] if by_event["llm:response"].calls else by_event["provider:response"]
    return own.plus(by_event["child"])
