"""The tests of a project judge a change: what makes them pass without a repair is told or refused."""

from __future__ import annotations

import pytest
from tests.support.framework_place import (
    APPROVED,
    BUILT,
    PLANNED,
    SUMMED_UP,
    TRIED,
    FrameworkPlace,
    classified,
    reflected,
    rule,
)

BROKEN = "add() { echo 4; }\n"


def broken(place: FrameworkPlace) -> None:
    (place.repo / "calc.sh").write_text(BROKEN)
    place.git("commit", "--quiet", "-am", "break it")


@pytest.mark.parametrize(
    ("command", "code", "told"),
    [("true", 0, "Tests: passed"), ("echo boom; false", 1, "the tests fail"), ("", 1, "no tests were found")],
)
def test_a_verification_of_its_own_fails_unless_the_tests_pass(
    place: FrameworkPlace, command: str, code: int, told: str
) -> None:
    place.git("rm", "--quiet", "Makefile")
    done = place.run("verification-workflow", "-q", test_command=command)
    assert done.exit_code == code
    assert told in done.stdout + done.stderr


def test_tests_that_were_taken_away_do_not_pass(place: FrameworkPlace) -> None:
    broken(place)
    place.answers(rule("Tests of this project fail", run="git rm --quiet Makefile", reply="Fixed!"))
    done = place.run("fix-tests", "-q", rounds=1)
    assert done.exit_code == 1
    assert "the tests still fail after 1 round(s) (make test)" in done.stderr


@pytest.mark.parametrize(
    ("script", "file"),
    [
        ("printf 'test:\\n\\ttrue\\n' > Makefile", "Makefile"),
        ("echo true > check.sh; git mv check.sh test_it.sh; ln -s test_it.sh check.sh", "test_it.sh"),
    ],
)
@pytest.mark.parametrize("after", ["", "git commit --quiet -am 'all done'"])
def test_an_agent_that_changes_what_is_tested_is_told_on(
    place: FrameworkPlace, script: str, file: str, after: str
) -> None:
    broken(place)
    place.answers(rule("Tests of this project fail", run=f"{script}\n{after}", reply="Fixed!"))
    done = place.run("fix-tests", "-q")
    assert done.exit_code == 0, done.stderr
    assert f"decide about the tests: {file}" in done.stdout


def test_a_change_that_takes_the_tests_away_is_not_done(place: FrameworkPlace) -> None:
    gone = rule("Make this change", run="git rm --quiet Makefile check.sh", reply="Simplified.")
    place.answers(PLANNED, gone, rule("The tests of this project fail", reply="They pass!"), APPROVED)
    done = place.run("default-workflow", "-q", task_description="simplify", publish="no")
    assert done.exit_code == 1
    assert "Changed, but the tests fail." in done.stderr
    assert place.asked_for("the tests are gone; before the change, this ran them: make test") == 3


def test_tests_that_are_put_back_by_hand_let_the_run_go_on(place: FrameworkPlace) -> None:
    gone = rule("Make this change", run="git rm --quiet Makefile && echo '# shorter' >> calc.sh", reply="Ok.")
    place.answers(PLANNED, gone, rule("The tests of this project fail", reply="They pass!"), APPROVED)
    place.run("default-workflow", task_description="simplify", publish="no")
    place.git("checkout", "--quiet", "main", "--", "Makefile")
    done = place.workspace.run("runs", "resume", "-q")
    assert (done.exit_code, "Changed and tested." in done.stdout) == (0, True), done.stderr


def test_a_project_may_be_tested_in_another_way_after_a_change(place: FrameworkPlace) -> None:
    moved = 'git rm --quiet Makefile; echo \'{"scripts": {"test": "sh check.sh"}}\' > package.json; git add .'
    place.answers(PLANNED, rule("Make this change", run=moved, reply="Moved."), APPROVED)
    place.workspace.write("bin/npm", "#!/bin/sh\nsh check.sh\n").chmod(0o755)
    path = f"{place.workspace.path}/bin:{place.workspace.env['PATH']}"
    done = place.run("default-workflow", "-q", task_description="use npm", publish="no", env={"PATH": path})
    assert (done.exit_code, "Tests: passed (npm test --silent)" in done.stdout) == (0, True), done.stderr


def test_a_later_round_that_takes_the_tests_away_is_not_done(place: FrameworkPlace) -> None:
    gone = rule("The work below is not finished", run="git rm --quiet Makefile", reply="All done.")
    rest = (PLANNED, BUILT, APPROVED, TRIED, SUMMED_UP)
    content = rule("Compare the result", reply={"goal_status": "ACHIEVED", "summary": "fine", "missing": []})
    again = rule("This is the last round", reply="Nothing to do.")
    place.answers(classified("Development"), reflected("PARTIAL"), gone, again, content, *rest)
    done = place.run("smart-orchestrator", "-q", task_description="add mul", publish="no")
    assert done.exit_code == 1
    assert "The task is failed (the tests fail)" in done.stderr
