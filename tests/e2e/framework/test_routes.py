"""`smart-orchestrator`: what kind of task goes which way, and what the user is told at the end."""

from __future__ import annotations

import json
import os
import subprocess
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
    SUMMED_UP,
    TRIED,
    WRONG,
    FrameworkPlace,
    classified,
    rule,
)

TASK = 'Add mul to calc.sh.\nIt\'s "two" lines; $(touch pwned) `touch pwned`'


def test_development_branches_builds_repairs_and_commits_what_the_tests_prove(place: FrameworkPlace) -> None:
    place.answers(
        classified("Development"),
        PLANNED,
        rule("Make this change", run=WRONG, reply="I added mul."),
        rule("The tests of this project fail", "mul is wrong", run=RIGHT, reply="It added."),
        APPROVED,
        rule("Try this change as its user", reply={"verdict": "PASS", "evidence": []}),
        ACHIEVED,
        SUMMED_UP,
    )
    done = place.run("smart-orchestrator", "-q", task_description=TASK)
    assert done.exit_code == 0, done.stderr
    assert "Status: done" in done.stdout
    assert "- tests: passed (make test)" in done.stdout
    assert "This is the summary." in done.stdout
    branch = place.git("branch", "--show-current")
    assert branch.startswith("amplihack/add-mul-to-calc-sh")
    assert place.git("diff", "--name-only", "main", "HEAD").split() == ["calc.sh", "check.sh"]
    assert (
        place.git("log", "-1", "--format=%s")
        == 'Add mul to calc.sh. It\'s "two" lines; $(touch pwned) `touch pwned`'
    )
    assert place.git("status", "--porcelain") == ""
    assert not (place.repo / "pwned").exists()
    assert not list((place.repo / ".git").glob("amplihack-*"))
    assert TASK in place.asked[0]
    assert len(place.asked) == 8


def test_a_question_is_answered_with_two_calls_and_its_references_are_checked(place: FrameworkPlace) -> None:
    place.answers(
        classified("Q&A"),
        rule("Answer this question", reply="It adds: calc.sh:1, not calc.sh:99 or gone.py:3."),
    )
    done = place.run("smart-orchestrator", "-q", task_description="What does add do?")
    assert done.exit_code == 0, done.stderr
    assert "It adds: calc.sh:1" in done.stdout
    assert "these lead nowhere: calc.sh:99 gone.py:3" in done.stdout
    assert len(place.asked) == 2
    assert place.git("status", "--porcelain") == ""


@pytest.mark.parametrize(("last", "code"), [("STATUS: COMPLETE", 0), ("STATUS: INCOMPLETE", 1), ("Done!", 1)])
def test_operations_are_complete_only_if_the_agent_says_so(
    place: FrameworkPlace, last: str, code: int
) -> None:
    place.answers(
        classified("Operations"), rule("Do this, and nothing beyond", reply=f"I looked.\n{last}"), SUMMED_UP
    )
    done = place.run("smart-orchestrator", task_description="Show the free disk space")
    assert done.exit_code == code, done.stderr
    assert place.asked_for("Compare the result") == 0


def test_operations_that_change_files_are_reflected_on_and_the_files_are_told(place: FrameworkPlace) -> None:
    place.answers(
        classified("ops"),
        rule(
            "Do this, and nothing beyond", run="echo new > 'a b.txt'", reply="Made it.\n**STATUS: COMPLETE**"
        ),
        ACHIEVED,
        SUMMED_UP,
    )
    done = place.run("smart-orchestrator", "-q", task_description="Make the file a b.txt")
    assert done.exit_code == 0, done.stderr
    assert "a b.txt" in done.stdout
    assert place.asked_for("Compare the result") == 1


@pytest.mark.parametrize(
    "task",
    [
        "Open a PR for the logging",
        "Create src/app/main.py for us",
        "Do this:\n1. one\n2) two\n 3. three",
        "run something and add tests",
    ],
)
def test_what_only_looks_like_operations_becomes_development(place: FrameworkPlace, task: str) -> None:
    place.answers(classified("Operations"))
    done = place.run("smart-classify-route", "-q", task_description=task)
    assert done.stdout.startswith("Development"), done.stderr


def test_an_investigation_writes_a_report_and_overwrites_none(place: FrameworkPlace) -> None:
    (place.repo / "investigation-who-calls-add.md").write_text("mine")
    place.answers(
        classified("research"),
        rule("Plan an investigation", reply={"questions": ["who?", "where?"]}),
        rule("Find the answer", reply="check.sh:2 does."),
        rule(
            "Write the report", reply='# Answer\nOnly the test, `check.sh:2`.\nThat\'s "all"; $(touch pwned)'
        ),
        ACHIEVED,
        SUMMED_UP,
    )
    done = place.run("smart-orchestrator", "-q", task_description="Who calls add?")
    assert done.exit_code == 0, done.stderr
    assert "- report: investigation-who-calls-add-2.md" in done.stdout
    report = (place.repo / "investigation-who-calls-add-2.md").read_text()
    assert "$(touch pwned)" in report
    assert report.endswith("References: all 1 lead to a line that exists\n")
    assert (place.repo / "investigation-who-calls-add.md").read_text() == "mine"
    assert place.asked_for("Find the answer") == 2


STREAMS = (
    {
        "name": "Mul & more",
        "description": 'Add mul,\nit\'s "a * b"; $(touch pwned)',
        "task_type": "Development",
    },
    {"name": "who", "description": "Find out who calls add", "task_type": "Investigation"},
)


def parallel_answers(place: FrameworkPlace, build: str = MULTIPLY) -> None:
    place.answers(
        classified("Development", *STREAMS),
        PLANNED,
        rule("Make this change", run=build, reply="I added mul."),
        rule("The tests of this project fail", reply="I do not know."),
        APPROVED,
        rule("Plan an investigation", reply={"questions": ["who?"]}),
        rule("Find the answer", reply="check.sh:2 does."),
        rule("Write the report", reply="# Answer\n`check.sh:2`"),
        ACHIEVED,
        TRIED,
        SUMMED_UP,
    )


def test_independent_parts_run_in_worktrees_of_their_own(place: FrameworkPlace) -> None:
    parallel_answers(place)
    done = place.run("smart-orchestrator", "-q", task_description="Do both")
    assert done.exit_code == 0, done.stderr
    assert "completed: feat/orch-1-mul-more, tests passed" in done.stdout
    assert "completed: feat/orch-2-who" in done.stdout
    assert place.git("branch", "--show-current") == "main"
    assert place.git("status", "--porcelain") == ""
    assert place.git("diff", "--name-only", "main", "feat/orch-1-mul-more").split() == ["calc.sh", "check.sh"]
    assert (
        place.git("diff", "--name-only", "main", "feat/orch-2-who")
        == "investigation-find-out-who-calls-add.md"
    )
    assert place.git("worktree", "list").count("\n") == 0
    assert [prompt for prompt in place.asked if STREAMS[0]["description"] in prompt]


def test_a_failing_workstream_fails_the_run_and_is_all_that_a_resumed_run_repeats(
    place: FrameworkPlace,
) -> None:
    parallel_answers(place, build=WRONG)
    done = place.run("smart-orchestrator", task_description="Do both")
    assert done.exit_code == 1
    assert "Changed, but the tests fail." in done.stdout + done.stderr
    assert place.asked_for("Summarise this work") == 0
    assert place.git("worktree", "list").count("ws-") == 1
    assert place.git("diff", "--name-only", "main", "feat/orch-2-who")
    assert not list((place.repo / ".git").glob("amplihack-*"))
    # Somebody repairs the worktree by hand; the run goes on from its verdict, the other stream stays done.
    tree = next((place.workspace.path / "home" / ".amplihack" / "workstreams").glob("*/ws-1"))
    subprocess.run(["bash", "-ec", RIGHT], cwd=tree, check=True)
    asked = len(place.asked)
    again = place.workspace.run("runs", "resume", "-q")
    assert again.exit_code == 0, again.stderr
    assert "completed: feat/orch-1-mul-more, tests passed" in again.stdout
    assert len(place.asked) - asked == 2  # the reflection and the summary
    assert place.asked_for("Write the report") == place.asked_for("Make this change") == 1
    assert place.git("worktree", "list").count("ws-") == 0
    assert "*" in place.git("show", "feat/orch-1-mul-more:calc.sh")


def test_a_checkout_that_another_run_works_on_is_left_alone(place: FrameworkPlace) -> None:
    (place.repo / ".git" / "amplihack-session").write_text(f"other {os.getpid()}\n")
    parallel_answers(place)
    done = place.run("smart-orchestrator", task_description="Do both")
    assert done.exit_code == 1
    assert "run other works on this checkout: wait for it" in done.stderr
    alone = place.run("default-workflow", task_description="Add mul")
    assert alone.exit_code == 1
    assert place.git("branch", "--format=%(refname:short)") == "main"
    assert place.asked_for("Make this change") == 0
    assert (place.repo / ".git" / "amplihack-session").read_text().startswith("other ")


def test_inside_another_run_the_task_stays_whole_and_it_is_told(place: FrameworkPlace) -> None:
    (place.repo / ".git" / "amplihack-session").write_text(f"other {os.getpid()}\n")
    parallel_answers(place)
    outer = {"AMPLIHACK_RECIPE_RUN_ID": "other"}
    done = place.run("smart-orchestrator", task_description="Do both", env=outer)
    assert done.exit_code == 0, done.stderr
    assert "no parallel work: BLOCKED:inside another run" in done.stdout
    assert place.asked_for("Make this change") == 1
    assert (place.repo / ".git" / "amplihack-session").read_text().startswith("other ")


def test_the_mark_of_a_dead_run_stands_in_nobodys_way(place: FrameworkPlace) -> None:
    (place.repo / ".git" / "amplihack-session").write_text("other 999999999\n")
    place.answers(classified("Development", *STREAMS))
    done = place.run("smart-classify-route", "--json", task_description="Do both")
    assert done.json["context"]["session_info"]["status"] == "ok"
    assert done.json["context"]["workstream_count"] == 2


def test_force_single_keeps_the_task_whole(place: FrameworkPlace) -> None:
    place.answers(classified("Development", *STREAMS))
    done = place.run(
        "smart-classify-route", "--json", task_description="Do both", force_single_workstream=True
    )
    assert done.json["context"]["workstream_count"] == 1


def test_workstreams_without_a_task_do_not_become_parallel_work(place: FrameworkPlace) -> None:
    place.answers(
        classified("Development", {"name": "a", "description": "x"}, {"name": "b", "description": " "})
    )
    done = place.run("smart-classify-route", "--json", task_description="Do both")
    assert done.json["context"]["workstream_count"] == 1


def test_a_kind_that_no_route_fits_is_told_kept_and_run_as_development(place: FrameworkPlace) -> None:
    place.answers(*DEVELOPMENT)
    done = place.run(
        "smart-execute-routing", "--json", "-v", task_description="Add mul", task_type="Refactoring"
    )
    assert done.exit_code == 0, done.stderr
    context = done.json["context"]
    assert context["adaptive_recipe"] == "default-workflow"
    assert "Changed and tested." in context["round_1_result"]
    assert "no route for type 'Refactoring'" in done.stderr


def test_a_classification_that_nobody_can_read_counts_as_development(place: FrameworkPlace) -> None:
    place.answers(rule("Classify the task", reply="I would love to help!"), *DEVELOPMENT, ACHIEVED)
    done = place.run("smart-orchestrator", "--json", task_description="Add mul")
    assert done.exit_code == 0, done.stderr
    assert done.json["context"]["task_type"] == "Development"
    assert done.json["context"]["final_status"] == "done"


def test_a_classification_that_changes_files_ends_the_run(place: FrameworkPlace) -> None:
    place.answers(rule("Classify the task", run="echo x > new.txt", reply={"task_type": "Q&A"}))
    done = place.run("smart-orchestrator", task_description="What?")
    assert done.exit_code == 1
    assert "the classification changed files" in done.stdout + done.stderr


@pytest.mark.parametrize(
    "values", [{"task_description": " \n "}, {"task_description": "x", "repo_path": "gone"}]
)
def test_what_cannot_work_is_told_before_an_agent_is_asked(
    place: FrameworkPlace, values: dict[str, Any]
) -> None:
    place.answers()
    done = place.run("smart-orchestrator", **values)
    assert done.exit_code in (1, 2)
    assert place.asked == []
    assert "--set" in done.stdout + done.stderr


def test_an_agent_that_dies_ends_the_run_which_then_goes_on_where_it_was(place: FrameworkPlace) -> None:
    dead = rule("Review this change", fail="out of luck", times=1)
    place.answers(classified("Development"), PLANNED, BUILT, dead, *DEVELOPMENT, ACHIEVED)
    done = place.run("smart-orchestrator", task_description="Add mul")
    assert done.exit_code == 1
    assert "out of luck" in done.stdout + done.stderr
    assert not list((place.repo / ".git").glob("amplihack-*"))
    again = place.workspace.run("runs", "resume", "--json")
    assert again.exit_code == 0, again.stderr
    assert again.json["context"]["final_status"] == "done"
    assert place.asked_for("Make this change") == 1
    assert json.dumps(again.json["context"]["changed_files"]) == '"calc.sh\\ncheck.sh"'


@pytest.mark.parametrize(
    "nonsense",
    [
        "Lorem ipsum.",
        "[1, [2], null]",
        '{"task_type": 5, "workstreams": {"a": 1}, "verdict": [], "goal_status": {}, "questions": 7}',
        '{"task_type": "", "workstreams": [1, 2], "verdict": null, "goal_status": "ACHIEVED"}',
    ],
)
def test_an_agent_that_answers_nonsense_to_everything_achieves_nothing_and_breaks_nothing(
    place: FrameworkPlace, nonsense: str
) -> None:
    place.answers(rule(reply=nonsense))
    done = place.run("smart-orchestrator", task_description="Add mul")
    assert done.exit_code == 1
    assert "The task is failed (nothing was changed)" in done.stderr
    assert place.git("diff", "--name-only", "main", "HEAD") == ""
    asked = place.run("investigation-workflow", "-q", investigation_question="Who calls add?")
    assert asked.exit_code == 0, asked.stderr
    assert place.run("review-diff", base="main~0").exit_code == 1


@pytest.mark.parametrize("recipe", ["smart-orchestrator", "default-workflow"])
def test_a_broken_phase_releases_the_checkout_and_a_resumed_run_marks_it_again(
    place: FrameworkPlace, recipe: str
) -> None:
    mark = place.repo / ".git" / "amplihack-session"
    others = (APPROVED, TRIED, ACHIEVED, SUMMED_UP)
    place.answers(classified("Development"), PLANNED, rule("Make this change", fail="no credit"), *others)
    done = place.run(recipe, "--json", task_description=TASK)
    assert (done.exit_code, mark.exists()) == (1, False)
    built = rule("Make this change", run=f"cp .git/{mark.name} ../seen.txt\n{MULTIPLY}", reply="I added mul.")
    place.answers(classified("Development"), PLANNED, built, *others)
    again = place.workspace.run("runs", "resume", "-q")
    assert again.exit_code == 0, again.stderr
    assert (place.workspace.path / "seen.txt").read_text().split()[0] == done.json["run_id"]
    assert not mark.exists()
