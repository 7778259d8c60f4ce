"""What a run was started with is there again when it goes on: a recipe from stdin, files of variables."""

from __future__ import annotations

import pytest
from tests.support.workspace import Workspace

PIPED = """\
name: piped
steps:
  - {id: first, command: 'echo first >> done.txt; echo one'}
  - {id: inner, recipe: child.yaml}
  - {id: second, command: 'test -e go && echo "{{first}} {{inner}} two"'}
"""
CHILD = (
    "name: child\nsteps:\n  - {id: below, command: 'echo below >> done.txt; echo in'}\noutput: '{{below}}'\n"
)
READS = """\
name: reads
steps:
  - {id: first, command: 'echo "first $COLOUR"'}
  - {id: second, command: 'test -e go && echo "second $COLOUR"'}
"""


def done(workspace: Workspace) -> list[str]:
    return (workspace.path / "done.txt").read_text().split()


def test_a_run_of_a_recipe_from_stdin_goes_on(workspace: Workspace) -> None:
    workspace.write("child.yaml", CHILD)
    failed = workspace.run("recipe", "run", "-", stdin=PIPED)
    assert (failed.exit_code, "goes on from here" in failed.stderr) == (1, True)
    workspace.write("go", "")
    workspace.write("<stdin>", "a file of that name is another one")
    went_on = workspace.run("runs", "resume", "-q")
    assert (went_on.exit_code, went_on.stdout) == (0, "one in two\n")
    assert done(workspace) == ["first", "below"]


def test_a_recipe_from_stdin_is_compared_through_its_sub_recipes(workspace: Workspace) -> None:
    workspace.write("child.yaml", CHILD)
    workspace.run("recipe", "run", "-", stdin=PIPED)
    workspace.write("child.yaml", CHILD.replace("echo in", "echo new"))
    workspace.write("go", "")
    refused = workspace.run("runs", "resume")
    assert (refused.exit_code, "runs again: inner" in refused.stderr) == (2, True)
    went_on = workspace.run("runs", "resume", "--accept-changes", "-q")
    assert (went_on.exit_code, went_on.stdout) == (0, "one new two\n")


def test_a_run_of_a_recipe_from_stdin_is_forked_shown_and_compared(workspace: Workspace) -> None:
    workspace.write("child.yaml", CHILD)
    workspace.write("go", "")
    workspace.run("recipe", "run", "-", stdin=PIPED)
    forked = workspace.run("runs", "fork", "--from", "second", "-q")
    assert (forked.exit_code, forked.stdout) == (0, "one in two\n")
    assert done(workspace) == ["first", "below"]
    assert workspace.run("runs", "diff").exit_code == 0
    assert workspace.run("runs", "show", "--html", "run.html").exit_code == 0


def test_the_gate_of_a_recipe_from_stdin_is_answered_later(workspace: Workspace) -> None:
    gate = "name: g\nstages: [{name: s, steps: [{id: a, command: echo on}], approval: {when: before}}]\n"
    waiting = workspace.run("recipe", "run", "-", stdin=gate)
    assert (waiting.exit_code, "`amplihack runs approve` answers it then" in waiting.stderr) == (1, True)
    assert workspace.run("runs", "approve").exit_code == 0
    assert workspace.run("runs", "resume", "-q").stdout == "on\n"


def test_a_secret_in_a_recipe_from_stdin_is_not_kept(workspace: Workspace) -> None:
    text = (
        "name: s\nsecrets: [key]\ncontext: {key: swordfish-and-more}\nsteps:\n  - {id: a, command: 'false'}\n"
    )
    assert workspace.run("recipe", "run", "-", stdin=text).exit_code == 1
    refused = workspace.run("runs", "resume", "--set", "key=swordfish-and-more")
    assert (refused.exit_code, "came by stdin and holds a secret" in refused.stderr) == (3, True)


def test_files_of_variables_are_read_again(workspace: Workspace) -> None:
    workspace.write("reads.yaml", READS)
    workspace.write("colours.env", "COLOUR=red\n")
    workspace.run("recipe", "run", "reads.yaml", "--env-file", "colours.env")
    workspace.write("go", "")
    (workspace.path / "elsewhere").mkdir()
    elsewhere = Workspace(workspace.path / "elsewhere", workspace.env)
    went_on = elsewhere.run("runs", "resume", "-q")
    assert (went_on.exit_code, went_on.stdout) == (0, "second red\n")
    forked = workspace.run("runs", "fork", "--from", "second", "-q")
    assert forked.stdout == "second red\n"


@pytest.mark.parametrize("verb", [("resume",), ("fork", "--from", "second")])
def test_a_file_of_variables_that_is_given_counts_more(workspace: Workspace, verb: tuple[str, ...]) -> None:
    workspace.write("reads.yaml", READS)
    workspace.write("colours.env", "COLOUR=red\n")
    workspace.write("others.env", "COLOUR=blue\n")
    workspace.run("recipe", "run", "reads.yaml", "--env-file", "colours.env")
    workspace.write("go", "")
    went_on = workspace.run("runs", *verb, "-q", "--env-file", "others.env")
    assert (went_on.exit_code, went_on.stdout) == (0, "second blue\n")


def test_a_file_of_variables_that_is_gone_is_told(workspace: Workspace) -> None:
    workspace.write("reads.yaml", READS)
    workspace.write("colours.env", "COLOUR=red\n").rename(workspace.path / "moved.env")
    workspace.write("colours.env", "COLOUR=red\n")
    workspace.run("recipe", "run", "reads.yaml", "--env-file", "colours.env")
    (workspace.path / "colours.env").unlink()
    workspace.write("go", "")
    refused = workspace.run("runs", "resume")
    assert (refused.exit_code, "name another one with --env-file" in refused.stderr) == (3, True)
    assert workspace.run("runs", "resume", "-q", "--env-file", "moved.env").stdout == "second red\n"


def test_a_directory_that_is_gone_is_told_for_what_it_is(workspace: Workspace) -> None:
    place = workspace.path / "place"
    place.mkdir()
    workspace.write("reads.yaml", READS)
    workspace.run("recipe", "run", "reads.yaml", "-C", "place")
    place.rmdir()
    refused = workspace.run("runs", "resume")
    assert (refused.exit_code, f"works in is gone: {place}" in refused.stderr) == (3, True)


ASKS = "name: asks\nsteps:\n  - {id: ask, type: agent, prompt: hello}\n  - {id: after, command: test -e go}\n"


@pytest.mark.parametrize("agent", ["scripted:answers.yaml", "command:./bin/agent --quick"])
def test_the_agent_of_a_run_is_found_from_any_directory(workspace: Workspace, agent: str) -> None:
    workspace.write("asks.yaml", ASKS)
    workspace.write("answers.yaml", "- error: no credit\n")
    workspace.write("bin/agent", '#!/bin/sh\ntest -e go && echo "hi"\n').chmod(0o755)
    assert workspace.run("recipe", "run", "asks.yaml", "--agent", agent).exit_code == 1
    workspace.write("go", "")
    workspace.write("answers.yaml", "- reply: hi\n")
    (workspace.path / "elsewhere").mkdir()
    elsewhere = Workspace(workspace.path / "elsewhere", workspace.env)
    went_on = elsewhere.run("runs", "resume", "--json").json
    assert [step["output"] for step in went_on["step_results"]] == ["hi", ""]


# recipes that are gone ------------------------------------------------------------------------------------

CALLER = """\
name: caller
steps:
  - {id: call, recipe: CHILD}
  - {id: last, command: 'echo "{{below}} last"'}
"""
FAILING = """\
name: child
extends: base
steps:
  - {id: first, command: 'echo first >> done.txt; echo one'}
  - {id: below, command: 'test -e go && echo "{{first}} {{basic}}"'}
"""
BASE = "name: base\nsteps:\n  - {id: basic, command: echo basic}\n"


@pytest.mark.parametrize("child", ["child", "child.yaml", "./child.yaml"])
@pytest.mark.parametrize("gone", [["child"], ["base"], ["caller", "child", "base"]])
def test_recipes_that_are_gone_are_gone_on_with_as_they_were(
    workspace: Workspace, child: str, gone: list[str]
) -> None:
    workspace.write("caller.yaml", CALLER.replace("CHILD", child))
    workspace.write("child.yaml", FAILING)
    workspace.write("base.yaml", BASE)
    assert workspace.run("recipe", "run", "caller.yaml").exit_code == 1
    for name in gone:
        (workspace.path / f"{name}.yaml").unlink()
    workspace.write("go", "")
    went_on = workspace.run("runs", "resume", "-q")
    assert (went_on.exit_code, went_on.stdout) == (0, "one basic last\n"), went_on.stderr
    assert went_on.stderr.count("is gone; the run goes on with the recipe as it was") == len(gone)
    forked = workspace.run("runs", "fork", "--from", "call/below", "-q")
    assert (forked.exit_code, forked.stdout) == (0, "one basic last\n"), forked.stderr
    assert done(workspace) == ["first"]


def test_a_recipe_that_takes_the_place_of_one_that_is_gone_is_not_taken_for_it(workspace: Workspace) -> None:
    workspace.write("caller.yaml", CALLER.replace("CHILD", "child"))
    workspace.write("child.yaml", FAILING.replace("extends: base\n", ""))
    workspace.run("recipe", "run", "caller.yaml")
    (workspace.path / "child.yaml").unlink()
    workspace.write(
        ".claude/recipes/child.yaml", "name: child\nsteps:\n  - {id: below, command: echo other}\n"
    )
    workspace.write("go", "")
    assert workspace.run("runs", "resume", "-q").stdout == "one  last\n"
