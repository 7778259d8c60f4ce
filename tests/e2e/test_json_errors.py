"""With --json, wrong input gives one JSON document, whatever is wrong and whichever command is asked."""

from __future__ import annotations

import pytest
from tests.support.workspace import Workspace

from amplihack.cli.commands import COMMANDS

BROKEN = "name: x\nsteps:\n  - {id: a, command: b\n"
WRONG = "name: x\nsteps:\n  - {id: a, comand: b}\n  - {id: a}\n"
GOOD = "name: good\ncontext: {v: 1}\nsteps: [{id: a, command: 'echo {{v}}'}]\n"


def put(workspace: Workspace) -> None:
    for name, text in {"broken": BROKEN, "wrong": WRONG, "good": GOOD}.items():
        workspace.write(f"{name}.yaml", text)


@pytest.mark.parametrize("name", [name for name, row in COMMANDS.items() if not row.hands_on])
def test_every_command_tells_wrong_usage_as_json(workspace: Workspace, name: str) -> None:
    for words in (("--json", "--bogus"), ("--bogus", "--json")):
        answer = workspace.run(*name.split(), "x", *words)
        assert (answer.exit_code, set(answer.json["error"])) == (2, {"what", "where", "fix"})
        assert "--bogus" in answer.json["error"]["what"]
        assert answer.json["error"]["what"] in answer.stderr


@pytest.mark.parametrize(
    ("words", "code", "what", "where"),
    [
        ("nope", 2, "there is no command 'nope'", None),
        ("recipe nope", 2, "there is no 'nope'", None),
        ("recipe run", 4, "no recipe is given", None),
        ("recipe run nope", 3, "Recipe 'nope' not found", None),
        ("recipe run ./nope.yaml", 3, "Recipe file not found: ./nope.yaml", None),
        ("recipe run broken.yaml", 2, "YAML parse error", "broken.yaml:4:1"),
        ("recipe run wrong.yaml", 2, "Step 'a'", "wrong.yaml:3:13"),
        ("recipe run good.yaml --set nope=1", 2, "does not use the variable 'nope'", None),
        ("recipe run good.yaml --set v", 2, "not of the form KEY=VALUE", None),
        ("recipe run good.yaml --step-timeout -1", 2, "--step-timeout", None),
        ("recipe run good.yaml --agent cat", 2, 'unknown agent "cat"', None),
        ("recipe run good.yaml -C nope", 2, "working directory", None),
        ("recipe explain broken.yaml", 2, "YAML parse error", "broken.yaml:4:1"),
        ("recipe explain nope", 3, "Recipe 'nope' not found", None),
        ("recipe validate nope", 3, "Recipe 'nope' not found", None),
        ("recipe check nope", 3, "Recipe 'nope' not found", None),
        ("recipe check home", 3, "there are no recipes", None),
        ("recipe list -C nope", 2, "working directory", None),
        ("recipe new good", 2, "good.yaml exists", None),
        ("recipe manifest nope", 3, "Recipe directory not found", None),
        ("bundle show ./nope", 3, "there is no bundle at nope", None),
        ("bundle why x", 3, "there is no bundle here", None),
        ("agents ./nope", 3, "there is no bundle at nope", None),
    ],
)
def test_what_is_wrong_is_one_document(
    workspace: Workspace, words: str, code: int, what: str, where: str | None
) -> None:
    put(workspace)
    answer = workspace.run(*words.split(), "--json")
    assert answer.exit_code == code
    error = answer.json["error"]
    assert what in error["what"]
    assert (error["where"], bool(error["fix"])) == (where, True)
    assert answer.json["problems"][0]["message"] == error["what"]


def test_every_problem_of_a_file_is_in_the_document(workspace: Workspace) -> None:
    put(workspace)
    problems = workspace.run("recipe", "run", "wrong.yaml", "--json").json["problems"]
    assert {problem["line"] for problem in problems} == {3, 4}


@pytest.mark.parametrize("words", ["nope", "broken.yaml", "good.yaml --bogus", "", "good.yaml --set nope=1"])
def test_the_runner_does_the_same(workspace: Workspace, words: str) -> None:
    put(workspace)
    plain = workspace.runner(*words.split())
    for form in (("--output-format", "json"), ("--output-format=json",)):
        answer = workspace.runner(*words.split(), *form)
        assert answer.exit_code == plain.exit_code
        assert set(answer.json["error"]) == {"what", "where", "fix"}


def test_reports_stay_what_they_are(workspace: Workspace) -> None:
    put(workspace)
    (broken,) = workspace.run("recipe", "validate", "broken.yaml", "--json").json
    assert (broken["valid"], len(broken["problems"])) == (False, 1)
    both = workspace.run("recipe", "validate", "broken.yaml", "nope", "--json")
    assert (both.exit_code, [each["file"] for each in both.json]) == (3, ["broken.yaml", "nope"])
    assert workspace.run("recipe", "check", "broken.yaml", "--json").json[0]["line"] == 4
