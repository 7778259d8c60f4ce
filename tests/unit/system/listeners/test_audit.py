import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.system.listeners.script import SCRIPT, Clock, ended, finished, play, started

from amplihack.errors import UsageError
from amplihack.recipes.events import Event, RecipeEntered, RunStarted
from amplihack.system.listeners.audit import AuditLog, audit_stem

AT = 1794775392.0  # 2026-11-15 20:43:12 UTC


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_run_and_each_sub_recipe_have_a_private_file_named_by_recipe_and_time(tmp_path: Path) -> None:
    play(AuditLog(tmp_path / "deep" / "audit", "build", now=Clock(AT)))
    files = sorted((tmp_path / "deep" / "audit").iterdir())
    assert [file.name for file in files] == [
        "build_20261115T204312Z.jsonl",
        "roll_out_20261115T204312Z.jsonl",
    ]
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_every_step_has_a_line_in_the_file_of_its_recipe(tmp_path: Path) -> None:
    log = AuditLog(tmp_path, "build", now=Clock(AT))
    play(log)
    own, sub = log.paths
    assert [(line["step_id"], line["status"]) for line in lines(own)] == [
        ("hello", "Completed"),
        ("ask", "Degraded"),
        ("deploy", "Completed"),
        ("each", "Completed"),
        ("skipped-step", "Skipped"),
        ("bad-step", "Failed"),
    ]
    assert [(line["identity"], line["status"]) for line in lines(sub)] == [
        ("deploy/upload", "Completed"),
        ("deploy/check", "Failed"),
    ]


def test_a_line_begins_with_the_five_promised_fields(tmp_path: Path) -> None:
    log = AuditLog(tmp_path, "build", now=Clock(AT))
    play(log)
    first, ask = lines(log.paths[0])[:2]
    assert list(first)[:5] == ["step_id", "status", "duration_ms", "error", "output_len"]
    assert first == {
        "step_id": "hello",
        "status": "Completed",
        "duration_ms": 250,
        "error": None,
        "output_len": 8,
        "run_id": "run-1",
        "recipe": "build",
        "depth": 0,
        "started_at": "2026-11-15T20:43:12.000+00:00",
        "identity": "hello",
        "type": "bash",
        "attempts": 1,
        "exit_code": 0,
        "skip_reason": None,
        "allowed": False,
        "warnings": [],
        "usage": None,
        "cost_usd": None,
    }
    assert (ask["output_len"], ask["cost_usd"]) == (2, 0.5)


def test_a_step_without_a_duration_has_none_and_a_reason(tmp_path: Path) -> None:
    log = AuditLog(tmp_path, "build", now=Clock(AT))
    play(log, [started("a"), finished("a", "skipped", skip_reason="tags", duration=None)])
    (line,) = lines(log.paths[0])
    assert (line["duration_ms"], line["skip_reason"], line["status"]) == (None, "tags", "Skipped")


def test_two_runs_in_the_same_second_do_not_share_a_file(tmp_path: Path) -> None:
    names = [AuditLog(tmp_path, "build", now=Clock(AT)).paths[0].name for _ in range(3)]
    assert names == [f"build_20261115T204312Z{suffix}.jsonl" for suffix in ("", "_2", "_3")]


def test_each_call_of_a_sub_recipe_has_a_file_and_steps_find_theirs(tmp_path: Path) -> None:
    log = AuditLog(tmp_path, "top", now=Clock(AT))
    events: list[Event] = [
        RunStarted("run-1", "top", "1", 1),
        started("each", "recipe"),
        RecipeEntered("each[0]", "sub", 1, 1),
        RecipeEntered("each[1]", "sub", 1, 1),
        started("each[1]/x"),
        started("each[0]/x"),
        finished("each[1]/x"),
        finished("each[0]/x"),
        finished("each"),
        started("each/late"),  # nothing of the sub-recipe is open any more
        finished("each/late"),
    ]
    play(log, events)
    assert [[line["identity"] for line in lines(path)] for path in log.paths] == [
        ["each", "each/late"],
        ["each[0]/x"],
        ["each[1]/x"],
    ]


def test_steps_that_were_cut_off_are_logged_as_interrupted(tmp_path: Path) -> None:
    clock = Clock(AT)
    log = AuditLog(tmp_path, "top", now=clock)
    log.hear(started("outer", "recipe"))
    log.hear(RecipeEntered("outer", "sub", 1, 1))
    log.hear(started("outer/slow"))
    clock.now += 2
    log.hear(finished("outer", "failed", error="timed out"))
    log.hear(started("last"))
    log.hear(ended(error="the run was interrupted"))
    shown = [(line["identity"], line["error"]) for path in log.paths for line in lines(path)]
    assert shown == [
        ("outer", "timed out"),
        ("last", "interrupted before it was done"),
        ("outer/slow", "interrupted before it was done"),
    ]
    assert lines(log.paths[1])[0]["duration_ms"] == 2000


@pytest.mark.parametrize(
    ("recipe", "stem"),
    [
        ("a/b c", "a_b_c"),
        ("../../etc", "_.._etc"),
        ("größe-1.2", "größe-1.2"),
        ("", "recipe"),
        ("..", "recipe"),
        ("x" * 500, "x" * 128),
        ("é" * 100, "é" * 64),
    ],
)
def test_any_recipe_name_makes_a_file_name(recipe: str, stem: str) -> None:
    assert audit_stem(recipe, AT) == f"{stem}_20261115T204312Z"


def test_a_directory_that_cannot_be_used_stops_the_run_before_it_starts(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write an audit log"):
        AuditLog(tmp_path / "file", "build", now=Clock(AT))


def test_the_lines_of_a_whole_run_are_there_before_it_is_closed(tmp_path: Path) -> None:
    log = AuditLog(tmp_path, "build", now=Clock(AT))
    for event in SCRIPT:
        log.hear(event)
    assert len(lines(log.paths[0])) == 6


def test_output_that_is_no_proper_text_is_measured_all_the_same(tmp_path: Path) -> None:
    log = AuditLog(tmp_path, "build", now=Clock(AT))
    play(log, [finished("a", output="\ud800", error="\ud800")])
    assert lines(log.paths[0])[0]["error"] == "\ud800"
