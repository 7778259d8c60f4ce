"""Read and write the files of one session.

Each file is replaced in one step: neither a reader nor a crash ever sees half of it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from amplihack.sessions.calls import Message
from amplihack.sessions.events import read_events
from amplihack.sessions.kept_results import with_results
from amplihack.system.replace import replace_lines, replace_text

TRANSCRIPT_FILENAME = "transcript.jsonl"
METADATA_FILENAME = "metadata.json"
EVENTS_FILENAME = "events.jsonl"
RESULTS_FILENAME = "results.jsonl"  # of tools whose step has not ended; empty between turns


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file, one per line; other lines are skipped."""
    with path.open("rb") as file:
        yield from read_events(file)


def write_jsonl(path: Path, entries: Iterable[dict[str, Any]]) -> None:
    replace_lines(path, map(json_line, entries))


def json_line(entry: dict[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False)


def load_transcript(session_dir: Path) -> list[Message]:
    """Return the messages; unreadable lines are skipped. Raises FileNotFoundError."""
    return list(read_jsonl(session_dir / TRANSCRIPT_FILENAME))


def load_conversation(session_dir: Path) -> list[Message]:
    """Return the messages with the results that were kept aside for them. Raises FileNotFoundError."""
    return with_results(load_transcript(session_dir), load_results(session_dir))


def load_results(session_dir: Path) -> dict[str, Message]:
    """Return what tools gave whose step had not ended, by their calls."""
    path = session_dir / RESULTS_FILENAME
    found = read_jsonl(path) if path.is_file() else ()
    return {str(each["tool_call_id"]): each for each in found if each.get("tool_call_id")}


def load_transcript_with_lines(session_dir: Path) -> list[Message]:
    """Return the messages, each with its `line_num`. Raises ValueError for an unreadable line."""
    path = session_dir / TRANSCRIPT_FILENAME
    with path.open("rb") as file:
        return [_numbered(path, number, line) for number, line in enumerate(file, 1) if line.strip()]


def write_transcript(session_dir: Path, entries: Iterable[Message]) -> None:
    write_jsonl(session_dir / TRANSCRIPT_FILENAME, entries)


def load_metadata(session_dir: Path) -> dict[str, Any]:
    """Return the metadata. Raises FileNotFoundError, or ValueError when the file holds no object."""
    path = session_dir / METADATA_FILENAME
    try:
        metadata = json.loads(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    if not isinstance(metadata, dict):
        raise ValueError(f"{path} should hold an object, and holds {type(metadata).__name__}")  # noqa: TRY004 - about the file, not an argument
    return metadata


def write_metadata(
    session_dir: Path, metadata: dict[str, Any], *, sync: bool = True, sync_name: bool = True
) -> None:
    """Replace the metadata. What a power cut may do without the syncs, `replace_text` says."""
    text = json.dumps(metadata, indent=2, ensure_ascii=False) + "\n"
    replace_text(session_dir / METADATA_FILENAME, text, sync=sync, sync_name=sync_name)


def backup(file: Path, label: str, *, now: datetime | None = None) -> Path | None:
    """Copy the file to a name with the label and the time; None when there is nothing to copy."""
    if not file.is_file():
        return None
    time = now or datetime.now(UTC)
    while (copy := file.with_name(f"{file.name}.bak-{label}-{time:%Y%m%d%H%M%S}")).exists():
        time += timedelta(seconds=1)  # an earlier copy is never overwritten
    shutil.copy2(file, copy)
    return copy


def _numbered(path: Path, number: int, line: bytes) -> Message:
    try:
        entry = json.loads(line)
    except ValueError as error:
        raise ValueError(f"{path}, line {number}: not JSON: {error}") from error
    if not isinstance(entry, dict):
        raise ValueError(f"{path}, line {number}: a message should be an object")  # noqa: TRY004 - about the file
    return {**entry, "line_num": number}
