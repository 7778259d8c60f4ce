"""Sessions that were cut off go on where they were, and so do the agents inside them."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.support.running import Scene, wait_until
from tests.support.scripted_families import a_family, bash, delegate, says, uses
from tests.support.workspace import Workspace

HANGS = "#!/bin/sh\necho begun >> log; touch begun; exec sleep 600\n"


def sessions(workspace: Workspace) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = workspace.run("session", "list", "--all", "--json").json
    return found


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_an_agent_inside_a_session_goes_on_when_it_is_asked_for_again(
    workspace: Workspace, how: signal.Signals
) -> None:
    scene = Scene(workspace)
    a_family(
        workspace,
        root=[uses(delegate("helper")), uses(delegate("helper")), says("all done")],
        helper=[uses(bash("echo once >> log")), uses(bash("./hang")), says("helper done")],
    )
    workspace.write("hang", HANGS).chmod(0o755)
    started = scene.start("run", "--bundle", "./mine.yaml", "--yes", "work")
    started.wait_for("begun")
    started.process.send_signal(how)
    if how == signal.SIGINT:
        started.process.send_signal(how)  # the first one lets tools end
    started.process.communicate(timeout=60)
    wait_until("no process is left", lambda: not scene.alive())
    parent, child = sorted(sessions(workspace), key=lambda each: "_" in each["session_id"])
    assert child["parent_id"] == parent["session_id"]
    answer = workspace.run("session", "resume", "last", "--yes", "--json", "go on")
    assert answer.exit_code == 0, answer.stderr
    assert answer.json["response"] == "all done"
    assert f"goes on where it was cut off, in session {child['session_id']}" in answer.stderr
    assert (workspace.path / "log").read_text().split() == ["once", "begun"]
    assert len(sessions(workspace)) == 2
    shown = workspace.run("session", "show", child["session_id"], "--json").json
    texts = json.dumps(shown["messages"])
    assert texts.count("You were interrupted before you had answered") == 1
    assert "helper done" in texts
    # Each of six answers is paid for once, and the parent knows of all.
    assert workspace.run("session", "show", "last", "--json").json["cost_usd"] == 1.5


def test_a_script_goes_on_in_a_resumed_session_and_in_a_fork(workspace: Workspace) -> None:
    script = [says("one"), uses(bash("echo two")), says("three"), says("four")]
    workspace.write("script.yaml", json.dumps(script))
    workspace.env["AMPLIHACK_MODEL"] = "scripted:script.yaml"
    first = workspace.run("run", "--json", "a").json
    assert first["response"] == "one"
    fork = workspace.run("session", "fork", "last").stdout.strip()
    for session in (first["session_id"], fork):
        words = ("session", "resume", session, "--yes", "--quiet")
        assert workspace.run(*words, "b").stdout == "three\n"
        assert workspace.run(*words, "c").stdout == "four\n"
    done = workspace.run("session", "resume", fork, "--quiet", "d")
    assert "has 4 steps, and this is question 5" in done.stderr
    workspace.write("script.yaml", json.dumps([says("another script")]))
    assert workspace.run("session", "resume", fork, "--quiet", "e").stdout == "another script\n"
    workspace.write("script.yaml", json.dumps([*script, says("five")]))  # its beginning is the same
    assert workspace.run("session", "resume", fork, "--quiet", "f").stdout == "five\n"
    ids = [
        call["id"]
        for line in (Path(workspace.env["HOME"]) / ".amplihack/sessions" / fork / "transcript.jsonl")
        .read_text()
        .splitlines()
        for call in json.loads(line).get("tool_calls", ())
    ]
    assert len(ids) == len(set(ids)) == 1
