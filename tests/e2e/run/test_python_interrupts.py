"""Ctrl-C in a Python program that runs a recipe: whatever the program does, nothing is left behind."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from tests.support.running import Scene, wait_until
from tests.support.workspace import Workspace

PROGRAMS = {
    "without an event loop": "run_file('stay.yaml')",
    "inside asyncio.run": """
async def main():
    run_file('stay.yaml')
asyncio.run(main())""",
    "inside a loop that leaves Ctrl-C alone": """
async def main():
    run_file('stay.yaml')
loop = asyncio.new_event_loop()
try:
    loop.run_until_complete(main())
finally:
    loop.close()""",
    "awaiting it": "asyncio.run(run_file_async('stay.yaml'))",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_ctrl_c_ends_what_a_program_has_started(workspace: Workspace, program: str) -> None:
    scene = Scene(workspace)
    workspace.write("stay.yaml", "name: stay\nsteps: [{id: a, command: 'touch reached; sleep 300'}]\n")
    # A shell may have started the tests with Ctrl-C ignored, which a child would inherit.
    head = "import asyncio, signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    running = subprocess.Popen(
        [sys.executable, "-c", f"{head}from amplihack import run_file, run_file_async\n{program}\n"],
        cwd=workspace.path,
        env=workspace.env,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        wait_until("the step runs", lambda: scene.has("reached"))
        running.send_signal(signal.SIGINT)
        _, complaint = running.communicate(timeout=60)
    finally:
        running.kill()
    assert b"KeyboardInterrupt" in complaint
    assert running.returncode == -signal.SIGINT
    assert scene.alive() == []
    assert scene.left_files() == []
