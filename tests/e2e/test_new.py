"""A user starts a recipe, and what was written runs, checks and explains itself."""

from __future__ import annotations

import json
import re

import pytest
from tests.support.workspace import Workspace


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (("deploy",), "deploy.yaml"),
        (("deploy.yml",), "deploy.yml"),
        (("tools/deploy.yaml",), "tools/deploy.yaml"),
        (("tools/deploy",), "tools/deploy.yaml"),
        (("deploy", "-o", "recipes/"), "recipes/deploy.yaml"),
        (("deploy", "--output", "other.yaml"), "other.yaml"),
        (("null",), "null.yaml"),
        (("2nd-try",), "2nd-try.yaml"),
    ],
)
def test_a_new_recipe_is_clean_and_runs_without_an_agent(
    workspace: Workspace, words: tuple[str, ...], file: str
) -> None:
    made = workspace.run("recipe", "new", *words)
    assert (made.exit_code, made.stdout) == (0, f"{file}\n")
    assert f"amplihack recipe run {file}" in made.stderr
    check = workspace.run("recipe", "check", file, "--all", "--strict")
    assert (check.exit_code, check.stdout) == (0, "")
    ran = workspace.run("recipe", "run", file, "-q", "--set", "who=Ada", env={"PATH": "/usr/bin:/bin"})
    assert (ran.exit_code, ran.stdout.startswith("Hello, Ada!"), ran.stderr) == (0, True, "")


def test_the_editor_finds_the_schema_that_the_first_line_names(workspace: Workspace) -> None:
    workspace.run("recipe", "new", "a/b/deploy")
    file = workspace.path / "a/b/deploy.yaml"
    first = file.read_text().splitlines()[0]
    found = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
    assert found is not None
    schema = file.parent / found.group(1)
    assert json.loads(schema.read_text()) == workspace.run("recipe", "schema").json
    assert schema.resolve() == workspace.path / ".amplihack/recipe.schema.json"
    assert "strict_shell: true" in file.read_text()


def test_nothing_is_overwritten_unless_asked(workspace: Workspace) -> None:
    workspace.write("deploy.yaml", "mine")
    workspace.write("other.yml", "mine")
    refused = workspace.run("recipe", "new", "deploy")
    assert (refused.exit_code, refused.stderr.splitlines()[0]) == (2, "deploy.yaml exists")
    hiding = workspace.run("recipe", "new", "other")
    assert (hiding.exit_code, "other.yml exists, and other.yaml would hide it" in hiding.stderr) == (2, True)
    assert (workspace.path / "deploy.yaml").read_text() == "mine"
    assert workspace.run("recipe", "new", "deploy", "--force").exit_code == 0
    assert "name: deploy" in (workspace.path / "deploy.yaml").read_text()


@pytest.mark.parametrize("name", ["", ".", "..", "a b", ".hidden", "a/", "naïve", "-", "x.txt.yaml"])
def test_a_name_that_no_recipe_can_have_is_refused(workspace: Workspace, name: str) -> None:
    answer = workspace.run("recipe", "new", "--", name)
    assert (answer.exit_code, "cannot be the name of a recipe" in answer.stderr) == (2, True)
    assert [path.name for path in workspace.path.iterdir()] == ["home"]


def test_json_and_a_name_that_hides_another(workspace: Workspace) -> None:
    workspace.write(".claude/recipes/deploy.yaml", "name: deploy\nsteps: [{id: a, command: ls}]\n")
    assert ".claude/recipes/deploy.yaml" in workspace.run("recipe", "new", "deploy").stderr
    made = workspace.run("recipe", "new", "other", "--json").json
    assert made == {"name": "other", "file": "other.yaml", "schema": ".amplihack/recipe.schema.json"}


@pytest.mark.parametrize(
    ("name", "meant"), [("my recipe", "my-recipe"), ("Übung.yaml", "Ubung"), ("表", "release-notes")]
)
def test_a_name_that_is_refused_is_answered_with_one_that_is_not(
    workspace: Workspace, name: str, meant: str
) -> None:
    assert f"`amplihack recipe new {meant}`" in workspace.run("recipe", "new", name).stderr
