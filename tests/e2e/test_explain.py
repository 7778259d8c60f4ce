"""A user asks what a recipe would do."""

from __future__ import annotations

import pytest
from tests.support.golden import Golden
from tests.support.workspace import Workspace

RECIPE = """\
name: ship
version: "2.1"
description: Builds, asks and ships.
author: Ada
tags: [ci, release]
context:
  targets: [linux, macos]
  channel: beta
steps:
  - id: build
    foreach: "{{targets}}"
    as: target
    parallel: 2
    command: make {{target}}
    collect: builds
    timeout: 600
  - id: judge
    prompt: Is {{builds}} ready for {{channel}}?
    parse_json: true
  - id: publish
    condition: judge.verdict == 'go'
    recipe: publish
    continue_on_error: true
"""


def test_the_plan_is_shown_step_by_step(workspace: Workspace, golden: Golden) -> None:
    workspace.write("ship.yaml", RECIPE)
    answer = workspace.run("recipe", "explain", "ship.yaml")
    assert answer.exit_code == 0
    assert answer.stderr == ""
    golden.check("explain", answer.stdout)


def test_the_plan_as_json(workspace: Workspace) -> None:
    workspace.write("ship.yaml", RECIPE)
    plan = workspace.run("recipe", "explain", "ship.yaml", "--json").json
    assert (plan["name"], plan["version"], plan["tags"]) == ("ship", "2.1", ["ci", "release"])
    assert plan["context"] == {"targets": ["linux", "macos"], "channel": "beta"}
    (stage,) = plan["stages"]
    assert [(step["id"], step["type"], step["line"]) for step in stage["steps"]] == [
        ("build", "bash", 10),
        ("judge", "agent", 17),
        ("publish", "recipe", 20),
    ]
    assert stage["steps"][2]["condition"] == "judge.verdict == 'go'"


def test_a_broken_recipe_is_not_explained_but_its_problems_are(workspace: Workspace) -> None:
    workspace.write("broken.yaml", "name: broken\n")
    answer = workspace.run("recipe", "explain", "broken.yaml")
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert "broken.yaml:1:1: " in answer.stderr


def test_a_name_that_nothing_has_is_not_found(workspace: Workspace) -> None:
    assert workspace.run("recipe", "explain", "nothing").exit_code == 3


def test_what_a_recipe_says_cannot_drive_the_terminal(workspace: Workspace) -> None:
    workspace.write(
        "evil.yaml", 'name: "evil\\e]0;owned\\a"\nsteps:\n  - {id: "a\\e[2J", command: ls, "x\\e[1m": 1}\n'
    )
    for verb in ("explain", "validate", "check"):
        answer = workspace.run("recipe", verb, "evil.yaml")
        assert "\x1b" not in answer.stdout + answer.stderr
    assert "evil\\x1b]0;owned\\x07" in workspace.run("recipe", "explain", "evil.yaml").stdout


SECRETIVE = """\
name: secretive
secrets: [token, unset]
context: {token: hunter2hunter2, unset: "", plain: visible}
hooks: {pre_step: "echo hunter2hunter2"}
steps:
  - {id: a, command: "echo {{token}}", condition: "plain != 'hunter2hunter2'", foreach: [hunter2hunter2]}
"""


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_secrets_are_masked(workspace: Workspace, flags: tuple[str, ...]) -> None:
    workspace.write("secretive.yaml", SECRETIVE)
    answer = workspace.run("recipe", "explain", "secretive.yaml", *flags)
    assert answer.exit_code == 0
    assert "hunter2" not in answer.stdout + answer.stderr
    assert "***" in answer.stdout
    assert "visible" in answer.stdout
