"""One run works on a checkout at a time: the mark names a process, and a process that is gone has no say."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.support.framework_place import (
    ACHIEVED,
    APPROVED,
    MULTIPLY,
    PLANNED,
    SUMMED_UP,
    TRIED,
    FrameworkPlace,
    classified,
    rule,
)

OTHERS = (PLANNED, APPROVED, TRIED, ACHIEVED, SUMMED_UP)
FAILS = rule("Make this change", fail="no credit")
SEEN = rule(
    "Make this change", run=f"cp .git/amplihack-session ../seen.txt\n{MULTIPLY}", reply="I added mul."
)


def mark(place: FrameworkPlace) -> Path:
    return place.repo / ".git" / "amplihack-session"


def test_a_number_that_another_process_has_now_is_no_mark(place: FrameworkPlace) -> None:
    mark(place).write_text(f"other {os.getpid()} long-ago\n")
    place.answers(SEEN, *OTHERS)
    done = place.run("default-workflow", "-q", task_description="Add mul", publish="no")
    assert done.exit_code == 0, done.stderr


def test_a_mark_tells_when_its_process_began(place: FrameworkPlace) -> None:
    place.answers(SEEN, *OTHERS)
    place.run("default-workflow", task_description="Add mul", publish="no")
    run_id, process, since = (place.workspace.path / "seen.txt").read_text().split()
    mark(place).write_text(f"{run_id} {os.getpid()} {began(os.getpid())}\n")
    refused = place.run("default-workflow", task_description="Add more", publish="no")
    assert (refused.exit_code, f"run {run_id} works on this checkout" in refused.stderr) == (1, True)
    assert (process.isdigit(), bool(since)) == (True, True)


def began(process: int) -> str:
    stat = Path(f"/proc/{process}/stat")
    if not stat.exists():
        pytest.skip("the start of a process is found in another way here")
    return stat.read_text().rsplit(") ", 1)[1].split()[19]


@pytest.mark.parametrize("recipe", ["smart-orchestrator", "default-workflow"])
@pytest.mark.parametrize("left", ["other 999999999\n", "{run} 999999999\n"])
def test_a_run_that_goes_on_takes_over_the_mark_of_a_dead_process(
    place: FrameworkPlace, recipe: str, left: str
) -> None:
    place.answers(classified("Development"), FAILS, *OTHERS)
    done = place.run(recipe, "--json", task_description="Add mul", publish="no")
    mark(place).write_text(left.format(run=done.json["run_id"]))
    place.answers(classified("Development"), SEEN, *OTHERS)
    again = place.workspace.run("runs", "resume", "-q")
    assert again.exit_code == 0, again.stderr
    run_id, process, _ = (place.workspace.path / "seen.txt").read_text().split()
    assert (run_id, process != "999999999") == (done.json["run_id"], True)


@pytest.mark.parametrize("recipe", ["smart-orchestrator", "default-workflow"])
def test_a_run_does_not_go_on_where_another_one_works_meanwhile(place: FrameworkPlace, recipe: str) -> None:
    place.answers(classified("Development"), FAILS, *OTHERS)
    place.run(recipe, task_description="Add mul", publish="no")
    mark(place).write_text(f"other {os.getpid()}\n")
    place.answers(classified("Development"), SEEN, *OTHERS)
    again = place.workspace.run("runs", "resume", "-q")
    assert again.exit_code == 1
    assert "run other works on this checkout: wait for it, then go on" in again.stdout + again.stderr
    assert mark(place).read_text() == f"other {os.getpid()}\n"


@pytest.mark.parametrize("recipe", ["smart-orchestrator", "default-workflow"])
def test_a_run_that_goes_on_returns_to_its_branch(place: FrameworkPlace, recipe: str) -> None:
    place.answers(classified("Development"), FAILS, *OTHERS)
    place.run(recipe, task_description="Add mul", publish="no")
    branch = place.git("branch", "--show-current")
    place.git("switch", "--quiet", "main")
    place.answers(classified("Development"), SEEN, *OTHERS)
    again = place.workspace.run("runs", "resume", "-q")
    assert again.exit_code == 0, again.stderr
    assert (place.git("branch", "--show-current"), branch.startswith("amplihack/")) == (branch, True)
    assert place.git("log", "-1", "--format=%s", "main") == "start"


def test_work_of_the_user_on_another_branch_is_not_mixed_with_the_runs(place: FrameworkPlace) -> None:
    place.answers(FAILS, *OTHERS)
    place.run("default-workflow", task_description="Add mul", publish="no")
    place.git("switch", "--quiet", "main")
    (place.repo / "calc.sh").write_text("mine\n")
    place.answers(SEEN, *OTHERS)
    refused = place.workspace.run("runs", "resume")
    assert refused.exit_code == 1
    assert "but main is checked out and has uncommitted changes" in refused.stdout + refused.stderr
    assert place.git("status", "--porcelain") == "M calc.sh"
    assert place.asked_for("Make this change") == 1
    place.git("stash")
    assert place.workspace.run("runs", "resume", "-q").exit_code == 0


def test_a_verdict_is_not_sought_on_another_branch(place: FrameworkPlace) -> None:
    nothing = rule("Make this change", reply="Nothing to do.")
    place.answers(nothing, *OTHERS)
    place.run("default-workflow", task_description="Add mul", publish="no")
    place.git("switch", "--quiet", "main")
    (place.repo / "calc.sh").write_text("add() { echo $(($1 + $2)); } # mine\n")
    refused = place.workspace.run("runs", "resume")
    assert (refused.exit_code, "is not checked out" in refused.stderr) == (1, True)
    assert place.git("log", "-1", "--format=%s", "main") == "start"


def test_an_answer_at_the_gate_needs_no_branch(place: FrameworkPlace) -> None:
    place.git("init", "--quiet", "--bare", str(place.workspace.path / "server.git"))
    place.git("remote", "add", "origin", str(place.workspace.path / "server.git"))
    place.answers(SEEN, *OTHERS)
    place.run("default-workflow", task_description="Add mul")
    place.git("switch", "--quiet", "main")
    (place.repo / "calc.sh").write_text("mine\n")
    assert place.workspace.run("runs", "approve").exit_code == 0
    done = place.workspace.run("runs", "resume", "-q")
    assert done.exit_code == 0, done.stderr
    assert (place.git("branch", "--show-current"), (place.repo / "calc.sh").read_text()) == ("main", "mine\n")
