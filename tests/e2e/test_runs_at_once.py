"""Many runs and many hands at once: no error, no lost record, one winner.

`LOAD_RUNS` and `LOAD_STEPS` ask for more than the usual share: 50 and 100 are what we promise.
"""

from __future__ import annotations

import os
import signal
import sqlite3
from collections import Counter
from typing import Any

import pytest
from tests.support.running import Scene, wait_until
from tests.support.workspace import Workspace

RUNS, STEPS = int(os.environ.get("LOAD_RUNS", "6")), int(os.environ.get("LOAD_STEPS", "20"))
STUBBORN = """\
name: stubborn
steps:
  - {id: first, command: 'echo first >> done.txt'}
  - id: second
    command: |
      echo second >> done.txt
      [ ! -e go ] || exit 0
      trap 'touch asked' TERM
      touch begun
      while :; do sleep 0.05; done
  - {id: third, command: 'echo third >> done.txt'}
"""


@pytest.fixture
def scene(workspace: Workspace) -> Scene:
    return Scene(workspace)


def listed(workspace: Workspace) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = workspace.run("runs", "list", "--json", "--limit", "1000").json
    return runs


def test_runs_at_once_share_the_database_and_lose_nothing(scene: Scene) -> None:
    workspace = scene.workspace
    steps = "".join(f"  - {{id: s{number}, command: 'echo {number}'}}\n" for number in range(STEPS))
    workspace.write("many.yaml", f"name: many\nsteps:\n{steps}")
    workspace.run("runs", "list")
    scene.patience = 600.0
    running = [scene.start("recipe", "run", "many.yaml", "-q") for _ in range(RUNS)]
    told = [each.end() for each in running]
    assert {(each.exit_code, each.stdout, each.stderr) for each in told} == {(0, f"{STEPS - 1}\n", "")}
    runs = listed(workspace)
    assert (len({run["run_id"] for run in runs}), {run["status"] for run in runs}) == (RUNS, {"completed"})
    with sqlite3.connect(workspace.path / "home" / ".amplihack" / "runs.sqlite3") as database:
        rows = database.execute("SELECT run FROM events WHERE kind = 'StepFinished'").fetchall()
    database.close()
    assert sorted(Counter(number for (number,) in rows).values()) == [STEPS] * RUNS


def test_a_killed_cancel_leaves_a_run_that_can_be_cancelled_and_resumed(scene: Scene) -> None:
    workspace = scene.workspace
    workspace.write("stubborn.yaml", STUBBORN)
    run_id = workspace.run("recipe", "run", "stubborn.yaml", "--detach").stdout.strip()
    wait_until("the second step", lambda: scene.has("begun"))
    cancelling = scene.start("runs", "cancel", run_id)
    cancelling.wait_for("asked")  # the runner ends its step, which does not want to
    cancelling.interrupt(number=signal.SIGKILL)
    cancelling.end()
    assert listed(workspace)[0]["status"] in ("running", "cancelled")
    again = workspace.run("runs", "cancel", run_id)
    assert again.exit_code in (0, 2), again.stderr
    wait_until("the end of its processes", lambda: not scene.alive())
    assert listed(workspace)[0]["status"] == "cancelled"
    workspace.write("go", "")
    assert workspace.run("runs", "resume", run_id, "--json").json["status"] == "completed"
    assert (workspace.path / "done.txt").read_text().split() == ["first", "second", "second", "third"]


def test_of_two_answers_to_a_gate_one_counts(scene: Scene) -> None:
    workspace = scene.workspace
    gate = "{name: one, steps: [{id: a, command: ls}], approval: {prompt: go?}}"
    workspace.write("gate.yaml", f"name: gate\nstages:\n  - {gate}\n")
    workspace.run("recipe", "run", "gate.yaml")
    both = [scene.start("runs", word) for word in ("approve", "deny")]
    codes = sorted(each.end().exit_code for each in both)
    (gate_then,) = workspace.run("runs", "show", "--json").json["gates"]
    assert codes in ([0, 2], [0, 1])
    assert gate_then["decision"] in ("approved", "denied")


def test_gates_of_one_stage_are_told_apart_by_where_they_stand(workspace: Workspace) -> None:
    gate = "{name: ask, steps: [{id: a, command: echo}], approval: {prompt: 'ok {{item}}?'}}"
    workspace.write("sub.yaml", f"name: sub\nstages:\n  - {gate}\n")
    workspace.write("loop.yaml", "name: loop\nsteps:\n  - {id: each, foreach: [1, 2], recipe: ./sub.yaml}\n")
    workspace.run("recipe", "run", "loop.yaml")
    assert "its gates: each[0]/ask" in workspace.run("runs", "approve", "--stage", "other").stderr
    assert workspace.run("runs", "approve", "--stage", "each[0]/ask").exit_code == 0
    assert "already" in workspace.run("runs", "deny", "--stage", "each[0]/ask").stderr
    workspace.run("runs", "resume")
    assert workspace.run("runs", "deny").exit_code == 0
    shown = workspace.run("runs", "show").stdout
    assert "each[0]/ask: approved" in shown
    assert "each[1]/ask: denied" in shown
    assert "waiting" not in shown
