"""A process that had a session ends as it should: the kernel's threads may abort Python at its end.

It happens now and then, so that a few exits prove little: `SESSION_EXITS=100` makes a hundred.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from textwrap import indent

import pytest
from tests.support.workspace import Workspace

EXITS = int(os.environ.get("SESSION_EXITS", "2"))

# A tool and a child, since most threads are at work there.
ASKED = """\
rules: [{when: the child, text: The child is done.}]
steps:
  - tools: [{name: glob, input: {pattern: '*.md'}}]
  - tools: [{name: delegate, input: {agent: self, instruction: the child}}]
  - text: All is well.
"""
PROGRAM = """\
import asyncio
from pathlib import Path
from amplihack import HostParts, prepare_bundle

async def main() -> None:
    prepared = await prepare_bundle("./bundle.md")
    async with prepared.create_session(host=HostParts(working_dir=Path.cwd())) as session:
        print(await session.execute("look around"))

asyncio.run(main())
"""
BUNDLE = f"""\
---
bundle: {{name: demo, version: 1.0.0}}
includes:
  - bundle: foundation
hooks: [{{module: hooks-approval, config: {{mode: yolo}}}}]
providers:
  - module: provider-scripted
    config:
{indent(ASKED, "      ")}---
"""


def endings(workspace: Workspace, *argv: str) -> Counter[tuple[int, str]]:
    """Return how often each exit code and output came, of so many processes, one after the other."""
    found: Counter[tuple[int, str]] = Counter()
    for _ in range(EXITS):
        done = subprocess.run(
            [sys.executable, *argv],
            cwd=workspace.path,
            env=workspace.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        found[done.returncode, done.stdout if done.returncode == 0 else done.stdout + done.stderr] += 1
    return found


def talks(workspace: Workspace) -> int:
    """Return how many sessions were stored, children included."""
    return len(list(Path(workspace.env["HOME"], ".amplihack", "sessions").glob("*/transcript.jsonl")))


def test_a_command_ends_well(workspace: Workspace) -> None:
    workspace.write("script.yaml", ASKED)
    words = ("-m", "amplihack", "run", "--yes", "--model", "scripted:script.yaml", "look around")
    assert endings(workspace, *words) == {(0, "All is well.\n"): EXITS}
    assert talks(workspace) == 2 * EXITS


@pytest.mark.parametrize("ending", ["", "import sys; sys.exit(0)\n"], ids=["end", "exit"])
def test_a_program_of_a_user_ends_well(workspace: Workspace, ending: str) -> None:
    workspace.write("bundle.md", BUNDLE)
    program = workspace.write("program.py", PROGRAM + ending)
    assert endings(workspace, str(program)) == {(0, "All is well.\n"): EXITS}
    assert talks(workspace) == 2 * EXITS
