"""A user asks which recipes there are, and which of two would run."""

from __future__ import annotations

from tests.support.golden import Golden
from tests.support.workspace import Workspace


def _recipe(name: str, description: str = "", version: str = "1.0.0") -> str:
    return (
        f'name: {name}\nversion: "{version}"\ndescription: "{description}"\nsteps: [{{id: a, command: ls}}]\n'
    )


def test_an_empty_folder_has_no_recipes(workspace: Workspace) -> None:
    answer = workspace.run("recipe", "list")
    assert (answer.exit_code, answer.stdout, answer.stderr) == (0, "No recipes found.\n", "")


def test_recipes_are_listed_by_name_with_version_and_a_short_description(
    workspace: Workspace, golden: Golden
) -> None:
    workspace.write(".claude/recipes/z.yaml", _recipe("zebra", "Stripes. " * 20))
    workspace.write(".claude/recipes/a.yaml", _recipe("ant", "Small.", "2.10"))
    answer = workspace.run("recipe", "list")
    assert answer.stderr == ""
    golden.check("list", answer.stdout)


def test_the_first_directory_wins_and_all_shows_what_lies_in_its_shadow(workspace: Workspace) -> None:
    workspace.write("mine/build.yaml", _recipe("build", "Mine."))
    workspace.write(".claude/recipes/build.yaml", _recipe("build", "The project's."))
    few = workspace.run("recipe", "list", "-R", "mine").stdout
    every = workspace.run("recipe", "list", "-R", "mine", "--all").stdout
    assert "Mine." in few
    assert "The project's." not in few
    assert few.endswith("\n1 recipe(s) found. 1 shadowed: --all shows them.\n")
    assert "The project's. (shadowed by mine/build.yaml)\n" in every


def test_a_copy_of_a_recipe_is_not_told_as_shadowed(workspace: Workspace) -> None:
    for directory in ("mine", ".claude/recipes"):
        workspace.write(f"{directory}/build.yaml", "name: build\nsteps: [{id: a, command: ls}]\n")
    few = workspace.run("recipe", "list", "-R", "mine").stdout
    assert few.endswith("\n1 recipe(s) found.\n")
    assert "shadowed by mine/build.yaml" in workspace.run("recipe", "list", "-R", "mine", "--all").stdout


def test_the_one_that_is_listed_is_the_one_that_a_name_means(workspace: Workspace) -> None:
    workspace.write("mine/build.yaml", _recipe("build", "Mine."))
    workspace.write(".claude/recipes/build.yaml", _recipe("build", "The project's."))
    assert "Description: Mine." in workspace.run("recipe", "explain", "build", "-R", "mine").stdout


def test_json_has_every_recipe_and_what_shadows_it(workspace: Workspace) -> None:
    mine = workspace.write("mine/build.yaml", _recipe("build", "Mine.")).resolve()
    workspace.write(".claude/recipes/build.yaml", _recipe("build"))
    first, second = workspace.run("recipe", "list", "-R", "mine", "--json").json
    assert set(first) == {
        "name", "path", "description", "version", "step_count", "tags", "sha256", "shadowed_by"
    }  # fmt: skip
    assert (first["path"], first["shadowed_by"], first["step_count"]) == (str(mine), None, 1)
    assert second["shadowed_by"] == str(mine)
    assert len(first["sha256"]) == 16


def test_broken_files_are_told_about_on_stderr_and_the_rest_is_listed(workspace: Workspace) -> None:
    workspace.write(".claude/recipes/good.yaml", _recipe("good"))
    workspace.write(".claude/recipes/bad.yaml", "name: bad\nsteps: [\n")
    answer = workspace.run("recipe", "list")
    assert answer.exit_code == 0
    assert "good" in answer.stdout
    assert "bad" not in answer.stdout
    assert answer.stderr.startswith(".claude/recipes/bad.yaml:")


def test_a_directory_that_is_not_there_is_a_warning(workspace: Workspace) -> None:
    answer = workspace.run("recipe", "list", "-R", "nowhere")
    assert answer.exit_code == 0
    assert f"warning: the recipe directory {workspace.path}/nowhere does not exist" in answer.stderr


def test_directories_come_from_the_environment_too(workspace: Workspace) -> None:
    workspace.write("one/a.yaml", _recipe("ant"))
    workspace.write("two/b.yaml", _recipe("bee"))
    names = [
        info["name"]
        for info in workspace.run(
            "recipe",
            "list",
            "--json",
            env={"RECIPE_RUNNER_RECIPE_DIRS": ":two:", "AMPLIHACK_PACKAGE_RECIPE_DIR": "one"},
        ).json
    ]
    assert names == ["ant", "bee"]
