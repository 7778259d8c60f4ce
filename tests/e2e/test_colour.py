"""Colours come and go as the user asks, for problems and for progress, in a pipe and on a terminal."""

from __future__ import annotations

import pytest
from tests.support.running import Scene, Terminal
from tests.support.workspace import Workspace

from amplihack.cli.commands import COMMANDS

WRONG = "name: x\nsteps:\n  - {id: a}\n"
BOLD, GREEN = "\x1b[1m", "\x1b[32m"


HOSTS = ("claude", "copilot", "codex")  # what follows them are words for the tool


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in HOSTS])
def test_every_command_takes_the_flag_and_refuses_other_values(workspace: Workspace, name: str) -> None:
    answer = workspace.run(*name.split(), "--color", "purple")
    assert (answer.exit_code, "--color" in answer.stderr) == (2, True)


@pytest.mark.parametrize(
    ("flags", "env", "coloured"),
    [
        ((), {}, False),
        (("--color", "always"), {}, True),
        (("--color=always",), {"NO_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"CLICOLOR_FORCE": "1"}, True),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
    ],
)
def test_problems_and_progress_in_a_pipe(
    workspace: Workspace, flags: tuple[str, ...], env: dict[str, str], coloured: bool
) -> None:
    workspace.write("wrong.yaml", WRONG)
    workspace.write("good.yaml", "name: good\nsteps: [{id: a, command: 'true'}]\n")
    for verb in ("run", "validate", "explain"):
        assert (BOLD in workspace.run("recipe", verb, "wrong.yaml", *flags, env=env).stderr) is coloured
    checked = workspace.run("recipe", "check", "wrong.yaml", *flags, env=env)
    assert (BOLD in checked.stdout) is coloured
    assert (GREEN in workspace.run("recipe", "run", "good.yaml", *flags, env=env).stderr) is coloured
    assert (GREEN in workspace.runner("good.yaml", *flags, env=env).stderr) is coloured


def test_an_error_of_the_flags_themselves_follows_the_flag(workspace: Workspace) -> None:
    workspace.write("bad.env", "1")
    for flags in (("--color", "always"), ("--color=always",)):
        answer = workspace.run("recipe", "run", "x", "--env-file", "bad.env", *flags)
        assert answer.stderr.startswith(BOLD)


@pytest.mark.parametrize(
    ("flag", "env", "coloured"),
    [
        ("auto", {}, True),
        ("never", {}, False),
        ("auto", {"FORCE_COLOR": ""}, True),
        ("always", {"FORCE_COLOR": "", "NO_COLOR": "1"}, True),
    ],
)
def test_the_live_display_on_a_terminal(
    workspace: Workspace, flag: str, env: dict[str, str], coloured: bool
) -> None:
    scene = Scene(workspace)
    scene.workspace.env |= {"TERM": "xterm", **env}
    scene.workspace.write("good.yaml", "name: good\nsteps: [{id: a, command: 'true'}]\n")
    terminal = Terminal(scene, "recipe", "run", "good.yaml", "--color", flag)
    assert terminal.end().exit_code == 0
    assert "✓ a" in terminal.shown
    assert (GREEN in terminal.shown) is coloured
