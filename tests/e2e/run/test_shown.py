"""A dry run shows the commands as they would be rendered, wherever its flag stands."""

from __future__ import annotations

import pytest
from tests.support.workspace import Workspace

RECIPE = """
name: r
secrets: [key]
context: {who: Ada, key: hunter22, hosts: [a, b]}
steps:
  - {id: first, command: 'echo "Hi {{who}}" {{key}}'}
  - {id: ask, prompt: 'Tell {{who}} about {{first}}'}
  - {id: call, recipe: child, context: {x: '{{who}}'}}
  - {id: each, foreach: '{{hosts}}', command: 'ping {{item}}'}
  - {id: left, command: touch ran, condition: who == 'Eve'}
  - {id: one, parallel_group: g, command: 'touch {{who}}'}
  - {id: two, parallel_group: g, command: 'touch {{nope}}.'}
"""
CHILD = "name: child\nsteps: [{id: inner, command: 'echo {{x}}'}]\n"


def dry(workspace: Workspace, *words: str) -> str:
    workspace.write("r.yaml", RECIPE)
    workspace.write("child.yaml", CHILD)
    answer = workspace.run("recipe", "run", *words)
    assert answer.exit_code == 0, answer.stderr
    assert answer.stderr == ""
    assert not {"ran", "Ada"} & {path.name for path in workspace.path.iterdir()}
    return answer.stdout


@pytest.mark.parametrize(
    "words",
    [
        "--dry-run r.yaml",
        "r.yaml --dry-run",
        "--dry-run=plain r.yaml",
        "--dry-run plain r.yaml",
        "--dry r.yaml",
        "--set who=Ada --dry-run r.yaml",
        "--dry-run --set who=Ada r.yaml",
        "--dry-run -- r.yaml",
        "-q --dry-run r.yaml",
    ],
)
def test_the_flag_may_stand_anywhere(workspace: Workspace, words: str) -> None:
    shown = dry(workspace, *words.split())
    assert '    echo "Hi Ada" ***\n' in shown
    assert "inner" not in shown
    assert "nothing was run" in shown


def test_every_kind_of_step_is_shown(workspace: Workspace) -> None:
    shown = dry(workspace, "--dry-run", "r.yaml")
    for line in (
        "    Tell Ada about {{first}}",
        "    … only the run can tell: first",
        '    child\n    x: "Ada"',
        "  [bash  ] each[1] — would run\n      ping b",
        "left — would be skipped: who == 'Eve'",
        "    touch Ada",
        "    touch ''.\n    … nothing sets, so it renders empty: nope",
    ):
        assert f"{line}\n" in shown


@pytest.mark.parametrize("words", ["--dry-run=deep r.yaml", "--dry-run deep r.yaml", "r.yaml --dry-run deep"])
def test_a_deep_one_follows_sub_recipes(workspace: Workspace, words: str) -> None:
    assert "  [bash  ] inner — would run\n      echo Ada\n" in dry(workspace, *words.split())


def test_json_has_it_too(workspace: Workspace) -> None:
    workspace.write("r.yaml", RECIPE)
    workspace.write("child.yaml", CHILD)
    found = workspace.run("recipe", "run", "--dry-run", "r.yaml", "--json").json
    assert {step["status"] for step in found["step_results"]} == {"skipped"}
    texts = {step["step_id"]: step["text"] for step in found["forecast"]}
    assert texts["first"] == 'echo "Hi Ada" ***'
    assert "inner" not in texts


def test_the_runner_does_the_same(workspace: Workspace) -> None:
    workspace.write("r.yaml", RECIPE)
    workspace.write("child.yaml", CHILD)
    assert '    echo "Hi Ada" ***\n' in workspace.runner("--dry-run", "r.yaml").stdout


@pytest.mark.parametrize("key", ["it's hunter22", 'a$b"c`d\\e hunter22', "hunter22 hunter22"])
def test_secrets_are_masked_whatever_quotes_they_would_get(workspace: Workspace, key: str) -> None:
    workspace.write("key.txt", key)
    workspace.write(
        "r.yaml",
        "name: r\nsecrets: [key]\nparameters: {key: {}}\nsteps:\n"
        "  - {id: a, command: \"x {{key}} '{{key}}' $'{{key}}'\"}\n  - {id: b, command: 'x \"{{key}}\"'}\n"
        '  - {id: c, command: "cat <<E\\n{{key}}\\nE"}\n  - {id: d, prompt: "p {{key}}"}\n'
        "  - {id: e, foreach: ['{{key}}'], command: 'x {{item}}'}\n"
        "  - {id: f, recipe: child, context: {x: ['{{key}}', 'k {{key}}']}}\n",
    )
    workspace.write("child.yaml", CHILD)
    for flag in ("--dry-run", "--dry-run=deep"):
        for words in ((), ("--json",)):
            answer = workspace.run("recipe", "run", flag, "r.yaml", "--set-file", "key=key.txt", *words)
            assert (answer.exit_code, "hunter22" in answer.stdout, "***" in answer.stdout) == (0, False, True)
