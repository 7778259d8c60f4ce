"""Find, make and open the sessions of a home."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from amplihack.errors import Problem
from amplihack.records import Record, replace
from amplihack.sessions.errors import (
    SessionAmbiguous,
    SessionError,
    SessionInUse,
    SessionNotFound,
    SessionNotStored,
)
from amplihack.sessions.forks import ForkResult, cut_at
from amplihack.sessions.ids import is_fit_id
from amplihack.sessions.messages import count_turns
from amplihack.system.locks import HeldLock, LockError, is_locked, try_lock
from amplihack.system.newest import is_newest
from amplihack.system.replace import UNFINISHED
from amplihack.system.session_store.log import SessionLog
from amplihack.system.session_store.not_stored import not_stored
from amplihack.system.session_store.reading import StoredSession, is_session, lost, read_stored
from amplihack.system.transcripts.fork_files import ForkSource, write_fork
from amplihack.system.transcripts.store import METADATA_FILENAME, TRANSCRIPT_FILENAME, write_metadata

FORMAT = 1  # of the files of a session; a session that does not say it is of this one
_LOCK = ".lock"
_ASIDE = ".removed-"


class OpenedSession(Record):
    """A stored session, and the log that goes on with it."""

    stored: StoredSession
    log: SessionLog


class SessionStore:
    """The sessions below one directory, `<home>/sessions` by default, a directory for each."""

    def __init__(self, root: Path) -> None:
        self.root = Path(root)

    def directory(self, session_id: str) -> Path:
        if not is_fit_id(session_id):
            raise SessionNotFound(
                f"{session_id!r} cannot be a session's id", fix="ids have no slashes and dots"
            )
        return self.root / session_id

    async def create(self, session_id: str, **metadata: Any) -> SessionLog:
        """Make the files of a new session. Raises SessionInUse if there is one of that id."""
        return await asyncio.to_thread(self._create, session_id, metadata)

    async def open(self, session_id: str) -> OpenedSession:
        """Open a session to go on with it, repaired in memory and on the disk.

        Raises SessionNotFound, SessionInUse while another process has it open, and SessionError for one that
        a newer program has written.
        """
        directory = self.directory(await asyncio.to_thread(self.find, session_id))
        lock = await asyncio.to_thread(_lock, directory)
        try:
            stored = await asyncio.to_thread(read_stored, directory)
            _require_known(stored)
            await asyncio.to_thread(_remove_unfinished, directory)
            log = SessionLog(directory, lock, dict(stored.metadata), stored.messages)
            if stored.problems:
                await log.replace(stored.messages)
            await asyncio.to_thread(log.forget_results)
        except BaseException:
            lock.release()
            raise
        return OpenedSession(stored, log)

    def read(self, session_id: str) -> StoredSession:
        """Return a session as resuming it would find it, and change nothing. Blocking."""
        return read_stored(self.directory(self.find(session_id)))

    def find(self, reference: str) -> str:
        """Return the id that an id, its beginning or `last` means. Raises SessionNotFound."""
        if reference and is_session(self.directory(reference)):
            return reference
        known = self.ids()
        if is_newest(reference):
            return self._last(known)
        found = [each for each in known if reference and each.startswith(reference)]
        if len(found) == 1:
            return found[0]
        if found:
            shown = ", ".join(found[:5]) + (" …" if len(found) > 5 else "")
            raise SessionAmbiguous(
                f"{reference!r} is ambiguous: it begins {shown}", fix="give more of the id"
            )
        raise SessionNotFound(
            f"there is no session {reference!r} in {self.root}",
            fix="`amplihack session list` shows them; `last` is the one that was used last",
        )

    def _last(self, known: list[str]) -> str:
        """Return the session that was used last, leaving out those that agents had."""
        own = next((each for each in known if "_" not in each), None)
        if own is None:
            raise SessionNotFound(
                f"there are no sessions in {self.root} yet", fix="`amplihack chat` begins one"
            )
        return own

    def ids(self) -> list[str]:
        """Return the ids of all sessions, the one that was changed last first. Blocking."""
        if not self.root.is_dir():
            return []
        found = [each for each in self.root.glob("[!.]*") if is_session(each)]
        return [each.name for each in sorted(found, key=changed, reverse=True)]

    def children(self) -> list[Path]:
        """Return the directories of the sessions that agents had: an underscore marks them. Blocking."""
        return [each for each in self.root.glob("[!.]*_*") if is_session(each)]

    def is_open(self, session_id: str) -> bool:
        """Tell whether a process has the session open now."""
        return is_locked(self.directory(session_id) / _LOCK)

    def fork(self, session_id: str, *, turn: int | None = None, new_id: str | None = None) -> ForkResult:
        """Make a new session with the conversation up to a turn, as resuming would find it.

        Raises ValueError for an unknown turn, and SessionNotStored. Blocking.
        """
        stored = self.read(session_id)
        cut = cut_at(stored.messages, turn, handle_orphaned_tools="complete")
        source = ForkSource(stored.directory, stored.messages, stored.metadata)
        try:
            forked = write_fork(source, cut, new_session_id=new_id)
        except OSError as error:
            raise not_stored(
                f"the session {stored.session_id} cannot be forked in {self.root}", error
            ) from error
        is_whole = cut.turn == count_turns(stored.messages)
        problems = self._of_fork(stored) if is_whole else lost(stored.problems)
        return replace(forked, problems=problems)

    def _of_fork(self, stored: StoredSession) -> tuple[Problem, ...]:
        """Return what is wrong with a whole conversation; that its last turn still runs is another thing."""
        gone = lost(stored.problems)
        if gone == stored.problems or not self.is_open(stored.session_id):
            return stored.problems
        what = f"the last turn of {stored.session_id} still runs; the fork has what was said until now"
        return (*gone, Problem(what, None, "fork it again when it has ended", "warning", "turn-running"))

    def discard(self, session_id: str) -> None:
        """Remove a session in which nothing was said; one with messages stays. Blocking."""
        directory = self.directory(session_id)
        lock = _lock(directory)
        try:
            if not read_stored(directory).messages:
                shutil.rmtree(directory)
        finally:
            lock.release()

    def remove(self, session_ids: Sequence[str]) -> None:
        """Remove sessions, all or none. Raises SessionInUse while a process has one open. Blocking.

        Each is set aside under a name that nobody lists, so that a kill leaves no half of one; what an
        earlier kill has left is removed as well.
        """
        for left in self.root.glob(f"{_ASIDE}*"):
            shutil.rmtree(left, ignore_errors=True)
        with ExitStack() as held:
            directories = [self.directory(each) for each in session_ids]
            for directory in directories:
                held.callback(_lock(directory).release)
            try:
                for directory in directories:
                    aside = directory.with_name(f"{_ASIDE}{directory.name}")
                    directory.rename(aside)
                    shutil.rmtree(aside, ignore_errors=True)
            except OSError as error:
                fix = "give write access to it"
                what = f"cannot remove {error.filename or self.root}: {error.strerror}"
                raise SessionNotStored(what, fix=fix) from error

    def _create(self, session_id: str, metadata: dict[str, Any]) -> SessionLog:
        directory = self.directory(session_id)
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            directory.mkdir(mode=0o700)
        except FileExistsError as error:
            fix = "resume it, or choose another id"
            raise SessionInUse(f"there is a session {session_id} already: {directory}", fix=fix) from error
        except OSError as error:
            raise not_stored(f"cannot make {directory}", error) from error
        now = datetime.now(UTC).isoformat()
        known = {"session_id": session_id, "format": FORMAT, "created": now, "updated": now, "turn_count": 0}
        whole = {**known, **metadata}
        try:
            return self._begun(directory, whole)
        except BaseException:
            shutil.rmtree(directory, ignore_errors=True)  # it is ours, and there is nothing in it
            raise

    def _begun(self, directory: Path, metadata: dict[str, Any]) -> SessionLog:
        log = SessionLog(directory, _lock(directory), metadata, is_new=True)
        try:
            (directory / TRANSCRIPT_FILENAME).touch(mode=0o600)
            write_metadata(directory, metadata, sync=False)  # the first turn puts it on the disk
        except OSError as error:
            log.close()
            raise not_stored(f"cannot write to {directory}", error) from error
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


def _require_known(stored: StoredSession) -> None:
    """Raise SessionError for a session whose files we would only damage."""
    found = stored.metadata.get("format", FORMAT)
    if not isinstance(found, int) or found > FORMAT:
        what = f"the session {stored.session_id} is of a newer amplihack (format {found!r}, not {FORMAT})"
        raise SessionError(what, fix="update amplihack, or fork the session to go on with what was said")


def _remove_unfinished(directory: Path) -> None:
    """Remove what a kill has left of files that were being replaced. Nobody else writes here."""
    for left in directory.glob(f"{UNFINISHED}*"):
        left.unlink(missing_ok=True)


def changed(directory: Path) -> tuple[int, str]:
    """Return when something was last said, for sorting: a turn that a crash cut off counts."""
    files = (directory / METADATA_FILENAME, directory / TRANSCRIPT_FILENAME)
    return max(each.stat().st_mtime_ns for each in files if each.is_file()), directory.name
