import json
from typing import Any

import pytest

from amplihack.recipes.progress_format import Progress, ProgressError, ProgressStatus, file_name, safe_name
from amplihack.recipes.progress_reading import (
    check_transition,
    decode_progress,
    read_progress,
    split_file_name,
    validate_progress,
)
from amplihack.recipes.workstreams import Workstream, decode_workstreams, merge_workstreams, workstream_id

NOW = 1_000_000.0
GOOD: dict[str, Any] = {
    "status": "running",
    "step_name": "build",
    "timestamp": NOW,
    "recipe_name": "my-recipe",
    "pid": 7,
    "current_step": 1,
    "total_steps": 3,
    "elapsed_seconds": 1.5,
}
NAME = "amplihack-progress-my_recipe-7.json"


def validate(name: str = NAME, previous: ProgressStatus | None = None, **changes: Any) -> Progress:
    text = json.dumps({**GOOD, **changes})
    return validate_progress(name, text, now=NOW, alive=lambda pid: pid == 7, previous=previous)


@pytest.mark.parametrize(
    ("recipe", "safe"),
    [
        ("build", "build"),
        ("my-recipe/v2!", "v2_"),
        ("release.yaml", "release"),
        ("größe", "gr__e"),
        ("x" * 100, "x" * 64),
        ("", "_"),
        ("..", "__"),
    ],
)
def test_a_recipe_name_becomes_safe(recipe: str, safe: str) -> None:
    assert safe_name(recipe) == safe
    assert split_file_name(file_name(recipe, 42)) == (safe, 42)


@pytest.mark.parametrize(
    "name",
    [
        "amplihack-progress--7.json",
        "amplihack-progress-a-b-7.json",
        f"amplihack-progress-{'a' * 65}-7.json",
        "amplihack-progress-a-7.json\n",
        "amplihack-progress-a-x.json",
        "x/amplihack-progress-a-7.json",
    ],
)
def test_other_file_names_are_not_progress_files(name: str) -> None:
    assert split_file_name(name) is None


def test_what_is_written_is_read_back() -> None:
    progress = validate()
    assert decode_progress(json.dumps(progress.to_json())) == progress
    assert progress.to_json() == GOOD


def test_a_long_step_name_is_cut_between_characters_when_written() -> None:
    shown = Progress(status="running", step_name="é" * 200, timestamp=1.0).to_json()
    assert shown == {"status": "running", "step_name": "é" * 128, "timestamp": 1.0}


def test_updated_at_is_another_word_for_timestamp() -> None:
    assert decode_progress('{"status":"failed","step_name":"a","updated_at":5}').timestamp == 5.0


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"status": "done"}, "status must be one of"),
        ({"status": None}, "status must be one of"),
        ({"step_name": ""}, "step_name must be a text"),
        ({"step_name": "é" * 129}, "longer than 256 bytes"),
        ({"timestamp": 0}, "timestamp must be"),
        ({"timestamp": True}, "timestamp must be"),
        ({"timestamp": "now"}, "timestamp must be"),
        ({"recipe_name": 5}, "recipe_name must be a text"),
        ({"pid": -1}, "pid must be"),
        ({"current_step": 1.5}, "current_step must be"),
        ({"elapsed_seconds": -0.1}, "elapsed_seconds must be"),
        ({"pid": 8}, "the file says process 8, its name says 7"),
        ({"recipe_name": "other"}, "about recipe 'other'"),
        ({"timestamp": NOW + 31}, "from the future"),
        ({"timestamp": NOW - 7201}, "stale"),
    ],
)
def test_a_doubtful_file_is_refused(changes: dict[str, Any], what: str) -> None:
    with pytest.raises(ProgressError, match=what):
        validate(**changes)


@pytest.mark.parametrize("timestamp", [NOW + 30, NOW - 7200])
def test_a_small_difference_in_time_is_accepted(timestamp: float) -> None:
    assert validate(timestamp=timestamp).timestamp == timestamp


def test_a_name_that_is_not_ours_is_refused_before_the_text_is_read() -> None:
    with pytest.raises(ProgressError, match="is not the name"):
        validate_progress("x.json", "not json", now=NOW, alive=lambda _: True)


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000, "NaN"])
def test_text_that_is_no_json_object_is_refused(text: str) -> None:
    with pytest.raises(ProgressError, match="the progress file is not"):
        decode_progress(text)
    assert read_progress(text) is None


def test_a_dead_process_has_no_progress() -> None:
    with pytest.raises(ProgressError, match="process 9 is gone"):
        validate("amplihack-progress-my_recipe-9.json", pid=9)


ALL: tuple[ProgressStatus, ...] = ("running", "completed", "failed", "skipped", "unknown")


def test_what_has_ended_stays_ended() -> None:
    allowed = set()
    for before in ALL:
        for after in ALL:
            try:
                check_transition(before, after)
            except ProgressError:
                continue
            allowed.add((before, after))
    ends = ("completed", "failed", "skipped")
    assert allowed == {
        *((each, each) for each in ALL),
        *(("running", end) for end in ends),
        *(("unknown", other) for other in ("running", *ends)),
    }


def test_the_previous_status_counts_in_a_full_validation() -> None:
    assert validate(previous="unknown").status == "running"
    with pytest.raises(ProgressError, match="cannot change from failed to running"):
        validate(previous="failed")


@pytest.mark.parametrize("missing", ["recipe_name", "current_step", "pid", "status"])
def test_a_reader_gets_nothing_when_something_it_needs_is_missing(missing: str) -> None:
    text = json.dumps({name: value for name, value in GOOD.items() if name != missing})
    assert read_progress(text) is None
    assert read_progress(json.dumps(GOOD)) is not None


def test_merging_replaces_by_id_appends_new_ones_and_keeps_the_order() -> None:
    entries = [{"workstream_id": "1", "status": "running"}, {"workstream_id": "2", "status": "running"}]
    states = [
        Workstream(workstream_id="3", status="running", timestamp=1.0).to_json(),
        Workstream(workstream_id="1", status="failed", timestamp=2.0, error_message="no").to_json(),
    ]
    assert merge_workstreams(entries, states) == [states[1], entries[1], states[0]]
    assert merge_workstreams(entries, []) == entries


@pytest.mark.parametrize("text", ["{}", "[1]", "nope"])
def test_a_broken_workstream_file_is_refused(text: str) -> None:
    with pytest.raises(ProgressError):
        decode_workstreams(text)


def test_an_empty_workstream_file_has_no_entries() -> None:
    assert decode_workstreams(" \n") == []


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"AMPLIHACK_WORKSTREAM_ID": "9", "AMPLIHACK_WORKSTREAM_STATE_FILE": "/x/ws-4.json"}, "9"),
        ({"AMPLIHACK_WORKSTREAM_STATE_FILE": "/x/ws-4.json"}, "4"),
        ({}, "run-1"),
    ],
)
def test_a_workstream_knows_its_id(environment: dict[str, str], expected: str) -> None:
    assert workstream_id(environment, "run-1") == expected
