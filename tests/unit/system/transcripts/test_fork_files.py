from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplihack.system.transcripts.event_files import (
    count_events,
    get_event_summary,
    get_last_timestamp_for_turn,
    slice_events_for_fork,
    slice_events_to_timestamp,
)
from amplihack.system.transcripts.fork_files import (
    fork_session,
    get_fork_preview,
    get_session_lineage,
    list_session_forks,
)
from amplihack.system.transcripts.store import (
    load_metadata,
    load_transcript,
    read_jsonl,
    write_jsonl,
    write_metadata,
    write_transcript,
)


def message(role: str, text: str, time: str) -> dict[str, Any]:
    return {"role": role, "content": text, "timestamp": f"2026-01-05T10:{time}Z"}


def event(name: str, time: str) -> dict[str, Any]:
    return {"event": name, "ts": f"2026-01-05T10:{time}Z", "session_id": "parent"}


@pytest.fixture
def session(tmp_path: Path) -> Path:
    directory = tmp_path / "sessions" / "parent"
    directory.mkdir(parents=True)
    write_transcript(
        directory,
        [
            message("user", "one", "00:00"),
            message("assistant", "first", "00:05"),
            message("user", "two", "01:00"),
            message("assistant", "second", "01:10"),
        ],
    )
    write_metadata(directory, {"session_id": "parent", "bundle": "base", "model": "m", "name": "private"})
    write_jsonl(
        directory / "events.jsonl",
        [event("start", "00:00"), event("answer", "00:05"), event("ask", "01:00"), event("answer", "01:10")],
    )
    return directory


def test_a_fork_is_a_session_beside_its_parent(session: Path) -> None:
    fork = fork_session(session, turn=1)
    assert fork.session_dir == session.parent / fork.session_id
    assert load_transcript(fork.session_dir) == load_transcript(session)[:2]
    assert (fork.parent_id, fork.forked_from_turn, fork.message_count) == ("parent", 1, 2)


def test_a_fork_remembers_where_it_comes_from(session: Path) -> None:
    fork = fork_session(session, turn=1, new_session_id="mine")
    assert fork.session_dir is not None
    metadata = load_metadata(fork.session_dir)
    assert metadata.pop("forked_at") == metadata.pop("created")
    assert metadata == {
        "session_id": "mine",
        "parent_id": "parent",
        "forked_from_turn": 1,
        "turn_count": 1,
        "bundle": "base",
        "model": "m",
    }


def test_the_events_of_a_fork_end_with_its_turn_and_bear_its_id(session: Path) -> None:
    fork = fork_session(session, turn=1, new_session_id="mine")
    assert fork.session_dir is not None
    events = list(read_jsonl(fork.session_dir / "events.jsonl"))
    assert fork.events_count == len(events) == 2
    assert {(each["session_id"], each["parent_session_id"]) for each in events} == {("mine", "parent")}


def test_without_a_turn_the_whole_session_is_forked_anywhere(session: Path, tmp_path: Path) -> None:
    fork = fork_session(session, target_dir=tmp_path / "new" / "place", include_events=False)
    assert fork.session_dir is not None
    assert fork.forked_from_turn == 2
    assert fork.session_dir.parent == tmp_path / "new" / "place"
    assert not (fork.session_dir / "events.jsonl").exists()


def test_events_that_cannot_be_cut_leave_an_empty_log(session: Path) -> None:
    write_transcript(session, [{"role": "user", "content": "no time"}])
    fork = fork_session(session)
    assert fork.session_dir is not None
    assert fork.events_count == 0
    assert (fork.session_dir / "events.jsonl").read_bytes() == b""


def test_an_empty_session_forks_into_an_empty_one(session: Path) -> None:
    write_transcript(session, [])
    assert fork_session(session).message_count == 0


@pytest.mark.parametrize("name", ["../escape", "a/b", "..", "."])
def test_an_id_that_is_no_file_name_is_refused(session: Path, name: str) -> None:
    with pytest.raises(ValueError, match="cannot be a session's id"):
        fork_session(session, new_session_id=name)


def test_a_fork_that_fails_leaves_nothing_behind(session: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        fork_session(tmp_path / "missing")
    with pytest.raises(ValueError, match="out of range"):
        fork_session(session, turn=9)
    with pytest.raises(FileExistsError):
        fork_session(session, new_session_id="parent")
    (session / "metadata.json").write_text("broken")
    with pytest.raises(ValueError, match=r"metadata\.json"):
        fork_session(session)
    assert [path.name for path in session.parent.iterdir()] == ["parent"]


def test_a_preview_changes_nothing(session: Path) -> None:
    preview = get_fork_preview(session, 2)
    assert (preview["parent_id"], preview["max_turns"], preview["message_count"]) == ("parent", 2, 4)
    assert [path.name for path in session.parent.iterdir()] == ["parent"]


def test_forks_are_listed_and_spawned_children_are_not(session: Path) -> None:
    assert list_session_forks(session) == []
    fork = fork_session(session, turn=1)
    child = session.parent / "child"
    child.mkdir()
    write_metadata(child, {"session_id": "child", "parent_id": "parent"})
    (session.parent / "corrupt").mkdir()
    (session.parent / "corrupt" / "metadata.json").write_text("{")
    listed = list_session_forks(session)
    assert [(each["session_id"], each["forked_from_turn"]) for each in listed] == [(fork.session_id, 1)]
    assert get_session_lineage(session)["children"] == sorted(["child", fork.session_id])


def test_a_lineage_goes_back_to_the_root(session: Path) -> None:
    first = fork_session(session, turn=2)
    assert first.session_dir is not None
    second = fork_session(first.session_dir, turn=1)
    assert second.session_dir is not None
    lineage = get_session_lineage(second.session_dir)
    assert lineage["ancestors"] == [first.session_id, "parent"]
    assert lineage["depth"] == 2
    assert get_session_lineage(session)["parent_id"] is None


def test_events_are_cut_at_a_moment_and_at_a_turn(session: Path, tmp_path: Path) -> None:
    output = tmp_path / "cut.jsonl"
    events, transcript = session / "events.jsonl", session / "transcript.jsonl"
    assert slice_events_to_timestamp(events, "2026-01-05T10:01:00", output) == 3
    assert get_last_timestamp_for_turn(transcript, 1) == "2026-01-05T10:00:05Z"
    assert slice_events_for_fork(events, transcript, 1, output) == 2
    assert count_events(output) == 2


def test_events_can_be_cut_in_place(session: Path) -> None:
    events = session / "events.jsonl"
    assert slice_events_to_timestamp(events, "2026-01-05T10:00:00Z", events) == 1
    assert count_events(events) == 1


def test_a_missing_log_has_no_events(tmp_path: Path) -> None:
    assert count_events(tmp_path / "missing.jsonl") == 0
    assert get_event_summary(tmp_path / "missing.jsonl")["total_events"] == 0


def test_a_log_is_summarised(session: Path) -> None:
    summary = get_event_summary(session / "events.jsonl")
    assert summary["event_types"] == {"start": 1, "answer": 2, "ask": 1}
    assert summary["last_timestamp"] == "2026-01-05T10:01:10Z"
