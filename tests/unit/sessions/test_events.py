from __future__ import annotations

import json
from typing import Any

import pytest

from amplihack.sessions.events import events_until, last_timestamp, moment, read_events, summarise_events


def at(time: str, name: str = "x", key: str = "ts") -> dict[str, Any]:
    return {"event": name, key: time}


def test_lines_that_are_no_objects_are_passed_over() -> None:
    lines: list[str | bytes] = [
        '{"event": "a"}',
        "",
        "not json",
        "[1]",
        b'{"event": "b"}',
        b"\xff\xfe",
        "[" * 100_000,
    ]
    assert list(read_events(lines)) == [{"event": "a"}, {"event": "b"}]


def test_events_are_kept_up_to_the_moment_and_without_a_time() -> None:
    events = [at("2026-01-05T10:00:00Z"), {"event": "timeless"}, at("2026-01-05T10:00:02Z", key="timestamp")]
    kept = list(events_until(events, "2026-01-05T10:00:01Z"))
    assert kept == events[:2]


def test_times_with_and_without_a_zone_can_be_compared() -> None:
    events = [at("2026-01-05T10:00:00"), at("2026-01-05T12:00:00+02:00"), at("2026-01-05T10:00:01")]
    assert list(events_until(events, "2026-01-05T10:00:00Z")) == events[:2]


def test_kept_events_get_the_ids_of_the_fork() -> None:
    events = [{**at("2026-01-05T10:00:00Z"), "session_id": "old"}]
    kept = list(events_until(events, "2026-01-06", session_id="new", parent_id="old"))
    assert kept == [{**events[0], "session_id": "new", "parent_session_id": "old"}]


def test_a_cutoff_that_is_no_time_is_refused() -> None:
    with pytest.raises(ValueError, match="'soon' is no ISO 8601 time"):
        events_until([], "soon")


def test_the_last_time_of_a_turn_is_that_of_its_last_message_with_one() -> None:
    messages = [
        {"role": "user", "content": "1", "timestamp": "T1"},
        {"role": "assistant", "content": "1", "ts": "T2"},
        {"role": "assistant", "content": "1"},
        {"role": "user", "content": "2", "timestamp": "T3"},
    ]
    assert last_timestamp(messages, 1) == "T2"
    assert last_timestamp(messages, 2) == "T3"
    assert last_timestamp([{"role": "user", "content": "1"}], 1) is None


def test_a_summary_counts_kinds_and_finds_the_ends() -> None:
    events = [at("2026-01-05T10:00:02Z", "b"), at("2026-01-05T10:00:00", "a"), {"event": "b"}]
    assert summarise_events(read_events(map(json.dumps, events))) == {
        "total_events": 3,
        "event_types": {"b": 2, "a": 1},
        "first_timestamp": "2026-01-05T10:00:00",
        "last_timestamp": "2026-01-05T10:00:02Z",
    }


def test_what_is_no_time_has_no_moment() -> None:
    assert moment("yesterday") is None
    assert moment(None) is None
