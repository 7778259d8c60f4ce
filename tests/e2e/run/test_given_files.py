"""Values come from files, pipes and stdin: `--set-file token=<(pass show x)` is how secrets are given."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.support.workspace import Workspace

RECIPE = """\
name: given
secrets: [token]
context: {token: ''}
steps:
  - {id: show, command: 'printf %s {{token}} | wc -c; printf %s "$COLOUR"'}
"""


def in_bash(workspace: Workspace, words: str) -> subprocess.CompletedProcess[str]:
    """Run `amplihack recipe run r.yaml -q …` as a line of bash."""
    workspace.write("r.yaml", RECIPE)
    line = f"exec {sys.executable} -m amplihack recipe run {words}"
    return subprocess.run(
        ["bash", "-c", line],
        cwd=workspace.path,
        env=workspace.env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "words",
    [
        "r.yaml -q --set-file token=<(printf secret; sleep 0.2; printf -- -value)",
        "r.yaml -q --set-file token=- < <(printf secret-value)",
        "r.yaml -q --set-file token=/dev/stdin < <(printf secret-value)",
        "r.yaml -q --set-file token=- <<< $'secret-valu'",
        "r.yaml -q --context-file <(echo token: secret-value)",
        "r.yaml -q --context-file - <<< 'token: secret-value'",
    ],
)
def test_a_value_comes_from_a_pipe(workspace: Workspace, words: str) -> None:
    done = in_bash(workspace, words)
    assert (done.returncode, done.stdout, done.stderr) == (0, "12\n", "")


def test_variables_of_the_environment_come_from_a_pipe(workspace: Workspace) -> None:
    done = in_bash(workspace, "r.yaml -q --env-file <(echo COLOUR=green)")
    assert (done.returncode, done.stdout) == (0, "0\ngreen\n")


def test_stdin_is_read_once(workspace: Workspace) -> None:
    for words in (
        "- --set-file token=- < r.yaml",
        "r.yaml --set-file token=- --context-file /dev/stdin < r.yaml",
    ):
        done = in_bash(workspace, words)
        assert (done.returncode, done.stdout) == (2, "")
        assert "stdin is named twice" in done.stderr


def test_a_terminal_or_nothing_as_stdin_is_refused(workspace: Workspace) -> None:
    done = in_bash(workspace, "r.yaml --set-file token=- < /dev/null")
    assert done.returncode == 3
    assert "is a device" in done.stderr


def test_a_resumed_run_asks_again_for_variables_that_came_by_a_pipe(workspace: Workspace) -> None:
    workspace.write("f.yaml", "name: f\nsteps: [{id: a, command: 'test -e ok && echo $COLOUR'}]\n")
    failed = in_bash(workspace, "f.yaml --env-file - <<< COLOUR=green")
    assert failed.returncode == 1
    workspace.write("ok", "")
    again = workspace.run("runs", "resume", "last")
    assert again.exit_code == 3
    assert "had variables from a file that is gone" in again.stderr
    workspace.write("colours", "COLOUR=blue\n")
    went_on = workspace.run("runs", "resume", "last", "-q", "--env-file", "colours")
    assert (went_on.exit_code, went_on.stdout) == (0, "blue\n")
