from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amplihack.system.transcripts.finder import (
    SessionFilter,
    find_sessions,
    resolve_session,
    session_info,
)
from amplihack.system.transcripts.store import write_metadata, write_transcript

HEALTHY: list[dict[str, Any]] = [
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "Hi there"},
]
BROKEN: list[dict[str, Any]] = [
    {"role": "user", "content": "go"},
    {"role": "assistant", "tool_calls": [{"id": "a"}]},
]


def make(
    root: Path,
    project: str,
    name: str,
    *,
    messages: list[dict[str, Any]] | None = None,
    created: str | None = "2026-01-05T10:00:00+00:00",
) -> Path:
    directory = root / project / "sessions" / name
    directory.mkdir(parents=True)
    write_transcript(directory, HEALTHY if messages is None else messages)
    write_metadata(directory, {"session_id": name, "created": created, "bundle": "b", "model": "m"})
    return directory


def names(root: Path, limit: int | None = 50, **matching: str) -> list[str]:
    found = find_sessions(sessions_root=root, matching=SessionFilter(**matching), limit=limit)
    return [entry["session_id"] for entry in found]


def test_a_session_is_found_by_path_id_and_beginning(tmp_path: Path) -> None:
    session = make(tmp_path, "p", "abc-1")
    for ref in (str(session), "abc-1", "abc", "a"):
        assert resolve_session(ref, sessions_root=tmp_path) == session


def test_an_exact_id_is_not_ambiguous(tmp_path: Path) -> None:
    session = make(tmp_path, "p", "abc")
    make(tmp_path, "p", "abc-longer")
    assert resolve_session("abc", sessions_root=tmp_path) == session


def test_an_ambiguous_beginning_lists_what_it_may_be(tmp_path: Path) -> None:
    session = make(tmp_path, "p", "abc-1")
    make(tmp_path, "q", "abc-2")
    with pytest.raises(ValueError, match="ambiguous: it may be p/abc-1, q/abc-2"):
        resolve_session("abc", sessions_root=tmp_path)
    assert resolve_session("abc", sessions_root=tmp_path, project="p") == session


@pytest.mark.parametrize("ref", ["nothing", "", "..", "../p", "*"])
def test_what_is_no_session_is_not_found(tmp_path: Path, ref: str) -> None:
    make(tmp_path, "p", "abc")
    with pytest.raises(FileNotFoundError):
        resolve_session(ref, sessions_root=tmp_path)


def test_a_directory_without_metadata_is_no_session(tmp_path: Path) -> None:
    directory = tmp_path / "p" / "sessions" / "abc"
    directory.mkdir(parents=True)
    for ref in (str(directory), "abc"):
        with pytest.raises(FileNotFoundError):
            resolve_session(ref, sessions_root=tmp_path)


def test_the_newest_sessions_come_first_up_to_the_limit(tmp_path: Path) -> None:
    make(tmp_path, "p", "old", created="2024-01-01T00:00:00")
    make(tmp_path, "q", "new", created="2026-01-01T00:00:00+00:00")
    make(tmp_path, "p", "middle", created="2025-01-01T00:00:00Z")
    make(tmp_path, "p", "undated", created=None)
    assert names(tmp_path) == ["new", "middle", "old", "undated"]
    assert names(tmp_path, limit=2) == ["new", "middle"]
    assert names(tmp_path, project="p") == ["middle", "old", "undated"]
    assert names(tmp_path, after="2025-01-01") == ["new", "middle"]
    assert names(tmp_path, before="2025-01-01T00:00:00") == ["middle", "old"]


def test_a_bound_that_is_no_time_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'last week' is no ISO 8601"):
        names(tmp_path, after="last week")


def test_words_are_looked_for_in_what_was_said(tmp_path: Path) -> None:
    said = make(tmp_path, "p", "said", messages=[])
    escaped = json.dumps({"role": "user", "content": [{"type": "text", "text": "Der Élefant"}]})
    (said / "transcript.jsonl").write_text(escaped + "\n")
    make(tmp_path, "p", "other")
    assert names(tmp_path, keyword="élefant") == ["said"]
    assert names(tmp_path, keyword="assistant") == []


def test_sessions_are_found_by_their_health(tmp_path: Path) -> None:
    make(tmp_path, "p", "ok")
    make(tmp_path, "p", "ill", messages=BROKEN)
    assert names(tmp_path, status="broken") == ["ill"]
    assert names(tmp_path, status="healthy") == ["ok"]


def test_corrupt_and_half_written_sessions_are_passed_over(tmp_path: Path) -> None:
    corrupt = make(tmp_path, "p", "corrupt")
    (corrupt / "metadata.json").write_text("{")
    make(tmp_path, "p", ".fork-x")
    make(tmp_path, "p", "ok")
    assert names(tmp_path) == ["ok"]


def test_without_a_root_there_are_no_sessions(tmp_path: Path) -> None:
    assert names(tmp_path / "missing") == []


def test_information_includes_turns_and_health(tmp_path: Path) -> None:
    session = make(tmp_path, "p", "ill", messages=BROKEN)
    assert session_info(session) == {
        "session_id": "ill",
        "path": session,
        "project": "p",
        "created": "2026-01-05T10:00:00+00:00",
        "bundle": "b",
        "model": "m",
        "turn_count": 1,
        "status": "broken",
        "failure_modes": ["missing_tool_results"],
    }
