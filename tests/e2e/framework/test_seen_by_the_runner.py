"""Nothing counts that a step of the runner did not see: what agents do after the tests, or to the tests."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
from tests.support.framework_place import (
    ACHIEVED,
    APPROVED,
    BUILT,
    DEVELOPMENT,
    PLANNED,
    SUMMED_UP,
    TRIED,
    FrameworkPlace,
    classified,
    reflected,
    rule,
)

TASK: dict[str, Any] = {"task_description": "Add mul to calc.sh"}
SPOIL = "echo 'add() { echo 0; }' >> calc.sh"
COMMIT = "git commit --quiet --all --message 'by an agent'"
TEST = '. ./calc.sh\n[ "$(add 1 2)" = 3 ]\n'


def commit(place: FrameworkPlace, **files: str) -> None:
    """Commit files of these names, with `_` for `.`."""
    for name, text in files.items():
        (place.repo / name.replace("_", ".")).write_text(text)
    place.git("add", "-A")
    place.git("commit", "--quiet", "-m", "prepare")


# after the tests --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spoil", [SPOIL, f"{SPOIL}; {COMMIT}"])
def test_what_a_reviewer_breaks_is_noticed(place: FrameworkPlace, spoil: str) -> None:
    place.answers(PLANNED, BUILT, rule("Review this change", run=spoil, reply=APPROVED.reply))
    done = place.run("default-workflow", **TASK)
    assert done.exit_code == 1
    assert "Changed, but the tests fail." in done.stderr


def test_what_a_reviewer_changes_is_tested_before_it_counts(place: FrameworkPlace) -> None:
    place.answers(
        PLANNED, BUILT, rule("Review this change", run="echo '# fine' >> calc.sh", reply=APPROVED.reply)
    )
    done = place.run("default-workflow", "-q", **TASK)
    assert done.exit_code == 0, done.stderr
    assert place.steps()["tests-of-commit"]["status"] == "completed"
    assert "# fine" in place.git("show", "HEAD:calc.sh")


def test_the_tests_run_once_where_nothing_changes_after_them(place: FrameworkPlace) -> None:
    place.answers(*DEVELOPMENT)
    place.run("default-workflow", **TASK)
    assert place.steps()["tests-of-commit"]["status"] == "skipped"


@pytest.mark.parametrize(
    "words", ["Try this change as its user", "Summarise this work", "Compare the result"]
)
def test_commits_after_the_tests_are_no_success(place: FrameworkPlace, words: str) -> None:
    usual = {"Try": TRIED, "Summarise": SUMMED_UP, "Compare": ACHIEVED}[words.split()[0]]
    place.answers(
        rule(words, run=f"{SPOIL}; {COMMIT}", reply=usual.reply),
        classified("Development"), *DEVELOPMENT, ACHIEVED,
    )  # fmt: skip
    done = place.run("smart-orchestrator", **TASK)
    assert done.exit_code == 1
    assert "incomplete (commits were added after the tests)" in done.stderr


def test_changes_after_the_commit_are_told(place: FrameworkPlace) -> None:
    tried = rule("Try this change as its user", run="echo '# tried' >> calc.sh", reply=TRIED.reply)
    place.answers(tried, classified("Development"), *DEVELOPMENT, ACHIEVED)
    done = place.run("smart-orchestrator", "-q", **TASK)
    assert done.exit_code == 0, done.stderr
    assert "- changed since, not committed: calc.sh" in done.stdout


def test_only_the_commits_that_a_person_saw_are_pushed(place: FrameworkPlace) -> None:
    place.git("init", "--quiet", "--bare", "../origin.git")
    place.git("remote", "add", "origin", "../origin.git")
    place.answers(*DEVELOPMENT)
    place.run("default-workflow", **TASK)
    seen = place.git("rev-parse", "HEAD")
    place.git("commit", "--quiet", "--allow-empty", "-m", "later")
    place.workspace.run("runs", "approve")
    done = place.workspace.run("runs", "resume", "-q")
    assert done.exit_code == 0, done.stderr
    branch = place.git("branch", "--show-current")
    assert place.git("ls-remote", "--heads", "origin", branch).split()[0] == seen
    assert place.git("rev-parse", "--abbrev-ref", "@{upstream}") == f"origin/{branch}"


# tests that go ----------------------------------------------------------------------------------------------


def test_a_deleted_test_is_no_repair_until_it_is_back(place: FrameworkPlace) -> None:
    commit(
        place,
        calc_sh="add() { echo 0; }\n",
        test_sh=TEST,
        Makefile="test:\n\t@[ ! -e test.sh ] || sh ./test.sh\n",
    )
    place.answers(rule("Tests of this project fail", run="rm -f test.sh", reply="Fixed!"))
    done = place.run("fix-tests", "-q", rounds=2)
    assert done.exit_code == 1
    assert "tests are gone after 2 round(s) (make test)" in done.stderr
    assert "These tests were deleted" in place.asked[1]
    place.git("checkout", "--quiet", "HEAD", "--", "test.sh")
    (place.repo / "calc.sh").write_text("add() { echo 3; }\n")
    done = place.workspace.run("runs", "resume", "-q")
    assert (done.exit_code, done.stdout.splitlines()[0]) == (
        0,
        "The tests pass now (make test), after 2 round(s) and what was done since.",
    )


def test_a_test_may_get_another_name(place: FrameworkPlace) -> None:
    commit(
        place,
        calc_sh="add() { echo 0; }\n",
        test_sh=TEST,
        Makefile="test:\n\t@sh ./test.sh || sh ./test-2.sh\n",
    )
    renames = "git mv test.sh test-2.sh; echo 'add() { echo 3; }' > calc.sh"
    place.answers(rule("Tests of this project fail", run=renames, reply="Fixed."))
    done = place.run("fix-tests", "-q", test_command="sh ./test*.sh")
    assert done.exit_code == 0, done.stderr
    assert "decide about the tests: test-2.sh" in done.stdout


def test_a_change_tells_which_tests_it_deleted(place: FrameworkPlace) -> None:
    commit(place, test_sh="true\n")
    place.answers(
        rule("Make this change", run=f"rm test.sh; {BUILT.run}", reply="Done."), classified("Development"),
        *DEVELOPMENT, ACHIEVED,
    )  # fmt: skip
    done = place.run("smart-orchestrator", "-q", **TASK)
    assert "- tests that were deleted: test.sh" in done.stdout


# updates ----------------------------------------------------------------------------------------------------

UPDATE: dict[str, Any] = {"update_command": "echo 2 > lock.txt"}
UPDATED = "dependencies of this project were updated"


def pinned(place: FrameworkPlace) -> None:
    commit(place, lock_txt="1\n", test_sh='[ "$(cat lock.txt)" = 1 ] || [ -e adapted ]\n')
    commit(place, Makefile="test:\n\t@[ ! -e test.sh ] || sh ./test.sh\n")


@pytest.mark.parametrize(
    ("does", "told"),
    [
        ("echo 1 > lock.txt", "the update of lock.txt was taken back"),
        (f"echo 1 > lock.txt; {COMMIT} || true", "the update of lock.txt was taken back"),
        ("rm -f test.sh", "these tests were deleted"),
    ],
)
def test_an_update_that_was_made_to_pass_is_put_back(place: FrameworkPlace, does: str, told: str) -> None:
    pinned(place)
    before = place.git("rev-parse", "HEAD")
    place.answers(rule(UPDATED, run=does, reply="Adapted!"))
    done = place.run("update-dependencies", "-q", **UPDATE)
    assert done.exit_code == 1
    assert told in done.stderr
    assert place.asked_for(UPDATED) == 2
    assert place.git("status", "--porcelain") == ""
    assert place.git("rev-parse", "HEAD") == before


def test_what_was_committed_during_an_update_is_a_change_again(place: FrameworkPlace) -> None:
    pinned(place)
    place.answers(rule(UPDATED, run=f"touch adapted; git add adapted; {COMMIT}", reply="Adapted."))
    done = place.run("update-dependencies", "-q", update_command=f"echo 2 > lock.txt; {COMMIT}")
    assert done.exit_code == 0, done.stderr
    assert "nothing is committed yet" in done.stdout
    assert place.git("diff", "--cached", "--name-only").split() == ["adapted", "lock.txt"]


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"requirements_txt": "a==1\n"}, "requirements.txt alone does not say which versions would do"),
        ({}, "no list of dependencies that is known here"),
    ],
)
def test_what_cannot_be_updated_by_itself_asks_for_the_command(
    place: FrameworkPlace, files: dict[str, str], told: str
) -> None:
    commit(place, other_txt="x\n", **files)
    done = place.run("update-dependencies")
    assert done.exit_code == 1
    assert f"{told}: name the command with --set update_command=" in done.stderr


# which tests there are --------------------------------------------------------------------------------------

CASE = "import unittest\nclass It(unittest.TestCase):\n    def test_it(self): pass\n"
# A Python that has no pytest, whatever the one of this machine has.
PLAIN = '#!/bin/sh\ncase "$2" in *pytest*) exit 1 ;; esac\nexec python3 "$@"\n'


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"Makefile": "test := x\nall:\n\ttrue\n"}, "none"),
        ({"Makefile": "all:\n\techo test: x\n"}, "none"),
        ({"Makefile": "check test: all\n"}, "make test"),
        ({"package.json": '{"directories": {"test": "test"}}'}, "none"),
        ({"go.mod": "module x\n", "main.go": "package main\n"}, "none"),
        ({"Cargo.toml": "[package]\n", "src/main.rs": "fn main() {}\n"}, "none"),
        ({"a b/test_it.py": CASE}, ".venv/bin/python -m unittest discover -s a\\ b"),
        ({"it_test.py": CASE}, ".venv/bin/python -m unittest discover -p '*_test.py'"),
        ({"tests/__init__.py": "", "tests/test_it.py": CASE}, ".venv/bin/python -m unittest discover"),
    ],
)
@pytest.mark.parametrize("git", [True, False])
def test_how_a_project_is_tested_is_not_guessed_wrong(
    place: FrameworkPlace, files: dict[str, str], command: str, git: bool
) -> None:
    place.repo = place.workspace.path / "project"
    for name, text in {**files, ".venv/bin/python": PLAIN}.items():
        (place.repo / name).parent.mkdir(parents=True, exist_ok=True)
        (place.repo / name).write_text(text)
    (place.repo / ".venv/bin/python").chmod(0o755)
    if git:
        place.git("init", "--quiet")
    found = place.run("verification-workflow", "--json").json["context"]
    assert found["tests_command"] == command
    if "unittest" in command:
        assert (found["tests_status"], "Ran 1 test" in found["tests_log"]) == ("passed", True)


def test_tests_of_which_none_ran_have_not_passed(place: FrameworkPlace) -> None:
    done = place.run("verification-workflow", "--json", test_command="echo 'Ran 0 tests in 0.000s'")
    assert done.json["context"]["tests_status"] == "failed"


# operations -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("STATUS: COMPLETE\nSTATUS: INCOMPLETE", "incomplete"),
        ("STATUS: INCOMPLETE\nIn the end:\n**STATUS:** COMPLETE", "complete"),
        ("It says STATUS: COMPLETE", "incomplete"),
        ("STATUS: COMPLETE, nearly", "incomplete"),
    ],
)
def test_the_last_status_of_an_operation_counts(place: FrameworkPlace, said: str, status: str) -> None:
    place.answers(rule("Do this, and nothing beyond", reply=said))
    done = place.run("operations-workflow", "--json", task_description="Look", defer_verdict=True)
    assert done.json["context"]["operations_status"] == status


OPERATED = textwrap.dedent("""\
    Made it.
    STATUS: {}
    """)


@pytest.mark.parametrize(
    ("said", "reflections", "code"),
    [
        ("COMPLETE", [reflected("PARTIAL", 3)], 1),
        ("INCOMPLETE", [reflected("PARTIAL"), ACHIEVED], 0),
        ("INCOMPLETE", [ACHIEVED], 1),
        ("COMPLETE", [ACHIEVED], 0),
    ],
)
def test_a_reviewer_can_make_an_operation_worse_and_a_further_round_better(
    place: FrameworkPlace, said: str, reflections: list[Any], code: int
) -> None:
    place.answers(
        classified("Operations"),
        rule("Do this, and nothing beyond", run="echo > made.txt", reply=OPERATED.format(said)),
        rule("The work below is not finished", reply="More."),
        rule("This is the last round", reply="More."),
        *reflections, SUMMED_UP,
    )  # fmt: skip
    done = place.run("smart-orchestrator", "-q", task_description="Make made.txt")
    assert done.exit_code == code, done.stderr


# places -----------------------------------------------------------------------------------------------------


def test_the_inside_of_a_repository_is_no_checkout(place: FrameworkPlace) -> None:
    place.answers()
    done = place.run("default-workflow", repo_path=".git", **TASK)
    assert done.exit_code == 1
    assert "not a checkout" in done.stderr


# agents that were only to look ------------------------------------------------------------------------------


def test_what_changed_during_a_question_or_an_investigation_is_told(place: FrameworkPlace) -> None:
    spoils = f"{SPOIL}; echo > new.txt"
    place.answers(
        rule("Answer this question", run=spoils, reply="So."),
        rule("Plan an investigation", reply={"questions": ["Why?"]}),
        rule("Find the answer", run=f"{SPOIL}; {COMMIT}", reply="Because."),
        rule("Write the report", reply="# Answer"),
    )
    asked = place.run("qa-workflow", "-q", question="Why?")
    assert "Changed meanwhile:\ncalc.sh\nnew.txt\n" in asked.stdout
    place.run("investigation-workflow", "-q", investigation_question="Why?", report_file="why.md")
    report = (place.repo / "why.md").read_text()
    assert "Changed during the investigation:\ncalc.sh\n(the commit: " in report


def test_where_nothing_changed_nothing_is_told(place: FrameworkPlace) -> None:
    (place.repo / "mine.txt").write_text("x")
    place.answers(rule("Answer this question", reply="So."))
    done = place.run("qa-workflow", "-q", question="Why?")
    assert done.stdout == "So.\n\nReferences: no path:line in it\n"


def test_an_operation_tells_a_change_of_a_file_that_was_changed_before(place: FrameworkPlace) -> None:
    (place.repo / "calc.sh").write_text("# mine\n")
    place.answers(rule("Do this, and nothing beyond", run=SPOIL, reply="STATUS: COMPLETE"))
    done = place.run("operations-workflow", "-q", task_description="Look")
    assert "Files that changed: calc.sh" in done.stdout


# workstreams ------------------------------------------------------------------------------------------------


def test_an_investigation_beside_a_change_does_not_make_it_untested(place: FrameworkPlace) -> None:
    place.answers(
        PLANNED, BUILT, APPROVED, SUMMED_UP, ACHIEVED,
        classified(
            "Development",
            {"name": "mul", "description": "Add mul", "task_type": "Development"},
            {"name": "why", "description": "Find out why", "task_type": "Investigation"},
        ),
        rule("Plan an investigation", reply={"questions": ["Why?"]}),
        rule("Find the answer", reply="Because."),
        rule("Write the report", reply="# Answer"),
    )  # fmt: skip
    done = place.run("smart-orchestrator", "-q", task_description="Both")
    assert done.exit_code == 0, done.stderr
    assert "Status: done;" in done.stdout
    assert "- completed: feat/orch-2-why, report investigation-find-out-why.md" in done.stdout


def test_every_workstream_is_looked_at_before_an_agent_begins(place: FrameworkPlace) -> None:
    place.answers(PLANNED, BUILT, APPROVED)
    done = place.run("parallel-workstreams", "-q", workstreams=[{"task": "Add mul"}, {"task": " "}])
    assert (done.exit_code, place.asked) == (1, [])
    assert "workstream 2 has neither task nor description" in done.stderr


# what was decided for the user ------------------------------------------------------------------------------


def test_what_the_runner_made_of_the_classification_is_told(place: FrameworkPlace) -> None:
    place.answers(rule("Classify the task", reply="Well, hard to say."), *DEVELOPMENT, ACHIEVED)
    done = place.run("smart-orchestrator", "-q", **TASK)
    assert "- classification: the classification cannot be read" in done.stdout
    place.git("switch", "--quiet", "main")
    place.answers(classified("Operations"), *DEVELOPMENT, ACHIEVED)
    done = place.run("smart-orchestrator", "-q", task_description="Add mul and its tests")
    assert "- kind of task: the task changes code, so it is Development, not Operations" in done.stdout
