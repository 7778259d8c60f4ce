from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.kernel_sessions import answering, opened, plan

pytestmark = pytest.mark.asyncio

SECRET = "ghp_" + "0a" * 15


def logged(path: Path, **config: Any) -> dict[str, Any]:
    steps = [{"tools": [{"name": "a"}]}, {"text": "ok"}]
    module = {"module": "hooks-logging", "config": {"path": str(path), **config}}
    return plan(steps=steps, hooks=[module], tools=[{"module": "tool-delegate"}])


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


async def test_every_event_is_a_line_without_secrets(tmp_path: Path) -> None:
    path = tmp_path / "new" / "{session_id}.jsonl"
    async with opened(logged(path), tools=[answering("a", f"key {SECRET}")]) as stage:
        await stage.say("go")
        written = records(Path(str(path).replace("{session_id}", stage.session.session_id)))
        events = [each["event"] for each in written]
        assert {"execution:start", "tool:pre", "tool:post", "llm:response", "execution:end"} <= set(events)
        assert "llm:stream_block_delta" not in events
        assert written[0].keys() >= {"ts", "lvl", "schema", "event", "session_id", "data"}
        assert SECRET not in json.dumps(written)
        await stage.coordinator.hooks.emit("delegate:agent_spawned", {"agent": "x"})
        last = records(Path(str(path).replace("{session_id}", stage.session.session_id)))[-1]
        assert last["event"] == "delegate:agent_spawned"  # declared by another module


async def test_by_default_it_lies_in_the_home_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMPLIHACK_HOME", str(tmp_path))
    given = plan(steps=[{"text": "x"}], hooks=[{"module": "hooks-logging"}])
    async with opened(given) as stage:
        await stage.say("go")
        path = tmp_path / "sessions" / stage.session.session_id / "events.jsonl"
        assert records(path)
        assert path.stat().st_mode & 0o777 == 0o600


async def test_large_values_are_cut_and_a_large_log_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "log"
    given = logged(path, max_field_characters=100, max_bytes=5_000)
    async with opened(given, tools=[answering("a", "x" * 10_000)]) as stage:
        await stage.say("go")
        assert path.stat().st_size <= 5_000
        assert (tmp_path / "log.1").exists()
        text = path.read_text() + (tmp_path / "log.1").read_text()
        assert "x" * 200 not in text


async def test_a_log_that_cannot_be_written_is_told_once_and_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    async with opened(logged(tmp_path / "file" / "log"), tools=[answering("a", "x")]) as stage:
        assert await stage.say("go") == "ok"
        assert len([line for line in stage.shown.lines if "no longer logged" in line]) == 1
