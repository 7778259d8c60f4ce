"""The file that several workstreams share: a nicety, which never delays a run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.workspace import Workspace

HOLD = """
import fcntl, sys, time
file = open(sys.argv[1], "a")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture
def shared(workspace: Workspace) -> Path:
    file = workspace.path / "streams" / "progress.json"
    file.parent.mkdir()
    workspace.env["AMPLIHACK_WORKSTREAM_PROGRESS_FILE"] = str(file)
    workspace.env["AMPLIHACK_WORKSTREAM_ID"] = "7"
    return file


@pytest.fixture
def holder(shared: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that holds the lock of the file for as long as it lives."""
    lock = shared.with_name(f".{shared.name}.lock")
    command = [sys.executable, "-c", HOLD, str(lock)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        try:
            yield process
        finally:
            process.kill()


def recipe(workspace: Workspace, *commands: str) -> str:
    steps = "".join(f"  - {{id: s{number}, command: '{each}'}}\n" for number, each in enumerate(commands))
    workspace.write("r.yaml", f"name: r\nsteps:\n{steps}")
    return "r.yaml"


def test_a_run_proceeds_and_ends_while_another_process_holds_the_lock(
    workspace: Workspace, shared: Path, holder: subprocess.Popen[bytes]
) -> None:
    answer = workspace.run("recipe", "run", recipe(workspace, "touch one", "touch two"))
    assert (answer.exit_code, holder.poll()) == (0, None)
    assert (workspace.path / "two").exists()
    assert "the workstream file stopped: another process holds" in answer.stderr
    assert not shared.exists()


def test_what_could_not_be_written_is_written_once_the_lock_is_free(
    workspace: Workspace, shared: Path, holder: subprocess.Popen[bytes]
) -> None:
    answer = workspace.run("recipe", "run", recipe(workspace, "true", f"kill -KILL {holder.pid}"))
    assert (answer.exit_code, "stopped" in answer.stderr) == (0, False)
    (entry,) = json.loads(shared.read_text())
    assert (entry["workstream_id"], entry["status"], entry["last_step"]) == ("7", "completed", "s1")


def test_an_interrupt_is_heard_while_another_process_holds_the_lock(
    workspace: Workspace, holder: subprocess.Popen[bytes]
) -> None:
    file = recipe(workspace, "echo on > started; sleep 600")
    command = [sys.executable, "-m", "amplihack", "recipe", "run", file]
    with subprocess.Popen(
        command, cwd=workspace.path, env=workspace.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            for _ in range(1200):
                if (workspace.path / "started").exists():
                    break
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, holder.poll()) == (130, None)


@pytest.mark.parametrize("kind", ["a pipe", "a device"])
def test_a_file_without_end_is_told_and_left_alone(workspace: Workspace, shared: Path, kind: str) -> None:
    if kind == "a pipe":
        os.mkfifo(shared)
    else:
        shared.symlink_to("/dev/zero")
    workspace.write("r.yaml", "name: r\nsteps: [{id: a, command: 'true'}]\n")
    answer = workspace.run("recipe", "run", "r.yaml")
    assert answer.exit_code == 0
    assert "the workstream file stopped" in answer.stderr
    assert not shared.is_file()
