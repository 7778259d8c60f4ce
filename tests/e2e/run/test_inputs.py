"""A user gives a recipe its inputs, and hears of what is missing or wrong before anything runs."""

from __future__ import annotations

import pytest
from tests.support.workspace import Workspace

RECIPE = """\
name: deploy
secrets: [token]
parameters:
  target: {type: string, required: true, description: where it goes, enum: [dev, prod]}
  count: {type: integer, default: 2}
  token: {env: DEPLOY_TOKEN, default: hush}
  owner: {env: DEPLOY_OWNER, description: who asked}
steps:
  - {id: mark, command: touch ran}
  - {id: go, command: "echo {{target}} {{count}} {{owner}} {{note}}", when_tags: [fast]}
  - {id: call, recipe: child}
"""
CHILD = 'name: child\nsteps:\n  - {id: inner, command: "echo {{from_child}}", when_tags: [slow]}\n'


@pytest.fixture
def place(workspace: Workspace) -> Workspace:
    workspace.write("deploy.yaml", RECIPE)
    workspace.write("child.yaml", CHILD)
    return workspace


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ((), "the input 'target' is required, and nobody gives it"),
        (("--set", "target=moon"), "the input 'target' should be one of dev, prod, not \"moon\""),
        (("--set", "target=dev", "--set", "count=few"), "the input 'count' should be a whole number"),
        (("--set", "target=dev", "--set", "cuont=3"), "did you mean 'count'?"),
        (("--set", "target=dev", "--set-json", "zzz=3"), "does not use the variable 'zzz'"),
        (("--context", '{"target": "dev", "cuont": 3}'), "did you mean 'count'?"),
        (("--context", '{"target": "dev"'), "neither KEY=VALUE nor a JSON map"),
        (("--context", '{"target": "dev", "count": "few"}'), "the input 'count' should be a whole number"),
        (("--set", "target=dev", "--set", "Count=3"), "did you mean 'count'?"),
        (("--set", "target=dev", "--set", "OWNER=me"), "did you mean 'owner'?"),
        (("--set", "target=dev", "--set", "From_Child=me"), "did you mean 'from_child'?"),
        (
            ("--set", "cuont=3", "--set", "tarket=dev"),
            "did you mean 'count' for 'cuont'? did you mean 'target'",
        ),
        (("--set", "target=dev", "--set-json", "b=3", "--set-str", "a=x"), "the variables 'a', 'b'"),
        (("--set", "target=dev", "--include-tags", "fats"), "did you mean 'fast'?"),
        (("--set", "target=dev", "--exclude-tags", "slwo"), "did you mean 'slow'?"),
    ],
)
def test_wrong_inputs_are_told_before_the_first_step(
    place: Workspace, words: tuple[str, ...], what: str
) -> None:
    answer = place.run("recipe", "run", "deploy.yaml", *words)
    assert answer.exit_code == 2
    assert what in answer.stderr
    assert "fix: " in answer.stderr
    assert not (place.path / "ran").exists()


def test_names_and_tags_that_are_used_anywhere_are_known(place: Workspace) -> None:
    words = (
        "--set",
        "target=dev",
        "--set",
        "note=hi",
        "--set",
        "from_child=x",
        "--include-tags",
        "fast,slow",
    )
    answer = place.run("recipe", "run", "deploy.yaml", *words, "--json", env={"DEPLOY_OWNER": "ada"})
    assert answer.exit_code == 0
    assert answer.json["context"]["go"] == "dev 2 ada hi"
    assert answer.json["context"]["inner"] == "x"


def test_a_flag_counts_more_than_the_environment(place: Workspace) -> None:
    words = ("--set", "target=dev", "--set", "owner=eve", "--json")
    answer = place.run("recipe", "run", "deploy.yaml", *words, env={"DEPLOY_OWNER": "ada"})
    assert answer.json["context"]["go"].startswith("dev 2 eve")


@pytest.mark.parametrize(
    "words", [("deploy.yaml", "--help"), ("--help", "deploy.yaml"), ("-h", "deploy.yaml")]
)
@pytest.mark.parametrize("command", ["amplihack", "runner"])
def test_help_lists_the_inputs_of_a_recipe(place: Workspace, command: str, words: tuple[str, ...]) -> None:
    ask = place.runner if command == "runner" else lambda *words: place.run("recipe", "run", *words)
    answer = ask(*words)
    assert answer.exit_code == 0
    assert answer.stdout.endswith(
        """
inputs of deploy, given by --set NAME=VALUE:
  target  where it goes  (string, one of dev, prod, required)
  count   (integer, default: 2)
  token   (from $DEPLOY_TOKEN, default: ***)
  owner   who asked  (from $DEPLOY_OWNER)
"""
    )


def test_the_word_list_is_no_recipe_whose_inputs_are_shown(place: Workspace) -> None:
    answer = place.runner("list", "--help")
    assert (answer.exit_code, answer.stderr) == (0, "")


SUB = "name: sub\nparameters: {n: {type: integer, required: true}}\nsteps: [{id: x, command: 'echo {{n}}'}]\n"


@pytest.mark.parametrize(
    ("value", "what"),
    [("many", "should be a whole number"), ("''", "gives it empty")],
)
def test_a_variable_that_a_called_recipe_cannot_take_is_told_before_the_first_step(
    workspace: Workspace, value: str, what: str
) -> None:
    workspace.write("sub.yaml", SUB)
    call = "{id: call, recipe: sub.yaml, context: {n: '{{k}}'}}"
    workspace.write(
        "main.yaml",
        f"name: main\ncontext: {{k: {value}}}\nsteps:\n  - {{id: a, command: touch ran}}\n  - {call}\n",
    )
    answer = workspace.run("recipe", "run", "main.yaml")
    assert answer.exit_code == 2
    assert what in answer.stderr
    assert not (workspace.path / "ran").exists()
    assert workspace.run("recipe", "check", "main.yaml").exit_code == 0  # somebody may give another one
    assert workspace.run("recipe", "run", "main.yaml", "--set", "k=5").exit_code == 0


@pytest.mark.parametrize(
    "steps",
    [
        "  - {id: k, command: echo 5}\n  - {id: call, recipe: sub.yaml, context: {n: '{{k}}'}}\n",
        "  - {id: call, foreach: [1, 2], as: k, recipe: sub.yaml, context: {n: '{{k}}'}}\n",
    ],
)
def test_a_variable_that_the_run_sets_is_left_to_the_run(workspace: Workspace, steps: str) -> None:
    workspace.write("sub.yaml", SUB)
    workspace.write("main.yaml", f"name: main\ncontext: {{k: many}}\nsteps:\n{steps}")
    assert workspace.run("recipe", "run", "main.yaml").exit_code == 0


def test_a_map_of_variables_may_be_given_at_once(place: Workspace) -> None:
    words = ("--context", '{"target": "dev", "note": "a=b {c}"}', "--set", "count=7")
    answer = place.run("recipe", "run", "deploy.yaml", "--include-tags", "fast", "--json", *words)
    assert answer.exit_code == 0
    assert answer.json["context"]["go"] == "dev 7  a=b {c}"


@pytest.mark.parametrize(
    "text",
    [
        "tok: 's3cr3t-value\nx: [",
        '["s3cr3t-value"]',
        "tok: s3cr3t-value\ntok: s3cr3t-value2\n",
        "s3cr3t-value\n  x: [",
    ],
)
def test_messages_about_a_context_file_quote_no_value(workspace: Workspace, text: str) -> None:
    workspace.write("r.yaml", "name: r\nsecrets: [tok]\ncontext: {tok: x}\nsteps: [{id: a, command: ls}]\n")
    workspace.write("values.yaml", text)
    answer = workspace.run("recipe", "run", "r.yaml", "--context-file", "values.yaml")
    assert answer.exit_code == 2
    assert "values.yaml:" in answer.stderr
    assert "s3cr3t" not in answer.stderr


def test_a_value_without_its_name_is_not_shown_whole(workspace: Workspace) -> None:
    workspace.write("r.yaml", "name: r\ncontext: {tok: x}\nsteps: [{id: a, command: ls}]\n")
    answer = workspace.run("recipe", "run", "r.yaml", "--set", "ghp_0123456789abcdef")
    assert "--set 'ghp_01…' is not of the form KEY=VALUE" in answer.stderr


def test_a_slip_in_a_context_file_is_told_and_a_name_for_other_recipes_is_not(workspace: Workspace) -> None:
    workspace.write("r.yaml", "name: r\ncontext: {mode: a}\nsteps: [{id: s, command: 'echo {{mode}}'}]\n")
    workspace.write("values.yaml", "mod: b\nelsewhere: 1\n")
    answer = workspace.run("recipe", "run", "r.yaml", "--context-file", "values.yaml", "--json")
    assert answer.json["warnings"] == [
        "the recipe does not use the variable 'mod' (fix: did you mean 'mode'?)"
    ]
