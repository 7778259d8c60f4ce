"""Worktrees of workstreams that are gone: a run that goes on makes them again, with what was done."""

from __future__ import annotations

import shutil

import pytest
from tests.support.framework_place import APPROVED, BUILT, PLANNED, FrameworkPlace, rule

STREAMS = [{"task": "Add mul", "name": "mul"}]
DIES = rule("Review this change", fail="no credit", times=1)


def failed(place: FrameworkPlace, keep: str) -> None:
    place.answers(PLANNED, BUILT, DIES, APPROVED)
    done = place.run("parallel-workstreams", workstreams=STREAMS, keep_worktrees=keep)
    assert done.exit_code == 1


def went_on(place: FrameworkPlace) -> None:
    done = place.workspace.run("runs", "resume", "-q")
    assert done.exit_code == 0, done.stderr
    assert "completed: feat/orch-1-mul, tests passed" in done.stdout
    assert place.asked_for("Make this change") == 1
    assert "mul()" in place.git("show", "feat/orch-1-mul:calc.sh")
    assert place.git("worktree", "list").count("\n") == 0


def test_work_of_a_failed_workstream_is_kept_on_its_branch_where_no_worktree_may_stay(
    place: FrameworkPlace,
) -> None:
    failed(place, "never")
    assert place.git("worktree", "list").count("\n") == 0
    assert place.git("log", "-1", "--format=%s", "feat/orch-1-mul") == "Unfinished work"
    went_on(place)


def test_a_workstream_that_fails_takes_the_worktree_of_no_other(place: FrameworkPlace) -> None:
    streams = [{"task": "Add mul", "name": "mul"}, {"task": "Fail early", "name": "early"}]
    early = rule("Make this change", "Fail early", run="touch ../../failed", fail="no credit")
    late = rule(
        "Make this change", "Add mul", reply="I added mul.",
        run=f"for _ in $(seq 600); do [ ! -e ../../failed ] || break; sleep 0.1; done; sleep 1; {BUILT.run}",
    )  # fmt: skip
    place.answers(PLANNED, early, late, APPROVED)
    done = place.run("parallel-workstreams", "-v", workstreams=streams, keep_worktrees="never")
    assert done.exit_code == 1
    assert "mul()" in place.git("show", "feat/orch-1-mul:calc.sh")
    assert "no credit" in done.stdout + done.stderr
    assert "Add mul" in place.git("log", "-1", "--format=%s", "feat/orch-1-mul")
    assert place.git("worktree", "list").count("\n") == 0


@pytest.mark.parametrize("tidied", [False, True])
def test_a_worktree_that_somebody_removed_is_made_again(place: FrameworkPlace, tidied: bool) -> None:
    failed(place, "failed")
    (tree,) = place.workspace.path.glob("home/.amplihack/workstreams/*/ws-1")
    place.git("-C", str(tree), "commit", "--quiet", "-am", "keep it")
    shutil.rmtree(tree)
    if tidied:
        place.git("worktree", "prune")
    went_on(place)


def test_without_a_repository_only_that_is_told(place: FrameworkPlace) -> None:
    place.answers()
    done = place.run("default-workflow", "--json", task_description="x", repo_path=str(place.agent))
    assert done.exit_code == 1
    failures = [step["step_id"] for step in done.json["step_results"] if step["status"] == "failed"]
    assert failures == ["prepare"]


def test_many_workstreams_come_and_go_at_once(place: FrameworkPlace) -> None:
    place.answers(PLANNED, BUILT, APPROVED)
    streams = [{"task": f"Add mul {number}", "name": f"mul {number}"} for number in range(8)]
    done = place.run("parallel-workstreams", "-q", workstreams=streams, max_parallel=8)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.count("- completed: feat/orch-") == 8
    assert place.git("worktree", "list").count("\n") == 0
