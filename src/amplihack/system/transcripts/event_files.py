"""Read event logs line by line: they may be larger than memory."""

from __future__ import annotations

from pathlib import Path

from amplihack.sessions.events import EventSummary, events_until, last_timestamp, summarise_events
from amplihack.system.replace import replace_lines
from amplihack.system.transcripts.store import json_line, read_jsonl


def slice_events_to_timestamp(
    events_path: Path,
    cutoff: str,
    output_path: Path,
    *,
    new_session_id: str | None = None,
    parent_session_id: str | None = None,
) -> int:
    """Copy the events up to a time, with other ids if given, and return their number."""
    kept = events_until(
        read_jsonl(events_path), cutoff, session_id=new_session_id, parent_id=parent_session_id
    )
    return replace_lines(output_path, map(json_line, kept))


def slice_events_for_fork(
    events_path: Path,
    transcript_path: Path,
    turn: int,
    output_path: Path,
    *,
    new_session_id: str | None = None,
    parent_session_id: str | None = None,
) -> int:
    """Copy the events up to the end of the turn. Raises ValueError when the transcript has no times."""
    cutoff = get_last_timestamp_for_turn(transcript_path, turn)
    if cutoff is None:
        raise ValueError(f"{transcript_path}: no message up to turn {turn} has a time")
    return slice_events_to_timestamp(
        events_path,
        cutoff,
        output_path,
        new_session_id=new_session_id,
        parent_session_id=parent_session_id,
    )


def get_last_timestamp_for_turn(transcript_path: Path, turn: int) -> str | None:
    """Return the time of the last message through the turn, or None when none has one."""
    return last_timestamp(list(read_jsonl(transcript_path)), turn)


def count_events(events_path: Path) -> int:
    """Count the events; a missing file has none."""
    return sum(1 for _ in read_jsonl(events_path)) if events_path.exists() else 0


def get_event_summary(events_path: Path) -> EventSummary:
    return summarise_events(read_jsonl(events_path) if events_path.exists() else ())
