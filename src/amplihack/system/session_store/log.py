"""Write a session's files: each message when it is said, metadata in one step."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from amplihack.sessions.calls import Message, calls_of, results_of
from amplihack.sessions.errors import SessionNotStored
from amplihack.sessions.serialise import sanitize_for_json
from amplihack.system.locks import HeldLock
from amplihack.system.replace import sync_path
from amplihack.system.session_store.not_stored import not_stored
from amplihack.system.spool import write_all
from amplihack.system.transcripts.store import (
    EVENTS_FILENAME,
    METADATA_FILENAME,
    RESULTS_FILENAME,
    TRANSCRIPT_FILENAME,
    backup,
    json_line,
    write_metadata,
    write_transcript,
)
from amplihack.system.undisturbed import undisturbed

_MOMENT = 0.2  # seconds from a line until it is synced, if the turn has not ended by then
_SHORT = 65_536  # characters of a line that is written without a thread
_NOT_STORED = frozenset({"system", "developer"})  # the bundle supplies them afresh


class SessionLog:
    """The open files of one session. Nobody else writes to them while it is open."""

    def __init__(
        self,
        directory: Path,
        lock: HeldLock,
        metadata: dict[str, Any],
        messages: Sequence[Message] = (),
        *,
        is_new: bool = False,
    ) -> None:
        self.directory, self.metadata = directory, metadata
        self._lock = lock
        self._count, self._last = len(messages), stored_line(messages[-1]) if messages else ""
        self._alone = asyncio.Lock()
        self._files: dict[str, int] = {}
        self._open_calls: set[str] = set()
        self._kept = False  # whether results lie aside
        self._unsynced: set[str] = set()
        new = (directory / METADATA_FILENAME, directory, directory.parent)
        self._unsynced_places: tuple[Path, ...] = new if is_new else ()
        self._soon: asyncio.TimerHandle | None = None
        self._syncing: asyncio.Future[None] | None = None
        self.hear_results: Callable[[bool], None] = lambda _: None  # told whether `keep_result` is needed
        self.failure: SessionNotStored | None = None

    async def append(self, message: Message) -> None:
        """Write a message; it is synced soon, while the session goes on.

        Raises SessionNotStored; then nothing of it is in the file.
        """
        if message.get("role") in _NOT_STORED:
            return
        line = stored_line(message)
        async with self._alone:
            await self._write_line(TRANSCRIPT_FILENAME, line)
            self._count, self._last = self._count + 1, line
            self._follow(message)

    async def keep_result(self, message: Message) -> None:
        """Write the result of a tool aside while other calls of its step are open. Raises SessionNotStored.

        A loop may add the results of a step together, when the last tool has ended.
        """
        async with self._alone:
            if len(self._open_calls) > 1:
                self._kept = True
                await self._write_line(RESULTS_FILENAME, stored_line(message))

    async def record(self, event: str, data: Mapping[str, Any]) -> None:
        """Write an event. Raises SessionNotStored."""
        entry = {
            "ts": data.get("timestamp"),
            "event": event,
            "session_id": self.metadata.get("session_id"),
            "data": sanitize_for_json(dict(data)),
        }
        async with self._alone:
            await self._write_line(EVENTS_FILENAME, json_line(entry))

    async def settle(self, messages: Iterable[Message]) -> None:
        """Make the transcript say what the context holds; a context may change its history by itself."""
        kept = [message for message in messages if message.get("role") not in _NOT_STORED]
        last = stored_line(kept[-1]) if kept else ""
        if len(kept) == self._count and last == self._last:
            return
        await self.replace(kept)

    async def replace(self, messages: Iterable[Message]) -> None:
        """Write the transcript anew in one step; the one before stays beside it as a copy."""
        kept = [json.loads(stored_line(each)) for each in messages if each.get("role") not in _NOT_STORED]
        async with self._alone:
            await self._in_thread(self._rewrite, kept)
            self._count, self._last = len(kept), stored_line(kept[-1]) if kept else ""

    async def describe(self, **changes: Any) -> None:
        """Put everything on the disk, then change the metadata in one step: the end of a turn.

        Results that were kept are in the transcript by now, and are forgotten.
        """
        async with self._alone:
            self.metadata.update(changes)
            self._not_soon()
            if self._syncing is not None:
                await asyncio.wait({self._syncing})
            self._unsynced.clear()
            await self._in_thread(self._finish, dict(self.metadata))
            self._forget()
            self._close_files()  # a session that waits for its next turn holds nothing but its lock

    def forget_results(self) -> None:
        """Remove what an earlier process kept. Call it when the transcript has it, or needs none of it."""
        (self.directory / RESULTS_FILENAME).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the files; what is not on the disk yet gets there behind our back."""
        if self._soon is not None:
            self._sync_now()
        self._close_files()
        self._lock.release()

    def _close_files(self) -> None:
        for file in self._files.values():
            os.close(file)
        self._files.clear()

    async def _write_line(self, name: str, line: str) -> None:
        """Write a line. A short one is written at once: a thread would cost more than the write."""
        if len(line) > _SHORT:
            await self._in_thread(self._write, name, line)
        else:
            try:
                self._write(name, line)
            except OSError as error:
                raise self._failed(error) from error
        self._unsynced.add(name)
        self._sync_soon()

    def _sync_soon(self) -> None:
        """Put on the disk what was written, in a moment: lines that come together are synced together."""
        if self._soon is None and self._syncing is None:
            self._soon = asyncio.get_running_loop().call_later(_MOMENT, self._sync_now)

    def _sync_now(self) -> None:
        """Begin to put on the disk what was written; whatever is written meanwhile comes next."""
        self._not_soon()
        try:
            files = [os.dup(self._files[name]) for name in self._unsynced if name in self._files]
        except OSError:
            return  # no room for another open file: the end of the turn syncs them
        self._unsynced.clear()
        if files:
            work = partial(_sync_and_close, files, self._unsynced_places)
            self._unsynced_places = ()
            self._syncing = asyncio.get_running_loop().run_in_executor(None, work)
            self._syncing.add_done_callback(self._synced)

    def _not_soon(self) -> None:
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None

    def _synced(self, done: asyncio.Future[None]) -> None:
        self._syncing = None
        error = None if done.cancelled() else done.exception()
        if isinstance(error, OSError):
            self._failed(error)
        elif self._unsynced:
            self._sync_soon()

    async def _in_thread(self, work: Any, *arguments: Any) -> None:
        """Do work that may block, to its end. What could not be written is remembered until the next turn."""
        try:
            await undisturbed(asyncio.to_thread(work, *arguments))
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> SessionNotStored:
        self.failure = not_stored(f"the session cannot be stored in {self.directory}", error)
        return self.failure

    def _write(self, name: str, line: str) -> None:
        file = self._files.get(name)
        if file is None:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            file = self._files[name] = os.open(self.directory / name, flags, 0o600)
        size = os.fstat(file).st_size
        try:
            write_all(file, line.encode("utf-8", "surrogatepass") + b"\n")
        except OSError:
            os.ftruncate(file, size)  # a line is there as a whole or not at all
            raise

    def _finish(self, metadata: dict[str, Any]) -> None:
        for file in self._files.values():
            _sync(file)
        # An older metadata does no harm after a power cut: it is only what the transcript and the events say.
        write_metadata(self.directory, metadata, sync_name=False)
        for place in self._unsynced_places:
            sync_path(place)
        self._unsynced_places = ()

    def _follow(self, message: Message) -> None:
        """Note which calls are open; what was kept aside is forgotten when none is."""
        self._open_calls.update(each.id for each in calls_of(message))
        if len(self._open_calls) > 1:
            self.hear_results(True)
        self._open_calls.difference_update(results_of(message))
        if not self._open_calls:
            self._forget()

    def _forget(self) -> None:
        self._open_calls.clear()
        self.hear_results(False)
        if self._kept:
            self._kept = False
            try:
                os.ftruncate(self._files[RESULTS_FILENAME], 0)
            except OSError as error:
                raise self._failed(error) from error

    def _rewrite(self, messages: list[Message]) -> None:
        path = self.directory / TRANSCRIPT_FILENAME
        if (file := self._files.pop(TRANSCRIPT_FILENAME, None)) is not None:
            os.close(file)
        earlier = sorted(self.directory.glob(f"{TRANSCRIPT_FILENAME}.bak-rewritten-*"))
        backup(path, "rewritten")
        write_transcript(self.directory, messages)
        for each in earlier:  # one generation is kept
            each.unlink(missing_ok=True)


def stored_line(message: Message) -> str:
    """Return a message as the line that is kept of it."""
    try:
        return json_line(message)
    except (TypeError, ValueError):
        return json_line(sanitize_for_json(message))


def _sync_and_close(files: Sequence[int], places: Sequence[Path]) -> None:
    try:
        for file in files:
            _sync(file)
        for place in places:
            sync_path(place)
    finally:
        for file in files:
            os.close(file)


def _sync(file: int) -> None:
    sync = getattr(os, "fdatasync", os.fsync)  # macOS has only the second
    sync(file)
