"""`default-workflow` by itself: branches, loops with an end, the gate before a push, and being killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.framework_place import (
    ACHIEVED,
    APPROVED,
    BUILT,
    DEVELOPMENT,
    MULTIPLY,
    PLANNED,
    RIGHT,
    WRONG,
    FrameworkPlace,
    classified,
    rule,
)

TASK: dict[str, Any] = {"task_description": "Add mul"}
CHANGES = {"verdict": "changes", "findings": [{"file": "calc.sh", "problem": "no comment", "fix": "add one"}]}


def test_the_reviewer_is_asked_again_after_each_of_two_rounds_at_most(place: FrameworkPlace) -> None:
    address = rule("A reviewer asks for changes", run="echo '# mul' >> calc.sh", reply="Added a comment.")
    place.answers(PLANNED, BUILT, rule("Review this change", reply=CHANGES), address)
    done = place.run("default-workflow", "-q", **TASK)
    assert done.exit_code == 0, done.stderr
    assert "Review: changes" in done.stdout
    assert place.asked_for("Review this change") == 3
    assert place.git("show", "HEAD:calc.sh").count("# mul") == 2


def test_repairs_end_after_three_tries_and_the_work_is_kept_on_its_branch(place: FrameworkPlace) -> None:
    broken = rule("Make this change", run=WRONG, reply="Done, all tests pass.")
    place.answers(PLANNED, broken, rule("The tests of this project fail", reply="Repaired!"), APPROVED)
    done = place.run("default-workflow", **TASK)
    assert done.exit_code == 1
    assert "Changed, but the tests fail." in done.stderr
    assert "mul is wrong" in done.stdout + done.stderr
    assert place.asked_for("The tests of this project fail") == 3
    assert "mul" in place.git("show", "HEAD:calc.sh")
    subprocess.run(["bash", "-ec", RIGHT], cwd=place.repo, check=True)
    again = place.workspace.run("runs", "resume", "-q")
    assert again.exit_code == 0, again.stderr
    assert "Changed and tested." in again.stdout
    assert place.git("status", "--porcelain") == ""


def test_a_project_without_tests_is_told_to_be_untested(place: FrameworkPlace) -> None:
    place.git("rm", "--quiet", "Makefile", "check.sh")
    place.git("commit", "--quiet", "-m", "no tests")
    built = rule("Make this change", run="echo >> calc.sh", reply="Done.")
    place.answers(PLANNED, built, APPROVED)
    done = place.run("default-workflow", "-q", **TASK)
    assert done.exit_code == 0, done.stderr
    assert "no tests that the runner could find" in done.stdout


def test_uncommitted_work_of_the_user_stops_it_before_anything_is_touched(place: FrameworkPlace) -> None:
    (place.repo / "calc.sh").write_text("mine\n")
    place.answers()
    done = place.run("default-workflow", **TASK)
    assert done.exit_code == 1
    assert "uncommitted changes" in done.stderr
    assert place.asked == []
    assert place.git("branch", "--show-current") == "main"
    assert (place.repo / "calc.sh").read_text() == "mine\n"


def test_untracked_files_of_the_user_stay_out_of_the_commit(place: FrameworkPlace) -> None:
    (place.repo / "notes.txt").write_text("mine\n")
    place.answers(*DEVELOPMENT)
    assert place.run("default-workflow", **TASK).exit_code == 0
    assert place.git("status", "--porcelain") == "?? notes.txt"


def test_tests_that_fail_beforehand_end_it_if_they_are_to_be_run_first(place: FrameworkPlace) -> None:
    (place.repo / "check.sh").write_text("exit 1\n")
    place.git("commit", "--quiet", "-am", "broken")
    place.answers()
    done = place.run("default-workflow", skip_pre_agent_validation=False, **TASK)
    assert done.exit_code == 1
    assert "the tests fail before anything was changed" in done.stderr
    assert place.asked == []


def test_an_empty_directory_becomes_a_repository_unless_that_is_not_wanted(place: FrameworkPlace) -> None:
    for name in ("one", "two"):
        (place.workspace.path / name).mkdir()
    place.repo = place.workspace.path / "one"
    place.answers(PLANNED, rule("Make this change", run="echo hello > new.txt", reply="Made it."), APPROVED)
    assert place.run("default-workflow", **TASK).exit_code == 0
    assert place.git("show", "HEAD:new.txt") == "hello"
    place.repo = place.workspace.path / "two"
    done = place.run("default-workflow", auto_init_repo=False, **TASK)
    assert done.exit_code == 1
    assert "is no git repository" in done.stderr
    assert list(place.repo.iterdir()) == []


def test_an_existing_branch_is_used_and_counted_from_its_own_tip(place: FrameworkPlace) -> None:
    place.git("switch", "--quiet", "--create", "work")
    place.git("commit", "--quiet", "--allow-empty", "-m", "mine")
    place.git("switch", "--quiet", "main")
    place.answers(*DEVELOPMENT)
    done = place.run("default-workflow", "-q", existing_branch="work", **TASK)
    assert "Branch: work" in done.stdout
    assert place.git("log", "--format=%s", "main..work").splitlines() == ["Add mul", "mine"]


@pytest.mark.parametrize("staged", [False, True])
def test_files_that_were_never_committed_are_not_worked_on(place: FrameworkPlace, staged: bool) -> None:
    fresh = place.workspace.path / "fresh"
    place.git("init", "--quiet", str(fresh))
    (fresh / "mine.txt").write_text("the only copy\n")
    if staged:
        place.git("-C", str(fresh), "add", "mine.txt")
    place.answers(*DEVELOPMENT)
    done = place.run("default-workflow", task_description="Add mul", repo_path=str(fresh))
    assert (done.exit_code, place.asked) == (1, [])
    assert "has files and no commit yet" in done.stderr
    assert (fresh / "mine.txt").read_text() == "the only copy\n"


def test_a_branch_name_that_is_an_option_is_refused(place: FrameworkPlace) -> None:
    place.answers()
    done = place.run("default-workflow", existing_branch="--orphan", **TASK)
    assert done.exit_code == 1
    assert place.git("branch", "--format=%(refname:short)") == "main"


def with_origin(place: FrameworkPlace) -> None:
    place.git("init", "--quiet", "--bare", "../origin.git")
    place.git("remote", "add", "origin", "../origin.git")
    place.git("push", "--quiet", "origin", "main")


def pushed(place: FrameworkPlace) -> list[str]:
    return [line.split("refs/heads/")[1] for line in place.git("ls-remote", "--heads", "origin").splitlines()]


def test_nothing_is_pushed_before_a_person_agrees(place: FrameworkPlace) -> None:
    with_origin(place)
    place.answers(*DEVELOPMENT)
    place.run("default-workflow", **TASK)
    shown = place.workspace.run("runs", "show", "--json").json
    assert shown["status"] == "waiting"
    assert "Tests: passed (make test)" in shown["gates"][0]["prompt"]
    assert shown["gates"][0]["prompt"].rstrip().endswith("to origin?")
    assert pushed(place) == ["main"]
    assert place.workspace.run("runs", "approve").exit_code == 0
    done = place.workspace.run("runs", "resume", "-q")
    branch = place.git("branch", "--show-current")
    assert (done.exit_code, f"Push: pushed {branch} to origin" in done.stdout) == (0, True)
    assert pushed(place) == [branch, "main"]


def test_the_orchestrator_asks_last_with_the_summary_and_a_task_may_forbid_it(place: FrameworkPlace) -> None:
    with_origin(place)
    place.answers(classified("Development"), *DEVELOPMENT, ACHIEVED)
    place.run("smart-orchestrator", **TASK)
    shown = place.workspace.run("runs", "show", "--json").json
    assert shown["status"] == "waiting"
    assert "This is the summary." in shown["gates"][0]["prompt"]
    assert "- status: done" in shown["gates"][0]["prompt"]
    assert pushed(place) == ["main"]
    assert not list((place.repo / ".git").glob("amplihack-*"))
    place.git("switch", "--quiet", "main")
    forbidden = classified("Development")
    forbidden.reply["no_merge"] = True
    place.answers(forbidden, *DEVELOPMENT, ACHIEVED)
    assert place.run("smart-orchestrator", **TASK).exit_code == 0
    assert pushed(place) == ["main"]


def test_a_person_who_denies_keeps_the_work_and_nothing_is_pushed(place: FrameworkPlace) -> None:
    with_origin(place)
    place.answers(*DEVELOPMENT)
    place.run("default-workflow", **TASK)
    place.workspace.run("runs", "deny")
    assert pushed(place) == ["main"]
    assert "mul" in place.git("show", "HEAD:calc.sh")


def test_without_publishing_there_is_no_gate(place: FrameworkPlace) -> None:
    with_origin(place)
    place.answers(*DEVELOPMENT)
    assert place.run("default-workflow", publish="no", **TASK).exit_code == 0
    assert pushed(place) == ["main"]


def start(place: FrameworkPlace, recipe: str, *words: str) -> subprocess.Popen[bytes]:
    null = subprocess.DEVNULL
    command = [sys.executable, "-m", "amplihack", "recipe", "run", recipe, "-C", str(place.repo), *words]
    return subprocess.Popen(command, env=place.workspace.env, stdin=null, stdout=null, stderr=null)


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


@pytest.mark.parametrize("moment", ["Plan this change", "Make this change", "Review this change"])
def test_a_run_that_is_killed_goes_on_without_doing_anything_twice(
    place: FrameworkPlace, moment: str
) -> None:
    slow = rule(moment, run="sleep 600", times=1)
    place.answers(slow, *DEVELOPMENT)
    runner = start(place, "default-workflow", "--set-str", "task_description=Add mul")
    wait_for(lambda: place.asked_for(moment) == 1)
    os.kill(runner.pid, signal.SIGKILL)
    runner.wait()
    done = place.workspace.run("runs", "resume", "-q")
    assert done.exit_code == 0, done.stderr
    assert "Changed and tested." in done.stdout
    assert place.asked_for(moment) == 2
    assert place.asked_for("Make this change") == (2 if moment == "Make this change" else 1)
    assert place.git("log", "--format=%s", "main..HEAD") == "Add mul"
    assert place.git("show", "HEAD:calc.sh").count("mul()") == 1


def test_a_huge_task_and_a_huge_change_are_no_trouble(place: FrameworkPlace) -> None:
    task = place.workspace.write("task.txt", "Add mul, and an audit.\n" + "More words about it.\n" * 6_000)
    large = rule("Make this change", run="seq 100000 > big.txt", reply="Made a large file.")
    place.answers(PLANNED, large, APPROVED)
    done = place.run("default-workflow", "-q", "--set-file", f"task_description={task}")
    assert done.exit_code == 0, done.stderr
    assert place.git("show", "--stat", "--format=%s", "HEAD").startswith("Add mul, and an audit. More words")
    assert len(next(prompt for prompt in place.asked if "Review this change" in prompt)) < 500_000
    place.answers(rule("Classify the task", reply={"task_type": "Operations"}))
    told = place.run("smart-classify-route", "--json", "--set-file", f"task_description={task}").json
    assert told["context"]["allow_no_op"] is True


def test_files_that_nothing_staged_are_told_and_not_committed(place: FrameworkPlace) -> None:
    (place.repo / "notes.txt").write_text("mine\n")
    place.git("rm", "--quiet", "Makefile")
    place.git("commit", "--quiet", "-m", "another test command")
    place.answers(*DEVELOPMENT)
    done = place.run("default-workflow", "-q", test_command="touch left.log; sh ./check.sh", **TASK)
    assert done.exit_code == 0, done.stderr
    assert "New files that are not committed:\nleft.log\n" in done.stdout
    assert "notes.txt" not in done.stdout
    assert place.git("diff", "--name-only", "main", "HEAD").split() == ["calc.sh", "check.sh"]


def test_an_agent_that_switches_branches_is_noticed_before_anything_is_committed(
    place: FrameworkPlace,
) -> None:
    wandering = rule("Make this change", run="echo >> calc.sh; git switch --quiet main", reply="Done.")
    place.answers(PLANNED, wandering, APPROVED)
    done = place.run("default-workflow", **TASK)
    assert done.exit_code == 1
    assert "an agent switched from amplihack/add-mul" in done.stderr
    assert place.git("log", "--format=%s", "main") == "start"


def test_an_agent_that_commits_by_itself_has_its_work_counted(place: FrameworkPlace) -> None:
    committing = rule("Make this change", run=f"{MULTIPLY}git commit -qam mine", reply="Done.")
    place.answers(PLANNED, committing, APPROVED)
    done = place.run("default-workflow", "-q", **TASK)
    assert "Changed and tested." in done.stdout
    assert place.git("log", "--format=%s", "main..HEAD") == "mine"


def test_workstreams_that_are_killed_go_on_in_their_worktrees(place: FrameworkPlace) -> None:
    place.answers(rule("Make this change", run="sleep 600", times=2), *DEVELOPMENT)
    both = [{"task": "Add mul", "name": name} for name in ("a", "b")]
    tasks = place.workspace.write("tasks.json", json.dumps(both))
    runner = start(place, "parallel-workstreams", "--set-file", f"workstreams={tasks}")
    wait_for(lambda: place.asked_for("Make this change") == 2)
    os.kill(runner.pid, signal.SIGKILL)
    runner.wait()
    done = place.workspace.run("runs", "resume", "-q")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.count("tests passed") == 2
    assert place.asked_for("Plan this change") == 2
    assert place.git("worktree", "list").count("ws-") == 0
    branches = place.git("branch", "--format=%(refname:short)").split()
    assert branches == ["feat/orch-1-a", "feat/orch-2-b", "main"]
