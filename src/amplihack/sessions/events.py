"""Read event logs, one JSON object per line: cut them at a time, and summarise them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias, TypedDict

from amplihack.sessions.calls import Message
from amplihack.sessions.messages import through_turn

Event: TypeAlias = dict[str, Any]


class EventSummary(TypedDict):
    total_events: int
    event_types: dict[str, int]
    first_timestamp: str | None
    last_timestamp: str | None


def moment(text: object) -> datetime | None:
    """Return the time that an ISO 8601 text names, or None. Without a zone it is UTC."""
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def timestamp_of(record: Event) -> str | None:
    """Return the time of an event or a message, as it was written."""
    found = record.get("ts") or record.get("timestamp")
    return found if isinstance(found, str) else None


def read_events(lines: Iterable[str | bytes]) -> Iterator[Event]:
    """Yield the events. Lines that are no JSON object are skipped."""
    for line in lines:
        if not line.strip():
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            yield event


def events_until(
    events: Iterable[Event], cutoff: str, *, session_id: str | None = None, parent_id: str | None = None
) -> Iterator[Event]:
    """Yield the events up to a time, and those without a time, with another session's id if given.

    Raises ValueError for an invalid cutoff.
    """
    end = moment(cutoff)
    if end is None:
        raise ValueError(f"{cutoff!r} is no ISO 8601 time")
    ids = {"session_id": session_id, "parent_session_id": parent_id}
    stamp = {key: value for key, value in ids.items() if value is not None}
    return ({**event, **stamp} for event in events if _not_after(event, end))


def last_timestamp(messages: Sequence[Message], turn: int) -> str | None:
    """Return the last known time up to the end of a turn. Raises ValueError for an unknown turn."""
    times = (timestamp_of(message) for message in reversed(through_turn(messages, turn)))
    return next((time for time in times if time), None)


def summarise_events(events: Iterable[Event]) -> EventSummary:
    """Return the number of events of each kind, and the earliest and latest time."""
    kinds: Counter[str] = Counter()
    first: tuple[datetime, str] | None = None
    last: tuple[datetime, str] | None = None
    for event in events:
        kinds[str(event.get("event") or event.get("type") or "unknown")] += 1
        written = timestamp_of(event)
        at = moment(written)
        if written is None or at is None:
            continue
        first = (at, written) if first is None or at < first[0] else first
        last = (at, written) if last is None or at > last[0] else last
    return {
        "total_events": kinds.total(),
        "event_types": dict(kinds),
        "first_timestamp": first[1] if first else None,
        "last_timestamp": last[1] if last else None,
    }


def _not_after(event: Event, end: datetime) -> bool:
    at = moment(timestamp_of(event))
    return at is None or at <= end
