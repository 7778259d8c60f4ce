import io
import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.system.listeners.script import SCRIPT, Clock, play

from amplihack.errors import UsageError
from amplihack.recipes.events import LinesPrinted, OutputStored
from amplihack.system.listeners.json_lines import JsonLines


def told(*events: Any) -> list[dict[str, Any]]:
    stream = io.BytesIO()
    listener = JsonLines(stream, now=Clock(12.34567))
    for event in events:
        listener.hear(event)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_each_line_of_a_batch_becomes_one_object() -> None:
    lines = told(SCRIPT[0], LinesPrinted("a", "stderr", ('"one"\t', "", "two \udc80")))[1:]
    head = {"event": "line_printed", "ts": 12.346, "run_id": "run-1", "identity": "a", "stream": "stderr"}
    assert lines == [{**head, "line": line} for line in ('"one"\t', "", "two \udc80")]


def test_every_event_becomes_one_object_with_its_time_and_its_run() -> None:
    lines = told(*SCRIPT)
    assert len(lines) == len(SCRIPT)
    assert {(line["ts"], line["run_id"]) for line in lines} == {(12.346, "run-1")}
    assert [line["event"] for line in lines[:5]] == [
        "run_started",
        "step_started",
        "line_printed",
        "output_stored",
        "step_finished",
    ]


HEAD = {"ts": 12.346, "run_id": "run-1"}
EXPECTED: dict[str, dict[str, Any]] = {
    "run_started": {"recipe": "build", "version": "1.0.0", "steps": 6},
    "step_started": {
        "identity": "hello", "step_id": "hello", "type": "bash", "title": "hello", "recipe": "build",
        "depth": 0, "number": 1, "of": 6, "after_failure": False,
    },
    "line_printed": {"identity": "hello", "stream": "stdout", "line": "\x1b[32mhi\x1b[0m\tthere\x07"},
    "output_stored": {"identity": "hello", "values": {"hello": {"bytes": 8, "text": "hi there"}}},
    "step_finished": {
        "identity": "hello", "step_id": "hello", "type": "bash", "recipe": "build", "depth": 0,
        "status": "completed", "duration": 0.25, "error": "", "exit_code": 0, "attempts": 1,
        "skip_reason": "", "allowed": False, "warnings": [], "output": {"bytes": 8, "text": "hi there"},
        "usage": None, "cost_usd": None,
    },
    "recipe_entered": {"identity": "deploy", "recipe": "roll/out", "steps": 2, "depth": 1},
    "retrying": {
        "identity": "ask", "attempt": 2, "of": 3, "delay": 60.0, "reason": "rate limited\nmore about it",
        "due": 0.0,
    },
    "warned": {"identity": "ask", "message": "the answer was not JSON"},
    "iteration_started": {"identity": "each", "index": 0, "of": 2},
    "gate_reached": {"stage": "ship", "prompt": "Ship it?\nReally?", "identity": "", "due": None, "step": ""},
    "gate_decided": {
        "stage": "ship",
        "approved": True,
        "message": "go",
        "identity": "",
        "by": "me",
        "at": 12.5,
        "step": "",
    },
    "run_finished": {
        "recipe": "build", "status": "failed", "success": False, "duration": 3.5, "summary": "",
        "error": "it failed", "warnings": [],
        "counts": {
            "completed": 3, "skipped": 1, "degraded": 1, "failed": 1, "failed_allowed": 0, "interrupted": 0,
            "never_reached": 0,
        },
        "never_reached": [], "usage": {"input_tokens": 10, "output_tokens": 2, "cached_tokens": None},
        "cost_usd": 0.5,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", EXPECTED)
def test_the_fields_of_an_event_are_as_documented(name: str) -> None:
    line = next(line for line in told(*SCRIPT) if line["event"] == name)
    assert line == {"event": name, **HEAD, **EXPECTED[name]}


def test_a_large_value_is_told_by_its_size_alone() -> None:
    values = {"text": "é" * 2048, "longer": "é" * 2049, "object": {"a": [1]}, "none": None}
    (line,) = told(OutputStored("a", values))
    assert line["values"] == {
        "text": {"bytes": 4096, "text": "é" * 2048},
        "longer": {"bytes": 4098},
        "object": {"bytes": 9, "text": '{"a":[1]}'},
        "none": {"bytes": 0, "text": ""},
    }


def test_bytes_that_are_no_text_and_newlines_keep_the_line_valid() -> None:
    odd = "\udc80 \ud800 \u2028 \n é"
    line, stored = told(LinesPrinted("a", "stdout", (odd,)), OutputStored("a", {"x": odd}))
    assert line["line"] == stored["values"]["x"]["text"] == odd


def test_a_file_is_private_and_complete_after_each_event(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    listener = JsonLines.to_file(path, now=Clock())
    listener.hear(SCRIPT[0])
    assert json.loads(path.read_text())["event"] == "run_started"
    assert path.stat().st_mode & 0o777 == 0o600
    play(listener, SCRIPT[1:])
    assert len(path.read_text().splitlines()) == len(SCRIPT)


def test_a_file_that_cannot_be_written_stops_the_run_before_it_starts(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write events to .*No such file"):
        JsonLines.to_file(tmp_path / "absent" / "events.jsonl", now=Clock())
