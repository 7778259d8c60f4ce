"""Read a stored session: what can be read is there, and what cannot is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from amplihack.errors import Problem
from amplihack.moments import calendar_moment
from amplihack.records import Record
from amplihack.sessions.calls import Message, is_real_user_message
from amplihack.sessions.events import read_events
from amplihack.sessions.kept_results import with_results
from amplihack.sessions.mending import mended
from amplihack.sessions.messages import closing_message, count_turns
from amplihack.sessions.usage import CHILD_COMPLETED, TokenUsage, usage_from, usage_of
from amplihack.system.transcripts.store import (
    EVENTS_FILENAME,
    METADATA_FILENAME,
    TRANSCRIPT_FILENAME,
    load_metadata,
    load_results,
)

_BY_MODELS = ("llm:response", "provider:response")
_TELLING = tuple(name.encode() for name in (*_BY_MODELS, CHILD_COMPLETED))
_LOST = ("message-lost", "metadata-lost", "session-unreadable")
_OF_THE_LOG = "schema"  # a key that only the lines of `hooks-logging` have; it writes to the same file


class StoredSession(Record):
    """A session as it was left, its last turn repaired where a crash cut it off."""

    session_id: str
    directory: Path
    metadata: dict[str, Any]
    messages: list[Message]
    used: TokenUsage = TokenUsage()
    problems: tuple[Problem, ...] = ()


def is_session(directory: Path) -> bool:
    return any((directory / name).is_file() for name in (METADATA_FILENAME, TRANSCRIPT_FILENAME))


def read_stored(directory: Path, *, briefly: bool = False) -> StoredSession:
    """Return the session in a directory. If it has problems, what is on the disk has to be written anew.

    `briefly` spares the events, which are most of what is there, if the last turn noted what was used.
    """
    metadata, problems = read_metadata(directory)
    messages, unread = _messages(directory / TRANSCRIPT_FILENAME)
    problems += unread or _all_lost(directory, metadata, messages)
    answered = with_results(messages, load_results(directory))
    whole = mended(answered) or (answered if answered != messages else None)
    if whole is not None:
        what = f"the session {directory.name} was interrupted in its last turn, which is closed now"
        problems.append(Problem(what, None, "check what its last tool did", "warning", "session-repaired"))
    elif any(is_real_user_message(each) for each in messages[-1:]):
        whole = [*messages, closing_message()]
        what = f"the last prompt of the session {directory.name} was never answered"
        problems.append(Problem(what, None, "ask it again", "warning", "prompt-unanswered"))
    noted = _noted(metadata)
    is_enough = briefly and not problems and metadata.get("turn_count") == count_turns(messages)
    used, model = noted if noted is not None and is_enough else _at_least(noted, used_until_now(directory))
    if model:
        metadata["asked_model"] = model
    return StoredSession(directory.name, directory, metadata, whole or messages, used, tuple(problems))


def read_metadata(directory: Path) -> tuple[dict[str, Any], list[Problem]]:
    """Return the metadata; what can be known without it, and a problem, where it cannot be read."""
    try:
        return load_metadata(directory), []
    except (OSError, ValueError) as error:
        why = "is missing" if isinstance(error, FileNotFoundError) else "cannot be read"
        what = f"{directory / METADATA_FILENAME} {why}: bundle and directory of the session are not known"
        fix = "say which bundle it is with --bundle, and work in its directory"
        begun = datetime.fromtimestamp(calendar_moment(directory.stat().st_mtime), UTC).isoformat()
        known = {"session_id": directory.name, "created": begun, "updated": begun}
        return known, [Problem(what, None, fix, "warning", "metadata-lost")]


def lost(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Return the problems that mean that something is lost, and not only interrupted."""
    return tuple(each for each in problems if each.code in _LOST)


def _all_lost(directory: Path, metadata: dict[str, Any], messages: list[Message]) -> list[Problem]:
    """Tell that a session had turns, or was begun at all, and that nothing of what was said is there."""
    path = directory / TRANSCRIPT_FILENAME
    if messages or (path.is_file() and not metadata.get("turn_count")):
        return []
    what = f"{path} {'is empty' if path.is_file() else 'is missing'}: what was said in the session is lost"
    return [Problem(what, None, "look for a copy beside it", "warning", "message-lost")]


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
        except (ValueError, RecursionError):
            message = None
        if isinstance(message, dict) and isinstance(message.get("role"), str):
            found.append(message)
            continue
        half = "is half-written" if number == len(lines) else "cannot be read"
        what = f"{path}, line {number}: the message {half} and is left out"
        problems.append(Problem(what, None, "look at the copy beside it", "warning", "message-lost"))
    return found, problems


def _noted(metadata: dict[str, Any]) -> tuple[TokenUsage, str] | None:
    """Return what the end of the last turn noted, and the model; None where nothing was noted."""
    known = metadata.get("usage")
    if not isinstance(known, dict) or not isinstance(metadata.get("turn_count"), int):
        return None
    return usage_from(known), str(metadata.get("asked_model") or "")


def _at_least(
    noted: tuple[TokenUsage, str] | None, counted: tuple[TokenUsage, str]
) -> tuple[TokenUsage, str]:
    """Return what was counted, or what was noted where events are gone: a log is moved aside, or damaged."""
    return noted if noted is not None and noted[0].calls > counted[0].calls else counted


def used_until_now(directory: Path) -> tuple[TokenUsage, str]:
    """Add up what was used, from the events, which are written as they happen; and the model asked last."""
    counted = {False: _Counted(), True: _Counted()}
    for entry in events_of(directory):
        if isinstance(data := entry.get("data"), dict):
            counted[_OF_THE_LOG in entry].hear(str(entry.get("event")), data)
    ours, of_the_log = counted[False], counted[True]
    chosen = ours if ours.own.calls else of_the_log  # both tell of the same calls
    return chosen.own.plus(ours.children), chosen.model


def events_of(directory: Path) -> Iterator[dict[str, Any]]:
    """Yield the events that tell what was used, those that `hooks-logging` has moved aside in front."""
    for name in (f"{EVENTS_FILENAME}.1", EVENTS_FILENAME):
        if (directory / name).is_file():
            with (directory / name).open("rb") as lines:
                yield from read_events(line for line in lines if any(each in line for each in _TELLING))


class _Counted:
    """What one writer of events tells. Providers and loops report the same calls: one side counts."""

    def __init__(self) -> None:
        self._by_event = dict.fromkeys(_BY_MODELS, TokenUsage())
        self.children = TokenUsage()
        self.model = ""

    def hear(self, event: str, data: dict[str, Any]) -> None:
        if event == CHILD_COMPLETED:
            self.children = self.children.plus(usage_from(data.get("usage")))
        elif event in self._by_event:
            self._by_event[event] = self._by_event[event].plus(usage_of(data))
            self.model = str(data.get("model") or self.model)

    @property
    def own(self) -> TokenUsage:
        by_provider, by_loop = (self._by_event[name] for name in _BY_MODELS)
        return by_provider if by_provider.calls else by_loop
