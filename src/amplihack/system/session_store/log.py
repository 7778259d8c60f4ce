"""Write a session's files: each message when it is said, metadata in one step."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from amplihack.sessions.calls import Message
from amplihack.sessions.errors import SessionNotStored
from amplihack.sessions.serialise import sanitize_for_json
from amplihack.system.locks import HeldLock
from amplihack.system.spool import write_all
from amplihack.system.transcripts.store import (
    EVENTS_FILENAME,
    TRANSCRIPT_FILENAME,
    backup,
    json_line,
    write_metadata,
    write_transcript,
)

_SHORT = 65_536  # characters of a line that is written without a thread
_NOT_STORED = frozenset({"system", "developer"})  # the bundle supplies them afresh


class SessionLog:
    """The open files of one session. Nobody else writes to them while it is open."""

    def __init__(
        self, directory: Path, lock: HeldLock, metadata: dict[str, Any], messages: Sequence[Message] = ()
    ) -> None:
        self.directory, self.metadata = directory, metadata
        self._lock = lock
        self._count, self._last = len(messages), stored_line(messages[-1]) if messages else ""
        self._alone = asyncio.Lock()
        self._files: dict[str, int] = {}
        self.failure: SessionNotStored | None = None

    async def append(self, message: Message) -> None:
        """Write a message. Raises SessionNotStored; then nothing of it is in the file."""
        if message.get("role") in _NOT_STORED:
            return
        line = stored_line(message)
        async with self._alone:
            await self._write_line(TRANSCRIPT_FILENAME, line)
            self._count, self._last = self._count + 1, line

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
        """Put everything on the disk, then change the metadata in one step: the end of a turn."""
        async with self._alone:
            self.metadata.update(changes)
            await self._in_thread(self._finish, dict(self.metadata))

    def close(self) -> None:
        for file in self._files.values():
            os.close(file)
        self._files.clear()
        self._lock.release()

    async def _write_line(self, name: str, line: str) -> None:
        """Write a line. A short one is written at once: a thread would cost more than the write."""
        if len(line) > _SHORT:
            await self._in_thread(self._write, name, line)
            return
        try:
            self._write(name, line)
        except OSError as error:
            raise self._failed(error) from error

    async def _in_thread(self, work: Any, *arguments: Any) -> None:
        """Do work that may block. What could not be written is remembered until the next turn."""
        try:
            await asyncio.to_thread(work, *arguments)
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> SessionNotStored:
        what = f"the session cannot be stored in {self.directory}: {error.strerror or error}"
        self.failure = SessionNotStored(what, fix="make room or give write access, then resume the session")
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
        write_metadata(self.directory, metadata)

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


def _sync(file: int) -> None:
    sync = getattr(os, "fdatasync", os.fsync)  # macOS has only the second
    sync(file)
