"""The reflection: which answers of the reviewer lead to further rounds, and what the run makes of them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.framework_place import (
    ACHIEVED,
    DEVELOPMENT,
    MULTIPLY,
    WRONG,
    FrameworkPlace,
    classified,
    reflected,
    rule,
)

TASK: dict[str, Any] = {"task_description": "Add mul"}
ROUND_2 = rule("Do only what is missing", run="echo '# two' >> calc.sh", reply="I added a line.")
ROUND_3 = rule("This is the last round", run="echo '# three' >> calc.sh", reply="I added another line.")
ROUNDS = (ROUND_2, ROUND_3)


def test_one_round_is_enough_if_the_goal_is_achieved(place: FrameworkPlace) -> None:
    place.answers(classified("Development"), *DEVELOPMENT, ACHIEVED)
    done = place.run("smart-orchestrator", "--json", **TASK)
    context = done.json["context"]
    assert (context["final_status"], context["goal_status"], context["round_2_result"]) == (
        "done",
        "ACHIEVED",
        "",
    )
    assert context["reflection_final"].endswith("STATUS: ACHIEVED")
    assert len(place.asked) == 7


@pytest.mark.parametrize("status", ["PARTIAL", "NOT_ACHIEVED", "HOLLOW"])
def test_a_second_round_does_what_is_missing_and_its_work_is_tested_and_committed(
    place: FrameworkPlace, status: str
) -> None:
    place.answers(classified("Development"), *DEVELOPMENT, reflected(status), ACHIEVED, *ROUNDS)
    done = place.run("smart-orchestrator", "--json", **TASK)
    context = done.json["context"]
    assert (context["final_status"], context["round_3_result"]) == ("done", "")
    assert "# two" in place.git("show", "HEAD:calc.sh")
    assert place.git("status", "--porcelain") == ""
    assert place.asked_for("Compare the result") == 2


def test_after_three_rounds_the_run_fails_with_everything_that_is_known(place: FrameworkPlace) -> None:
    place.answers(classified("Development"), *DEVELOPMENT, reflected("PARTIAL", times=3), *ROUNDS)
    done = place.run("smart-orchestrator", **TASK)
    assert done.exit_code == 1
    told = done.stdout + done.stderr
    for words in ("This is the summary.", "- status: incomplete", "- tests: passed (make test)", "runs fork"):
        assert words in told
    assert place.asked_for("Compare the result") == 3
    assert "# three" in place.git("show", "HEAD:calc.sh")
    assert not list((place.repo / ".git").glob("amplihack-*"))
    place.answers(*DEVELOPMENT, ACHIEVED)
    again = place.workspace.run("runs", "fork", "--from", "smart-reflect-loop", "-q")
    assert again.exit_code == 0, again.stderr
    assert "Status: done" in again.stdout


def test_tests_that_fail_outweigh_a_reviewer_who_is_content(place: FrameworkPlace) -> None:
    broken = rule("Make this change", run=WRONG, reply="Perfect, all tests pass!")
    lost = rule("The tests of this project fail", reply="Fixed, all tests pass!")
    idle = (
        rule("Do only what is missing", reply="All done."),
        rule("This is the last round", reply="All done."),
    )
    place.answers(classified("Development"), broken, lost, *DEVELOPMENT, ACHIEVED, *idle)
    done = place.run("smart-orchestrator", **TASK)
    assert done.exit_code == 1
    assert "- status: failed (the tests fail)" in done.stdout + done.stderr
    assert "mul is wrong" in "".join(prompt for prompt in place.asked if "This is the last round" in prompt)


def test_work_that_changed_nothing_is_no_success_whoever_says_so(place: FrameworkPlace) -> None:
    idle = rule("Make this change", reply="I made the change and all tests pass.")
    place.answers(classified("Development"), idle, *DEVELOPMENT, ACHIEVED)
    done = place.run("smart-orchestrator", **TASK)
    assert done.exit_code == 1
    assert "failed (nothing was changed)" in done.stdout + done.stderr
    assert place.asked_for("Review this change") == place.asked_for("Try this change") == 0


def test_a_task_that_only_looks_may_change_nothing(place: FrameworkPlace) -> None:
    idle = rule("Make this change", reply="There is nothing to change.")
    place.answers(classified("Development"), idle, *DEVELOPMENT, ACHIEVED)
    done = place.run("smart-orchestrator", "-q", task_description="An audit of calc.sh")
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize("answer", ["It looks great to me.", '{"goal_status": "SUPER"}', "[1, 2]", "{}"])
def test_a_reviewer_who_answers_nonsense_starts_no_round_and_proves_nothing(
    place: FrameworkPlace, answer: str
) -> None:
    nonsense = rule("Compare the result", reply=answer)
    place.answers(nonsense, *ROUNDS)
    done = place.run(
        "smart-reflect-loop", "--json", task_type="Development", round_1_result="Changed.", **TASK
    )
    context = done.json["context"]
    assert done.exit_code == 0
    assert context["goal_status"] == "UNKNOWN"
    assert place.asked_for("Do only what is missing") == 0


@pytest.mark.parametrize(
    ("state", "checks", "green"),
    [
        ("OPEN false", "ok", True),
        ("OPEN true", "ok", False),
        ("OPEN false", "", False),
        ("MERGED false", "ok", False),
    ],
)
def test_a_green_pull_request_needs_no_reflection_and_any_other_does(
    place: FrameworkPlace, state: str, checks: str, green: bool
) -> None:
    tools = place.workspace.path / "gh-tools"
    tools.mkdir()
    script = f'#!/bin/sh\ncase "$2" in view) echo "{state}" ;; checks) printf "{checks}" ;; esac\n'
    (tools / "gh").write_text(script)
    (tools / "gh").chmod(0o755)
    place.answers(ACHIEVED)
    values = {"task_type": "Development", "round_1_result": "Changed.", "pr_number": "7", **TASK}
    env = {"PATH": f"{tools}:{place.workspace.env['PATH']}"}
    assert place.run("smart-reflect-loop", env=env, **values).exit_code == 0
    assert place.asked_for("Compare the result") == (0 if green else 1)
    place.run("smart-reflect-loop", env={**env, "AMPLIHACK_NO_PR_SHORTCUT": "1"}, **values)
    assert place.asked_for("Compare the result") == (1 if green else 2)


def test_a_further_round_of_an_investigation_adds_to_its_report(place: FrameworkPlace) -> None:
    (place.repo / "report.md").write_text("# Answer\n")
    place.answers(reflected("PARTIAL"), ACHIEVED, rule("Do only what is missing", reply="Also check.sh:2."))
    values = {"task_type": "Investigation", "round_1_result": "x", "report_path": "report.md", **TASK}
    assert place.run("smart-reflect-loop", **values).exit_code == 0
    assert (place.repo / "report.md").read_text() == "# Answer\n\n## Addition\n\nAlso check.sh:2.\n"


def test_a_change_that_does_not_work_for_its_user_is_incomplete(place: FrameworkPlace) -> None:
    useless = rule("Try this change as its user", reply={"verdict": "FAIL", "evidence": ["mul: not found"]})
    place.answers(classified("Development"), useless, *DEVELOPMENT, ACHIEVED)
    done = place.run("smart-orchestrator", **TASK)
    assert done.exit_code == 1
    assert "it does not work for its user" in done.stdout + done.stderr
    assert MULTIPLY.split("(")[0].split("'")[1] in place.git("show", "HEAD:calc.sh")
