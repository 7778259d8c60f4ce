"""Where a recipe and its variables come from: here and above by name, stdin, env files."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.workspace import Workspace


def recipe(says: str, name: str = "") -> str:
    return f"name: {name or says}\nsteps: [{{id: a, command: echo {says}}}]\n"


def below(workspace: Workspace, name: str) -> Workspace:
    (workspace.path / name).mkdir(parents=True, exist_ok=True)
    made = replace(workspace, path=workspace.path / name, env=dict(workspace.env))
    made.env["HOME"] = workspace.env["HOME"]
    return made


# by name


def test_a_recipe_here_or_above_is_found_by_name_and_the_nearest_wins(workspace: Workspace) -> None:
    inner = below(workspace, "a/b")
    workspace.write("deploy.yaml", recipe("top"))
    workspace.write("recipes/release.yml", recipe("released", "release-it"))
    assert inner.run("recipe", "run", "deploy", "-q").stdout == "top\n"
    assert inner.run("recipe", "run", "release", "-q").stdout == "released\n"
    assert inner.run("recipe", "run", "release-it", "-q").stdout == "released\n"
    workspace.write("a/recipes/deploy.yaml", recipe("middle"))
    assert inner.run("recipe", "run", "deploy", "-q").stdout == "middle\n"
    workspace.write("a/b/deploy.yaml", recipe("near"))
    assert inner.run("recipe", "run", "deploy", "-q").stdout == "near\n"
    for flags, env, says in (
        (("-R", "../../mine"), {}, "flag"),
        ((), {"RECIPE_RUNNER_RECIPE_DIRS": str(workspace.path / "mine")}, "flag"),
    ):
        workspace.write("mine/deploy.yaml", recipe("flag"))
        assert inner.run("recipe", "run", "deploy", "-q", *flags, env=env).stdout == f"{says}\n"


def test_the_search_ends_at_the_root_of_the_project(workspace: Workspace) -> None:
    inner = below(workspace, "project/sub")
    (workspace.path / "project/.git").mkdir()
    workspace.write("deploy.yaml", recipe("outside"))
    workspace.write("project/amplifier-bundle/recipes/shared.yaml", recipe("shared"))
    answer = inner.run("recipe", "run", "deploy")
    assert answer.exit_code == 3
    assert f"  - {workspace.path / 'project'}\n" in answer.stderr
    assert f"  - {workspace.path}\n" not in answer.stderr
    assert inner.run("recipe", "run", "shared", "-q").stdout == "shared\n"


def test_a_directory_in_which_others_can_write_is_not_searched(workspace: Workspace) -> None:
    inner = below(workspace, "open/mine")
    workspace.write("open/deploy.yaml", recipe("planted"))
    assert inner.run("recipe", "run", "deploy", "-q").stdout == "planted\n"
    (workspace.path / "open").chmod(0o777)
    assert inner.run("recipe", "run", "deploy").exit_code == 3


def test_files_of_other_kinds_are_no_recipes(workspace: Workspace) -> None:
    workspace.write("deploy.yaml", "apiVersion: v1\nkind: Deployment\nspec: {}\n")
    workspace.write("pipeline.yaml", "pool: x\nsteps:\n  - script: ls\n")
    workspace.write(".claude/recipes/deploy.yaml", recipe("real", "deploy"))
    workspace.write("json.yaml", '{"name": "json", "steps": [{"id": "a", "command": "echo j"}]}')
    assert workspace.run("recipe", "run", "deploy", "-q").stdout == "real\n"
    assert workspace.run("recipe", "run", "json", "-q").stdout == "j\n"
    listed = workspace.run("recipe", "list", "--json")
    assert ([each["name"] for each in listed.json], listed.stderr) == (["deploy", "json"], "")
    (workspace.path / ".claude/recipes/deploy.yaml").unlink()
    assert "deploy.yaml is no recipe: it has no `steps:`" in workspace.run("recipe", "run", "deploy").stderr


def test_the_list_shows_what_is_here_and_what_it_hides(workspace: Workspace) -> None:
    workspace.write("deploy.yaml", recipe("here", "deploy"))
    workspace.write(".claude/recipes/deploy.yaml", recipe("there", "deploy"))
    found = {each["path"]: each["shadowed_by"] for each in workspace.run("recipe", "list", "--json").json}
    here, there = (str(workspace.path / name) for name in ("deploy.yaml", ".claude/recipes/deploy.yaml"))
    assert found == {here: None, there: here}


def test_a_directory_or_a_script_of_the_same_name_is_no_recipe(workspace: Workspace) -> None:
    workspace.write("deploy.yaml", recipe("deployed"))
    workspace.write("deploy/readme.txt", "")
    workspace.write("build.yaml", recipe("built"))
    workspace.write("build", "#!/bin/sh\n")
    workspace.write("plain", recipe("plainly"))
    for name, says in {"deploy": "deployed", "build": "built", "plain": "plainly"}.items():
        assert workspace.run("recipe", "run", name, "-q").stdout == f"{says}\n"
    (workspace.path / "deploy.yaml").unlink()
    assert "deploy is a directory" in workspace.run("recipe", "run", "deploy").stderr


def test_a_path_that_leads_nowhere_gets_a_suggestion(workspace: Workspace) -> None:
    inner = below(workspace, "sub")
    workspace.write("deploy.yaml", recipe("x"))
    assert "did you mean 'deploy.yaml'?" in workspace.run("recipe", "run", "depoly.yaml").stderr
    assert "the name alone, deploy, finds" in inner.run("recipe", "run", "deploy.yaml").stderr


# stdin


def test_a_recipe_is_read_from_stdin(workspace: Workspace) -> None:
    workspace.write("child.yaml", recipe("below"))
    text = "name: piped\nsteps:\n  - {id: a, recipe: child.yaml}\n  - {id: b, command: pwd}\n"
    assert workspace.run("recipe", "run", "-", "-q", stdin=text).stdout == f"{workspace.path}\n"
    assert "'piped' is valid (2 steps)" in workspace.run("recipe", "validate", "-", stdin=text).stdout
    assert workspace.run("recipe", "check", "-", "--strict", stdin=text).exit_code == 0
    assert "piped" in workspace.run("recipe", "explain", "-", stdin=text).stdout
    assert workspace.run("recipe", "validate", "-", "-", stdin=text).exit_code == 0


@pytest.mark.parametrize("verb", ["run", "check", "validate", "explain"])
def test_what_is_wrong_on_stdin_has_a_place(workspace: Workspace, verb: str) -> None:
    wrong = workspace.run("recipe", verb, "-", stdin="name: x\nsteps:\n  - {id: a}\n")
    assert (wrong.exit_code, "<stdin>:3:5" in wrong.stdout + wrong.stderr) == (2, True)
    nothing = workspace.run("recipe", verb, "-")
    assert (nothing.exit_code, "nothing came on stdin" in nothing.stdout + nothing.stderr) == (2, True)


def test_gates_of_such_a_recipe_say_at_once_that_nobody_can_answer(workspace: Workspace) -> None:
    text = (
        "name: g\nstages: [{name: s, steps: [{id: a, command: ls}], approval: {prompt: ok, when: before}}]\n"
    )
    answer = workspace.run("recipe", "run", "-", stdin=text)
    assert (answer.exit_code, answer.stderr.startswith("warning: the recipe comes from stdin")) == (1, True)
    assert "stdin" not in workspace.run("recipe", "run", "-", "--yes", stdin=text).stderr


# env files

ENV = """
name: r
secrets: [key]
parameters: {port: {env: PORT, type: integer, default: 1}, key: {env: MY_KEY}}
steps:
  - {id: a, command: 'echo "{{port}} $PLAIN {{key}}"'}
"""


def test_an_env_file_gives_variables_to_steps_and_inputs(workspace: Workspace) -> None:
    workspace.write("r.yaml", ENV)
    workspace.write(".env", "PORT=8080\nexport PLAIN='a b'\nMY_KEY=hunter22\n")
    workspace.write("more.env", "PORT=9090\n")
    run = ("recipe", "run", "r.yaml", "-q", "--env-file", ".env")
    assert workspace.run(*run).stdout == "8080 a b ***\n"
    assert workspace.run(*run, "--env-file", "more.env").stdout == "9090 a b ***\n"
    assert workspace.run(*run, "--set", "port=7").stdout == "7 a b ***\n"
    given = workspace.run(*run, env={"PORT": "6", "PLAIN": "a b"})
    assert given.stdout == "6 a b ***\n"
    assert "the environment has another value for PORT, which counts" in given.stderr
    assert "PLAIN" not in given.stderr
    assert workspace.runner("r.yaml", "-q", "--env-file", ".env").stdout == "8080 a b ***\n"


def test_a_wrong_env_file_is_told_before_anything_runs(workspace: Workspace) -> None:
    workspace.write("r.yaml", recipe("x"))
    workspace.write("bad.env", "A=1\npassword hunter22\n")
    answer = workspace.run("recipe", "run", "r.yaml", "--env-file", "bad.env")
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr.startswith("bad.env:2:1: this line sets no variable")
    assert "hunter22" not in answer.stderr
    assert workspace.run("recipe", "run", "r.yaml", "--env-file", "nope").exit_code == 3
