"""What an agent step changed before it was cut off is told, and is its own when the run goes on."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest
from tests.support.running import Scene
from tests.support.workspace import Workspace

# Each time that it is asked it adds a line to two files; without `ready` it does not come to an end.
AGENT = """\
#!/bin/bash
cat > prompt; echo agent >> tracked; echo agent >> made
touch begun
[ -e ready ] && echo done && exit 0
[ -e failing ] && exit 1
exec sleep 600
"""
ASK = "name: a\nsteps:\n  - {id: ask, prompt: work}\n"
CUT_OFF = "not staged: tracked (the step was cut off), made (the step was cut off)"


def git(workspace: Workspace, *words: str) -> str:
    env = {**workspace.env, "PATH": os.environ["PATH"]}
    for name in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{name}_NAME": "Ann", f"GIT_{name}_EMAIL": "ann@example.org"}
    done = subprocess.run(["git", *words], cwd=workspace.path, env=env, check=True, capture_output=True)
    return done.stdout.decode()


@pytest.fixture
def repository(workspace: Workspace) -> Workspace:
    workspace.write("agent", AGENT).chmod(0o755)
    workspace.write("r.yaml", ASK)
    workspace.write("tracked", "one\n")
    workspace.write("mine", "one\n")
    workspace.write(".gitignore", "agent\nr.yaml\nprompt\nbegun\nready\nfailing\nhome\ntmp\n.gitignore\n")
    git(workspace, "init", "--quiet")
    git(workspace, "add", "tracked", "mine")
    git(workspace, "commit", "--quiet", "--message", "begin")
    workspace.write("mine", "changed\n")
    return workspace


def interrupt(workspace: Workspace) -> str:
    started = Scene(workspace).start("recipe", "run", "r.yaml", "--agent", "command:./agent")
    started.wait_for("begun")
    started.process.send_signal(signal.SIGINT)
    _, said = started.process.communicate(timeout=120)
    assert started.process.returncode == 130
    return said if isinstance(said, str) else said.decode()


def status(workspace: Workspace) -> list[str]:
    return sorted(git(workspace, "status", "--porcelain", "--untracked-files=all").splitlines())


def test_ctrl_c_tells_what_the_agent_changed_and_the_run_that_goes_on_stages_it(
    repository: Workspace,
) -> None:
    assert CUT_OFF in interrupt(repository)
    assert status(repository) == [" M mine", " M tracked", "?? made"]
    repository.write("ready", "")
    done = repository.run("runs", "resume")
    assert done.exit_code == 0, done.stderr
    assert "+ ask: staged with git: tracked, made" in done.stderr
    assert status(repository) == [" M mine", "A  made", "M  tracked"]


def test_what_somebody_changed_since_then_is_theirs(repository: Workspace) -> None:
    interrupt(repository)
    with (repository.path / "tracked").open("a") as file:
        file.write("mine\n")
    repository.write("ready", "")
    done = repository.run("runs", "resume")
    assert "+ ask: staged with git: made" in done.stderr
    assert "not staged: tracked (it had changes before the step)" in done.stderr
    assert status(repository) == [" M mine", " M tracked", "A  made"]


def test_a_step_that_failed_goes_on_with_its_own_changes_and_those_of_earlier_steps(
    repository: Workspace,
) -> None:
    repository.write(
        "r.yaml",
        "name: a\nsteps:\n  - {id: first, prompt: work}\n  - {id: test, command: test -e fixed}\n"
        "  - {id: ask, prompt: work}\n",
    )
    repository.write("ready", "")
    first = repository.run("recipe", "run", "r.yaml", "--agent", "command:./agent")
    assert first.exit_code == 1
    assert status(repository) == [" M mine", "A  made", "M  tracked"]
    repository.write("fixed", "")
    (repository.path / "ready").unlink()
    repository.write("failing", "")
    second = repository.run("runs", "resume")
    assert "made (the step failed), tracked (the step failed)" in second.stderr
    repository.write("ready", "")
    third = repository.run("runs", "resume")
    assert "+ ask: staged with git: made, tracked" in third.stderr
    assert status(repository) == [" M mine", "?? fixed", "A  made", "M  tracked"]


def test_an_agent_that_the_limit_of_its_loop_cuts_off_tells_what_it_changed(repository: Workspace) -> None:
    repository.write(
        "r.yaml",
        "name: a\nsteps:\n  - id: each\n    foreach: [1]\n    timeout: 3\n"
        "    steps: [{id: ask, prompt: work}]\n",
    )
    done = repository.run("recipe", "run", "r.yaml", "--agent", "command:./agent")
    assert done.exit_code == 1
    assert "tracked (the step was cut off), made (the step was cut off)" in done.stderr
    assert status(repository) == [" M mine", " M tracked", "?? made"]
