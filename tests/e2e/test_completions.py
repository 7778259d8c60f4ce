"""Completions in the real shells: the words that a user gets by pressing a key."""

from __future__ import annotations

import shutil

import pytest
from tests.support.commands import on_the_path
from tests.support.interactive_shell import ALL, ONE, typed
from tests.support.workspace import Workspace

DEPLOY = """\
name: deploy
description: Ship it
inputs:
  target: {description: where to, enum: [dev, prod]}
  loud: {type: boolean}
steps: [{id: a, command: echo hi}]
"""
SHELLS = [
    pytest.param(
        shell,
        marks=pytest.mark.skipif(
            shutil.which(shell) is None, reason=f"{shell} is not installed: `make test-shells` gets it"
        ),
    )
    for shell in ("bash", "zsh", "fish")
]


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def place(workspace: Workspace) -> Workspace:
    workspace.write("deploy.yaml", DEPLOY)
    workspace.write("recipes/other file.yaml", "name: other\nsteps: [{id: a, command: ls}]\n")
    workspace.env = on_the_path(workspace)
    return workspace


def offered(shell: str, line: str, place: Workspace) -> set[str]:
    """What the shell offers for the last word of a line."""
    words = typed(shell, line + ALL, cwd=place.path, env=place.env)
    return set(words) - set(line.split())


def test_commands_and_verbs(shell: str, place: Workspace) -> None:
    from amplihack.cli.commands import COMMANDS, GROUPS

    alone = {name for name in COMMANDS if " " not in name}
    assert offered(shell, "amplihack ", place) == alone | GROUPS.keys()
    assert offered(shell, "amplihack recipe v", place) == {"validate"}


def test_flags_and_their_choices(shell: str, place: Workspace) -> None:
    flags = {"--set", "--set-str", "--set-json", "--set-file"}
    assert offered(shell, "amplihack recipe run deploy --se", place) == flags
    assert offered(shell, "amplihack runs list --status de", place) == {"degraded", "denied"}


def test_names_and_files_of_recipes(shell: str, place: Workspace) -> None:
    assert offered(shell, "amplihack recipe run de", place) == {"deploy", "deploy.yaml"}
    assert offered(shell, "recipe-runner de", place) == {"deploy", "deploy.yaml"}


def test_inputs_of_the_recipe_and_what_they_may_be(shell: str, place: Workspace) -> None:
    assert offered(shell, "amplihack recipe run deploy --set ", place) == {"target=", "loud="}
    values = offered(shell, "amplihack recipe run deploy --set target=", place)
    assert {value.removeprefix("target=") for value in values} == {"dev", "prod"}
    assert offered(shell, "recipe-runner deploy -c loud=t", place) == {"loud=true"}


def test_ids_of_runs(shell: str, place: Workspace) -> None:
    run_id = place.run("recipe", "run", "deploy", "--set", "target=dev", "--json").json["run_id"]
    assert offered(shell, "amplihack runs show ", place) == {"last", run_id}


def test_paths_where_a_path_stands(shell: str, place: Workspace) -> None:
    found = offered(shell, "amplihack recipe list -C rec", place)
    assert {path.rstrip("/") for path in found} == {"recipes"}


@pytest.mark.parametrize("which", [param for param in SHELLS if param.values != ("fish",)])
def test_one_key_completes_what_is_certain(which: str, place: Workspace) -> None:
    line = f"amplihack rec{ONE}val{ONE}dep{ONE}"
    words = typed(which, line, cwd=place.path, env=place.env)
    assert words == ["amplihack", "recipe", "validate", "deploy"]


@pytest.mark.parametrize("which", [param for param in SHELLS if param.values != ("fish",)])
def test_a_name_with_a_space_arrives_as_one_word(which: str, place: Workspace) -> None:
    words = typed(which, f"amplihack recipe check recipes/o{ONE}", cwd=place.path, env=place.env)
    assert words[-1] == "recipes/other file.yaml"


def test_a_broken_recipe_or_a_missing_one_puts_no_error_into_the_line(shell: str, place: Workspace) -> None:
    place.write("broken.yaml", "name: [\n")
    assert offered(shell, "amplihack recipe run broken.yaml --set x", place) <= {"x"}
    assert offered(shell, "amplihack recipe run nowhere --set x", place) <= {"x"}


def test_a_script_is_all_that_is_printed_and_the_home_is_not_touched(place: Workspace) -> None:
    for name in ("bash", "zsh", "fish"):
        done = place.run("completions", name)
        assert (done.exit_code, done.stderr) == (0, "")
        assert "amplihack" in done.stdout
    assert not (place.path / "home" / ".amplihack").exists()


def test_an_unknown_shell_is_wrong_usage(place: Workspace) -> None:
    done = place.run("completions", "tcsh")
    assert done.exit_code == 2
    assert "bash" in done.stderr
