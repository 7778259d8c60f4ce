"""The examples of the help pages: every command has some, and they do what they promise."""

from __future__ import annotations

import json
import shlex
import subprocess

import pytest
from tests.support.commands import on_the_path
from tests.support.framework_bundle import write_bundle
from tests.support.workspace import Workspace

from amplihack.cli import commands, help_pages, runner
from amplihack.cli.examples import EXAMPLES

PROGRAMS = (
    "amplihack",
    "recipe-runner",
    *(f"amplihack {name}" for name in (*commands.GROUPS, *commands.COMMANDS)),
)
NEEDS_THE_NETWORK = ("amplihack recipe sync", "amplihack model pull")
BUILD = """\
name: build
description: Build it and say so.
inputs:
  - {name: target, enum: [dev, prod], default: dev, description: Where it goes.}
  - {name: notes, default: none, description: What has changed.}
steps:
  - {id: compile, command: "echo {{target}} {{notes}}", when_tags: [fast]}
"""
REVIEW = "name: review\nsteps:\n  - {id: ask, prompt: Is it good?}\n"
BUNDLE = """\
---
bundle: {name: mine, version: 1.0.0}
tools:
  - module: tool-bash
    source: ./tool
    config: {timeout: 30}
---
Answer in one sentence.
"""

MOUNT = """\
async def mount(coordinator, config=None):
    await coordinator.mount("tools", object(), name="bash")
"""
FAILING = "name: failing\nsteps:\n  - {id: s, command: 'test -e fixed'}\n"
GATE = """\
name: gate
stages:
  - {name: build, steps: [{id: b, command: echo b}], approval: {prompt: 'go on?'}}
"""
SESSION = (
    'kept="${AMPLIHACK_HOME:-$HOME/.amplihack}/sessions/one"; mkdir -p "$kept"; '
    """echo '{"role": "user", "content": "hello"}' > "$kept/transcript.jsonl" """
    """&& echo '{"session_id": "one"}' > "$kept/metadata.json" """
)
# What has to happen before each example of a command, for it to have something to do.
FIRST = {
    "amplihack runs": "amplihack recipe run build.yaml",
    "amplihack runs list": "amplihack recipe run failing.yaml",
    "amplihack runs show": "amplihack recipe run build.yaml",
    "amplihack runs tail": "amplihack recipe run build.yaml --detach",
    "amplihack runs resume": "rm -f fixed; amplihack recipe run failing.yaml; touch fixed",
    "amplihack runs approve": "amplihack recipe run gate.yaml",
    "amplihack runs deny": "amplihack recipe run gate.yaml",
    "amplihack runs fork": "amplihack recipe run build.yaml",
    "amplihack runs diff": "amplihack recipe run build.yaml; amplihack recipe run build.yaml",
    "amplihack runs cancel": "amplihack recipe run gate.yaml",
    "amplihack chat": "amplihack run hello",
    "amplihack session resume": "amplihack run hello",
    **dict.fromkeys(
        (f"amplihack session{verb}" for verb in ("", " show", " fork", " prune")),
        SESSION,
    ),
    "amplihack model remove": (
        'models="${AMPLIHACK_HOME:-$HOME/.amplihack}/models"; mkdir -p "$models"; '
        'echo x > "$models/smollm2-135m.gguf.partial"'
    ),
}


@pytest.fixture
def place(workspace: Workspace) -> Workspace:
    workspace.write("build.yaml", BUILD)
    workspace.write("recipes/build.yaml", BUILD)
    workspace.write("review.yaml", REVIEW)
    workspace.write("failing.yaml", FAILING)
    workspace.write("gate.yaml", GATE)
    workspace.write("answers.yaml", "- reply: Very good.\n")
    workspace.write("NOTES.md", "faster\n")
    workspace.write("bundle.md", BUNDLE)
    write_bundle(workspace.path / "framework")
    write_bundle(workspace.path)
    workspace.env["AMPLIHACK_ALLOW_CWD_ASSETS"] = "1"
    workspace.env["AMPLIHACK_MODEL"] = "scripted:answers.yaml"
    entry = "[project.entry-points.'amplifier.modules']\ntool-bash = 'tool:mount'\n"
    workspace.write("tool/pyproject.toml", f"[project]\nname = 'tool'\nversion = '1'\n{entry}")
    workspace.write("tool/tool.py", MOUNT)
    for name, row in commands.COMMANDS.items():
        if row.hands_on:
            workspace.write(f"tools/{name}", "#!/bin/sh\necho $0\n").chmod(0o755)
    return workspace


def parsed(line: str) -> None:
    """Give an example to the parser of its command. Raises UsageError."""
    words = shlex.split(line.partition(" >")[0].partition(" <")[0])
    if "--help" in words:
        words.remove("--help")
    if words[0] == "recipe-runner":
        runner.parser().parse_args(words[1:])
        return
    name = next(name for name in (" ".join(words[1:3]), words[1]) if name in commands.COMMANDS)
    rest = words[1 + len(name.split()) :]
    if commands.COMMANDS[name].hands_on:
        return  # the words are for another program
    if rest or not commands.COMMANDS[name].arguments.isupper():
        help_pages.parser(name).parse_args(rest)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_help_page_has_examples_of_its_own_command(program: str) -> None:
    rows = EXAMPLES[program]
    assert rows
    for line, meaning in rows:
        assert line.startswith(f"{program}")
        assert meaning
        parsed(line)


def test_no_example_is_of_a_command_that_is_gone() -> None:
    assert sorted(EXAMPLES.keys() - {*PROGRAMS}) == []


def test_the_page_ends_with_the_examples_line_by_line() -> None:
    page = help_pages.parser("recipe validate").format_help()
    assert page.endswith(
        "\nexamples:\n  # read two files\n  amplihack recipe validate build.yaml review.yaml\n"
        "  # fail on warnings too, for CI\n  amplihack recipe validate build.yaml --strict\n"
    )


@pytest.mark.parametrize("program", [each for each in PROGRAMS if each not in NEEDS_THE_NETWORK])
def test_every_example_runs(place: Workspace, program: str) -> None:
    environment = on_the_path(place)
    for line, _ in EXAMPLES[program]:
        first = FIRST.get(program, "")
        subprocess.run(
            ["bash", "-c", first], cwd=place.path, env=environment, capture_output=True, check=False
        )
        done = subprocess.run(
            ["bash", "-c", line], cwd=place.path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        assert done.stdout or done.stderr or " >" in line


@pytest.mark.parametrize("group", commands.GROUPS)
def test_a_group_alone_shows_its_page_and_is_no_answer(group: str, workspace: Workspace) -> None:
    alone, asked = workspace.run(group), workspace.run(group, "--help")
    assert (alone.exit_code, asked.exit_code) == (2, 0)
    assert alone.stdout == asked.stdout != ""


@pytest.mark.parametrize("group", commands.GROUPS)
def test_flags_without_a_verb_are_told_the_verbs(group: str, workspace: Workspace) -> None:
    result = workspace.run(group, "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["fix"] == f"write one of: {', '.join(commands.verbs(group))}"
