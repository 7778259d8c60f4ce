"""What a person sees while a recipe runs: in a log, and on a real terminal."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence

import pytest
from tests.support.golden import Golden
from tests.support.workspace import Workspace

BUILD = """\
name: build
steps:
  - id: compile
    name: Compile everything
    command: |
      echo starting
      echo "warning: old flag" >&2
      echo "error: no such file" >&2
      exit 3
    continue_on_error: true
  - id: lint
    foreach: [a.py, b.py]
    as: file
    command: echo "{{file}} is clean"
  - id: pack
    name: Pack each part
    foreach: [{part: core}, {part: docs}]
    steps:
      - id: zip
        command: '[ "{{item.part}}" != docs ] || { echo "cannot zip" >&2; false; }'
  - id: never
    command: echo never
"""
OUTER = "name: outer\nsteps:\n  - {id: call, recipe: build.yaml}\n"
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
TIME = re.compile(r"\d+\.\ds")
RUN = re.compile(r"\b[0-9a-z]{6}-[0-9a-z]{5}\b")


def test_a_log_reads_from_start_to_end(workspace: Workspace, golden: Golden) -> None:
    workspace.write("build.yaml", BUILD)
    workspace.write("outer.yaml", OUTER)
    answer = workspace.run("recipe", "run", "outer.yaml")
    assert answer.exit_code == 1
    golden.check("progress-log", RUN.sub("<run>", TIME.sub("0.0s", answer.stderr)))


def on_a_terminal(workspace: Workspace, words: Sequence[str]) -> str:
    """Run a command whose stderr is a terminal, and return what it drew there without its colours."""
    ours, theirs = pty.openpty()
    environment = {**workspace.env, "TERM": "xterm", "COLUMNS": "120", "LINES": "30"}
    process = subprocess.Popen(
        [sys.executable, "-m", "amplihack", *words],
        cwd=workspace.path,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    drawn = b""
    while True:
        try:
            data = os.read(ours, 65_536)
        except OSError:  # the other side is closed
            break
        if not data:
            break
        drawn += data
    process.wait()
    os.close(ours)
    return ANSI.sub("", drawn.decode("utf-8", "replace"))


@pytest.mark.skipif(sys.platform == "darwin", reason="a closed pseudo-terminal forgets its last bytes there")
def test_a_terminal_shows_the_item_of_a_loop_while_it_runs(workspace: Workspace) -> None:
    workspace.write(
        "slow.yaml",
        "name: slow\nsteps:\n  - id: each\n    name: One by one\n    foreach: [a, b]\n"
        "    command: echo at {{item}}; sleep 0.6\n"
        "  - {id: bad, command: 'echo one >&2; echo two >&2; exit 4'}\n",
    )
    drawn = on_a_terminal(workspace, ("recipe", "run", "slow.yaml"))
    assert re.search(r"each · One by one  \d+s  0 of 2 done  round 1 of 2 — a  at a", drawn)
    assert re.search(r"each · One by one  \d+s  1 of 2 done  round 2 of 2 — b  at b", drawn)
    assert re.search(r"✓ each · One by one \(\d+\.\ds\)", drawn)
    assert re.search(r"✗ bad \(\d+\.\ds\) — exit 4: two", drawn)


def test_the_summary_tells_tokens_and_cost_where_an_agent_does(workspace: Workspace) -> None:
    workspace.write("ask.yaml", "name: ask\nsteps: [{id: q, prompt: hello}]\n")
    tool = workspace.write(
        "bin/claude",
        "#!/bin/sh\n"
        'echo \'{"type":"system","subtype":"init"}\'\n'
        'echo \'{"type":"result","subtype":"success","result":"hi","total_cost_usd":0.0123,'
        '"usage":{"input_tokens":1200,"output_tokens":34}}\'\n',
    )
    tool.chmod(0o755)
    answer = workspace.run("recipe", "run", "ask.yaml", "--agent", str(tool))
    assert answer.exit_code == 0, answer
    assert "  tokens: 1,200 in, 34 out; cost: $0.0123\n" in answer.stdout


def test_a_failure_that_we_can_explain_says_how_to_fix_it(workspace: Workspace) -> None:
    text = "name: long\nsteps: [{id: list, command: 'echo [$(seq -s, 101)]', parse_json: true},"
    workspace.write("long.yaml", text + " {id: s, foreach: list, command: 'true'}]\n")
    answer = workspace.run("recipe", "run", "long.yaml")
    assert (
        "max_iterations allows 100\n  fix: write `max_iterations: 101`, or shorten the list\n"
        in answer.stdout
    )
