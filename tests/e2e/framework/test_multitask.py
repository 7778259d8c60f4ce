"""`bin/multitask-orchestrator.sh`: several tasks, each in a worktree of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.support.commands import on_the_path
from tests.support.framework_place import APPROVED, MULTIPLY, PLANNED, WRONG, FrameworkPlace, rule

SCRIPT = Path(__file__).parents[3] / "amplifier-bundle" / "bin" / "multitask-orchestrator.sh"


def orchestrate(
    place: FrameworkPlace, *words: str, script: Path = SCRIPT, **env: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(script), *words],
        cwd=place.repo,
        env={**on_the_path(place.workspace), **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def tasks(place: FrameworkPlace, *streams: dict[str, Any]) -> str:
    file = place.workspace.path / "the tasks.json"
    file.write_text(json.dumps(streams))
    return str(file)


def worktrees(place: FrameworkPlace) -> int:
    return place.git("worktree", "list").count("ws-")


ODD = 'Add mul\nit\'s "two" lines; $(touch pwned) {{branch}} -n'
GOOD = rule("Make this change", "Add mul", run=MULTIPLY, reply="Added.")
BAD = rule("Make this change", "Break it", run=WRONG, reply="All tests pass.")
HELPLESS = rule("The tests of this project fail", reply="No idea.")


def test_any_other_number_of_files_shows_how_it_is_used(place: FrameworkPlace) -> None:
    for words in ((), ("a", "b")):
        done = orchestrate(place, *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("usage: multitask-orchestrator.sh FILE")
    assert orchestrate(place, "gone.json").returncode == 3


def test_no_tasks_are_no_failure(place: FrameworkPlace) -> None:
    done = orchestrate(place, tasks(place))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("keep", "left"), [("failed", 0), ("never", 0), ("always", 2)])
def test_tasks_arrive_as_they_are_and_worktrees_stay_as_asked(
    place: FrameworkPlace, keep: str, left: int
) -> None:
    place.answers(PLANNED, GOOD, APPROVED)
    second = {"description": "Add mul too", "branch": "mine/second"}
    done = orchestrate(place, tasks(place, {"task": ODD, "name": "--A & B"}, second), MULTITASK_KEEP=keep)
    assert done.returncode == 0, done.stderr
    assert "completed: feat/orch-1-a-b, tests passed" in done.stdout
    assert "completed: mine/second, tests passed" in done.stdout
    assert any(ODD in prompt for prompt in place.asked)
    assert worktrees(place) == left
    assert not (place.repo / "pwned").exists()
    assert place.git("branch", "--show-current") == "main"


@pytest.mark.parametrize(("keep", "left"), [("failed", 1), ("never", 0), ("always", 2)])
def test_a_task_that_fails_fails_the_command_and_the_others_finish(
    place: FrameworkPlace, keep: str, left: int
) -> None:
    place.answers(PLANNED, GOOD, BAD, HELPLESS, APPROVED)
    file = tasks(place, {"task": "Break it", "name": "bad"}, {"task": "Add mul", "name": "good"})
    done = orchestrate(place, file, MULTITASK_KEEP=keep)
    assert done.returncode == 1
    assert "mul" in place.git("show", "feat/orch-2-good:calc.sh")
    assert "mul" in place.git("show", "feat/orch-1-bad:calc.sh")  # what there is stays on its branch
    assert worktrees(place) == left


@pytest.mark.parametrize("text", ["{}", "not json", '"text"'])
def test_a_file_that_holds_no_list_is_wrong_input(place: FrameworkPlace, text: str) -> None:
    file = place.workspace.write("tasks.json", text)
    assert orchestrate(place, str(file)).returncode in (1, 2)
    assert worktrees(place) == 0


def test_a_task_without_a_text_fails_and_names_itself(place: FrameworkPlace) -> None:
    place.answers()
    done = orchestrate(place, tasks(place, {"name": "empty"}))
    assert done.returncode == 1
    assert "workstream 1 has neither task nor description" in done.stderr
    assert place.asked == []


def test_the_script_may_be_a_link(place: FrameworkPlace) -> None:
    here = place.workspace.path
    (here / "first").symlink_to(SCRIPT)
    (here / "second").symlink_to("first")
    done = orchestrate(place, tasks(place), script=here / "second")
    assert done.returncode == 0, done.stderr
