"""A user's file is read in the dialect that it states; where that is told by other signs, it is said."""

from __future__ import annotations

import pytest
from tests.support.workspace import Workspace

MARKED = """\
name: marked
steps:
  - {id: python, command: '"$AMPLIFIER_PYTHON" --version'}
  - {id: call, recipe: child.yaml}
"""
CHILD = "name: child\nsteps:\n  - {id: say, command: echo hi}\n"


@pytest.mark.parametrize("verb", ["run", "check", "explain"])
def test_a_told_dialect_is_said_in_one_line_with_its_reason(workspace: Workspace, verb: str) -> None:
    workspace.write("marked.yaml", MARKED)
    workspace.write("child.yaml", CHILD)
    answer = workspace.run("recipe", verb, "marked.yaml")
    assert answer.exit_code == 0
    (line,) = [line for line in answer.stderr.splitlines() if "dialect" in line]
    assert line == (
        "marked.yaml: read as `dialect: amplifier`, because it has `$AMPLIFIER_PYTHON`: "
        "sub-recipes see only their `context:`. State `dialect:` to settle it"
    )


@pytest.mark.parametrize("verb", ["run", "check", "explain"])
def test_a_stated_dialect_is_not_repeated(workspace: Workspace, verb: str) -> None:
    workspace.write("marked.yaml", f"dialect: amplihack\n{MARKED}")
    workspace.write("child.yaml", CHILD)
    assert "dialect" not in workspace.run("recipe", verb, "marked.yaml").stderr


def test_fields_added_to_one_step_change_no_other(workspace: Workspace) -> None:
    plain = """\
name: main
context: {flag: "false", inherited: yes}
steps:
  - {id: first, command: echo%s}
  - {id: call, recipe: child.yaml}
  - {id: judged, command: echo ran, condition: flag}
"""
    workspace.write("child.yaml", 'name: child\nsteps:\n  - {id: seen, command: "echo {{inherited}}"}\n')
    for added in ("", ", env: {A: b}, output_exit_code: c, retry: {max_attempts: 2}", ", foreach: [1, 2]"):
        workspace.write("main.yaml", plain % added)
        context = workspace.run("recipe", "run", "main.yaml", "--json").json["context"]
        assert (context["seen"], context["judged"]) == ("yes", "ran")


def test_a_recipe_of_a_bundle_calls_another_by_the_name_of_the_bundle(workspace: Workspace) -> None:
    workspace.write("graphs/bundle.md", "---\nbundle: {name: graphs}\n---\n")
    workspace.write("graphs/recipes/one.yaml", 'name: one\nsteps: [{id: said, command: "echo {{topic}}"}]\n')
    call = "{id: call, recipe: '@%s:recipes/one.yaml', context: {topic: trees}}"
    workspace.write("graphs/recipes/quick/all.yaml", f"name: all\nsteps: [{call % 'graphs'}]\n")
    result = workspace.run("recipe", "run", "graphs/recipes/quick/all.yaml", "--json")
    assert result.json["context"]["call"] == {"said": "trees"}
    workspace.write("other.yaml", f"name: other\nsteps: [{{id: a, command: ls}}, {call % 'charts'}]\n")
    refused = workspace.run("recipe", "run", "other.yaml")
    assert refused.exit_code == 2
    assert "there is no recipe '@charts:recipes/one.yaml'" in refused.stderr
    assert "-R <charts>/recipes" in refused.stderr


def test_the_dialect_of_a_recipe_that_is_called_is_told_as_well(workspace: Workspace) -> None:
    workspace.write(
        "main.yaml", "name: main\nsteps:\n  - {id: first, foreach: [1, 2], recipe: marked.yaml}\n"
    )
    workspace.write("marked.yaml", MARKED)
    workspace.write("child.yaml", CHILD)
    answer = workspace.run("recipe", "run", "main.yaml", "--json")
    assert answer.exit_code == 0
    (told,) = [each for each in answer.json["warnings"] if "dialect" in each]
    assert told.startswith("marked.yaml: read as `dialect: amplifier`, because it has `$AMPLIFIER_PYTHON`")
    quiet = workspace.run("recipe", "run", "main.yaml", "-q")
    assert quiet.stderr.count("read as `dialect: amplifier`") == 1
