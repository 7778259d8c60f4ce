"""What the recipes say of a repository is so: names of files, commits of agents, branches on a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.support.framework_place import APPROVED, BUILT, PLANNED, FrameworkPlace, classified, rule

FINDING = {"severity": "blocker", "file": "calc.sh", "line": 1, "problem": "wrong", "fix": "mend"}


def write(place: FrameworkPlace, name: str, text: str) -> None:
    (place.repo / name).parent.mkdir(exist_ok=True)
    (place.repo / name).write_text(text)


# review -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spelled", ["straße.sh", "./straße.sh", "b/straße.sh", "{repo}/straße.sh", "a dir/it's.sh"]
)
def test_a_blocker_counts_however_its_file_is_spelled(place: FrameworkPlace, spelled: str) -> None:
    for name in ("straße.sh", "a dir/it's.sh"):
        write(place, name, "true\n")
    place.git("add", "-A")
    found = {**FINDING, "file": spelled.format(repo=place.repo)}
    place.answers(rule("Review this change", reply={"summary": "Look.", "findings": [found]}))
    done = place.run("review-diff")
    assert (done.exit_code, "1 finding(s) stand in the way" in done.stderr) == (1, True)


def test_a_blocker_in_a_part_of_the_repository_counts(place: FrameworkPlace) -> None:
    write(place, "part/new.sh", "true\n")
    place.git("add", "-A")
    found = {**FINDING, "file": "new.sh"}
    place.answers(rule("Review this change", reply={"summary": "Look.", "findings": [found]}))
    assert place.run("review-diff", repo_path="part").exit_code == 1


def test_new_files_that_git_does_not_know_are_told(place: FrameworkPlace) -> None:
    write(place, "new.sh", "secret\n")
    place.answers(rule("Review this change", reply={"summary": "Fine.", "findings": []}))
    nothing = place.run("review-diff")
    assert (nothing.exit_code, "`git add`: new.sh" in nothing.stderr) == (1, True)
    write(place, "calc.sh", "true\n")
    done = place.run("review-diff", "-q")
    assert done.exit_code == 0, done.stderr
    assert "not reviewed (`git add` them first): new.sh" in done.stdout
    assert "secret" not in place.asked[0]


# references -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("`calc.sh:1`, **Makefile:2** and [it](check.sh:2)", "all 3 lead to a line that exists"),
        ("from the root: {repo}/calc.sh:1:5", "all 1 lead to a line that exists"),
        ("„straße.sh:1“ — and（calc.sh:1-2）", "all 2 lead to a line that exists"),
        (
            "http://127.0.0.1:80/x.py:3, localhost:8080, 10.0.0.1:22, example.com:443 at 12:30",
            "no path:line in it",
        ),
        (
            "calc.sh:9 and gone.py:1 and calc.sh:0",
            "3, of which these lead nowhere: calc.sh:0 calc.sh:9 gone.py:1",
        ),
    ],
)
def test_references_are_what_leads_to_a_line(place: FrameworkPlace, text: str, told: str) -> None:
    write(place, "straße.sh", "true\n")
    (place.workspace.path / "plain").symlink_to(place.repo)  # its name has neither blanks nor quotes
    shown = text.format(repo=place.workspace.path / "plain")
    done = place.run("check-references", "-q", text=shown)
    assert (done.exit_code, done.stdout) == (0, f"{told}\n")


# commits of agents ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "script",
    ["git commit --quiet --allow-empty -m x", "git switch --quiet --create y", "git checkout -q --detach"],
)
def test_a_classification_that_moves_commits_or_branches_ends_the_run(
    place: FrameworkPlace, script: str
) -> None:
    place.answers(rule("Classify the task", run=script, reply={"task_type": "Q&A"}))
    done = place.run("smart-orchestrator", task_description="What?")
    assert (done.exit_code, "commits or branches" in done.stdout + done.stderr) == (1, True)


def test_what_an_operation_commits_is_told(place: FrameworkPlace) -> None:
    commit = "echo x > 'größe.txt'; git add -A; git commit --quiet -m done; echo y > more.txt"
    place.answers(rule("Do this", run=commit, reply="Done.\nSTATUS: COMPLETE"))
    done = place.run("operations-workflow", "--json", task_description="tidy up")
    assert done.exit_code == 0, done.stderr
    now = place.git("rev-parse", "HEAD")[:12]
    assert done.json["context"]["ops_modified_files"] == f"größe.txt\nmore.txt\n(the commit: {now})"


def test_operations_need_no_repository(place: FrameworkPlace) -> None:
    place.answers(rule("Do this", reply="Done.\nSTATUS: COMPLETE"))
    done = place.run("operations-workflow", "-q", task_description="look", repo_path=str(place.agent))
    assert done.exit_code == 0, done.stderr


def test_changed_files_are_named_as_they_are(place: FrameworkPlace) -> None:
    built = rule("Make this change", run="echo 1 > 'größe.txt'", reply="Done.")
    place.answers(PLANNED, built, APPROVED)
    done = place.run("default-workflow", "-q", task_description="Add it", publish="no")
    assert (done.exit_code, "Files:\ngröße.txt" in done.stdout) == (0, True), done.stderr


# branches on the server -------------------------------------------------------------------------------------


def with_server(place: FrameworkPlace) -> Path:
    """Let origin have a branch that is not here."""
    place.git("init", "--quiet", "--bare", str(place.workspace.path / "server.git"))
    place.git("remote", "add", "origin", str(place.workspace.path / "server.git"))
    place.git("switch", "--quiet", "--create", "theirs")
    write(place, "theirs.txt", "x\n")
    place.git("add", "-A")
    place.git("commit", "--quiet", "-m", "their work")
    place.git("push", "--quiet", "origin", "main", "theirs")
    place.git("switch", "--quiet", "main")
    place.git("branch", "--quiet", "-D", "theirs")
    return place.workspace.path / "server.git"


def test_a_branch_that_only_the_server_has_is_gone_on_with(place: FrameworkPlace) -> None:
    with_server(place)
    place.answers(PLANNED, BUILT, APPROVED)
    done = place.run("default-workflow", "--yes", "-q", task_description="Add mul", existing_branch="theirs")
    assert done.exit_code == 0, done.stderr
    assert place.git("log", "--format=%s", "main..origin/theirs") == "Add mul\ntheir work"


def test_a_workstream_goes_on_with_a_branch_of_the_server(place: FrameworkPlace) -> None:
    with_server(place)
    place.answers(PLANNED, BUILT, APPROVED)
    stream: dict[str, Any] = {"task": "Add mul", "branch": "theirs"}
    done = place.run("parallel-workstreams", "-q", workstreams=[stream])
    assert done.exit_code == 0, done.stderr
    assert place.git("log", "--format=%s", "main..theirs") == "Add mul\ntheir work"


# release notes and issues -----------------------------------------------------------------------------------


def test_short_names_of_commits_are_long_enough_for_the_proof(place: FrameworkPlace) -> None:
    place.git("config", "core.abbrev", "4")
    commit = place.git("rev-parse", "--short=7", "HEAD")
    place.answers(rule("Write the release notes", commit, reply=f"# 2.0\n\n- It begins ({commit})"))
    done = place.run("release-notes", "-q")
    assert done.exit_code == 0, done.stderr


def test_notes_of_a_repository_without_commits_are_refused_in_words(place: FrameworkPlace) -> None:
    place.git("init", "--quiet", str(place.workspace.path / "empty"))
    done = place.run("release-notes", repo_path=str(place.workspace.path / "empty"))
    assert (done.exit_code, "there is no commit HEAD" in done.stderr) == (1, True)


def test_labels_may_hold_any_character(place: FrameworkPlace) -> None:
    labels = ["[area] core", 'so-called "bug"', "a, b", "größer"]
    reply = {
        "severity": "low",
        "summary": "s",
        "labels": labels,
        "files": [],
        "missing": [],
        "next_step": "n",
    }
    place.answers(rule("Triage this issue", reply=reply))
    done = place.run("triage-issue", "-q", issue="x", labels=labels)
    assert (done.exit_code, f"Labels: {', '.join(labels)}\n" in done.stdout) == (0, True), done.stderr


# dependencies -----------------------------------------------------------------------------------------------


def test_an_update_that_fails_halfway_is_put_back(place: FrameworkPlace) -> None:
    place.answers()
    half = "echo 2 >> calc.sh; echo 1 > new.lock; echo no network; exit 7"
    done = place.run("update-dependencies", update_command=half)
    assert done.exit_code == 1
    assert "the update failed with exit code 7" in done.stderr
    assert "no network" in done.stderr
    assert place.git("status", "--porcelain") == ""
    assert place.git("stash", "show", "--name-only").split() == ["calc.sh", "new.lock"]


def test_a_first_lock_file_belongs_to_the_update_and_files_of_the_user_do_not(place: FrameworkPlace) -> None:
    write(place, "mine.txt", "mine\n")
    place.answers(rule("dependencies of this project were updated", reply="No idea."))
    updated = place.run("update-dependencies", "-q", update_command="echo 1 > 'größe.lock'")
    assert updated.exit_code == 0, updated.stderr
    assert place.git("-c", "core.quotePath=false", "diff", "--cached", "--name-only") == "größe.lock"
    place.git("reset", "--quiet", "--hard")
    broken = place.run("update-dependencies", update_command="echo 1 > x.lock; echo exit 1 > check.sh")
    assert (broken.exit_code, "installed again" in broken.stderr) == (1, True)
    assert place.git("status", "--porcelain") == "?? mine.txt"


def test_an_update_that_changes_nothing_and_fails_is_told(place: FrameworkPlace) -> None:
    place.answers()
    done = place.run("update-dependencies", update_command="no-such-program")
    assert (done.exit_code, "the update failed with exit code 127" in done.stderr) == (1, True)
    assert place.git("stash", "list") == ""


def test_a_route_that_needs_no_repository_works_without_one(place: FrameworkPlace) -> None:
    answer = rule("Answer this question", reply="Because of agent.py:1.")
    place.answers(classified("Q&A"), answer)
    done = place.run("smart-orchestrator", "-q", task_description="Why?", repo_path=str(place.agent))
    assert (done.exit_code, "Because of agent.py:1." in done.stdout) == (0, True), done.stderr
