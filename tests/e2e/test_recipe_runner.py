"""Someone who knows other recipe runners uses their flags; and both commands suggest what was meant."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

from tests.support.workspace import Workspace

GOOD = "name: good\nsteps:\n  - {id: greet, command: echo hi}\n"


def test_the_version_names_the_command(workspace: Workspace) -> None:
    answer = workspace.runner("--version")
    assert answer.exit_code == 0
    assert answer.stdout.startswith("recipe-runner ")


def test_validate_only_and_explain_answer_like_the_verbs(workspace: Workspace) -> None:
    workspace.write("good.yaml", GOOD)
    validated = workspace.runner("good.yaml", "--validate-only")
    explained = workspace.runner("good.yaml", "--explain")
    assert validated == workspace.run("recipe", "validate", "good.yaml")
    assert explained == workspace.run("recipe", "explain", "good.yaml")
    assert "greet" in explained.stdout


def test_explain_comes_before_validate_only(workspace: Workspace) -> None:
    workspace.write("good.yaml", GOOD)
    assert workspace.runner("good.yaml", "--validate-only", "--explain").stdout.startswith("Recipe: good")


def test_output_format_json_is_json(workspace: Workspace) -> None:
    workspace.write("good.yaml", GOOD)
    answer = workspace.runner("good.yaml", "--validate-only", "--output-format", "json")
    assert [each["valid"] for each in answer.json] == [True]


def test_another_output_format_is_refused(workspace: Workspace) -> None:
    workspace.write("good.yaml", GOOD)
    answer = workspace.runner("good.yaml", "--validate-only", "--output-format", "xml")
    assert answer.exit_code == 2
    assert answer.stdout == ""
    assert "--output-format: invalid choice: 'xml'" in answer.stderr
    assert "fix: write --output-format text" in answer.stderr


def test_a_directory_counts_before_and_after_list(workspace: Workspace) -> None:
    workspace.write("mine/good.yaml", GOOD)
    before = workspace.runner("-R", "mine", "list")
    after = workspace.runner("list", "-R", "mine")
    assert before.exit_code == 0
    assert before == after
    assert "good" in before.stdout


def test_exit_codes_tell_no_recipe_not_found_and_wrong_apart(workspace: Workspace) -> None:
    workspace.write("wrong.yaml", "name: wrong\n")
    nothing = workspace.runner()
    assert nothing.exit_code == 4
    assert nothing.stderr.startswith("Recipe path is required.\n  fix: ")
    assert workspace.runner("absent", "--validate-only").exit_code == 3
    assert workspace.runner("absent.yaml", "--explain").exit_code == 3
    assert workspace.runner("wrong.yaml", "--validate-only").exit_code == 2


def test_a_misspelt_command_suggests_the_nearest(workspace: Workspace) -> None:
    command = workspace.run("recpie", "list")
    assert (command.exit_code, command.stdout) == (2, "")
    assert command.stderr == "there is no command 'recpie'\n  fix: did you mean 'recipe'?\n"
    verb = workspace.run("recipe", "valdate", "good.yaml")
    assert (verb.exit_code, verb.stdout) == (2, "")
    assert verb.stderr == "amplihack recipe: there is no 'valdate'\n  fix: did you mean 'validate'?\n"


def test_a_command_that_is_like_no_other_gets_the_way_to_the_list(workspace: Workspace) -> None:
    assert "fix: `amplihack --help` lists the commands" in workspace.run("zzz").stderr
    assert "fix: `amplihack recipe --help` shows what there is" in workspace.run("recipe", "zzz").stderr


def test_without_a_command_the_help_is_shown_and_nothing_was_done(workspace: Workspace) -> None:
    bare, asked = workspace.run(), workspace.run("--help")
    assert (bare.exit_code, asked.exit_code) == (2, 0)
    assert bare.stdout == asked.stdout
    assert "recipe" in asked.stdout


def test_colour_is_for_people_who_look_and_did_not_decline(workspace: Workspace) -> None:
    workspace.write("wrong.yaml", "name: wrong\n")
    assert "\x1b[" not in workspace.run("recipe", "validate", "wrong.yaml").stderr
    assert "\x1b[" in _on_a_terminal(workspace, {"TERM": "xterm"})
    assert "\x1b[" not in _on_a_terminal(workspace, {"TERM": "xterm", "NO_COLOR": "1"})
    assert "\x1b[" not in _on_a_terminal(workspace, {"TERM": "dumb"})


def _on_a_terminal(workspace: Workspace, environment: dict[str, str]) -> str:
    """What a person sees of `recipe validate wrong.yaml`."""
    ours, theirs = pty.openpty()
    try:
        subprocess.run(
            [sys.executable, "-m", "amplihack", "recipe", "validate", "wrong.yaml"],
            cwd=workspace.path,
            env={**workspace.env, **environment},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            timeout=60,
            check=False,
        )
        return os.read(ours, 65536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
