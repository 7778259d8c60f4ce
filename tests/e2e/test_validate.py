"""A user writes a recipe, makes mistakes, and is told about all of them."""

from __future__ import annotations

import pytest
from tests.support.golden import Golden
from tests.support.workspace import Workspace

GOOD = "name: good\nsteps:\n  - {id: a, command: echo hi}\n"
WARNED = "name: warned\nsteps:\n  - {id: a, command: echo hi, tmeout: 5}\n"
MANY = """\
name: build
descrption: Builds the project.
steps:
  - id: fetch
    comand: git fetch
  - id: test
    command: make test
    timeout: soon
  - id: fetch
    command: git pull
    condition: "branch == = 'main'"
  - id: ship
    retry: {max_atempts: 3}
    command: make ship
"""


def test_a_good_recipe_is_valid_and_says_which_dialect_it_was_read_in_and_why(workspace: Workspace) -> None:
    workspace.write("good.yaml", GOOD)
    answer = workspace.run("recipe", "validate", "good.yaml")
    assert answer.exit_code == 0
    assert answer.stdout == (
        "✓ Recipe 'good' is valid (1 steps)\n  dialect: amplihack (nothing in it says otherwise)\n"
    )
    assert answer.stderr == ""


def test_a_stated_dialect_is_the_reason(workspace: Workspace) -> None:
    workspace.write("good.yaml", f"dialect: amplifier\n{GOOD}")
    answer = workspace.run("recipe", "validate", "good.yaml")
    assert "  dialect: amplifier (stated in the file)\n" in answer.stdout


def test_a_repeated_step_id_points_at_the_second_one(workspace: Workspace) -> None:
    workspace.write(
        "build.yaml", "name: build\nsteps:\n  - {id: a, command: ls}\n  - {id: a, command: pwd}\n"
    )
    answer = workspace.run("recipe", "validate", "build.yaml")
    assert answer.exit_code == 2
    assert answer.stdout == ""
    first, line, caret, fix = answer.stderr.splitlines()
    assert first.startswith('build.yaml:4:10: two steps are called "a"; the first is on line 3')
    assert line == "  4 |   - {id: a, command: pwd}"
    assert caret == "    |" + " " * 10 + "^"
    assert line[caret.index("^")] == "a"
    assert fix == "  fix: give each step an id of its own"


def test_a_misspelt_field_is_a_warning_that_suggests_the_nearest_name(workspace: Workspace) -> None:
    workspace.write("warned.yaml", WARNED)
    answer = workspace.run("recipe", "validate", "warned.yaml")
    assert answer.exit_code == 0
    assert answer.stderr == ""
    assert answer.stdout.startswith("⚠ Recipe 'warned' has 1 warning(s):\n  - warned.yaml:3:31: Step 'a': ")
    assert "unrecognized field 'tmeout' (possible typo); did you mean 'timeout'?" in answer.stdout


def test_strict_makes_a_warning_fail(workspace: Workspace) -> None:
    workspace.write("warned.yaml", WARNED)
    workspace.write("good.yaml", GOOD)
    assert workspace.run("recipe", "validate", "warned.yaml", "--strict").exit_code == 2
    assert workspace.run("recipe", "validate", "good.yaml", "--strict").exit_code == 0


def test_all_problems_of_a_file_come_in_one_report(workspace: Workspace, golden: Golden) -> None:
    workspace.write("build.yaml", MANY)
    answer = workspace.run("recipe", "validate", "build.yaml")
    assert answer.exit_code == 2
    assert answer.stdout == ""
    golden.check("validate-many-problems", answer.stderr)


def test_several_files_are_each_told_about(workspace: Workspace, golden: Golden) -> None:
    workspace.write("good.yaml", GOOD)
    workspace.write("warned.yaml", WARNED)
    workspace.write("broken.yaml", "name: broken\n")
    answer = workspace.run("recipe", "validate", "good.yaml", "broken.yaml", "warned.yaml", "absent.yaml")
    assert answer.exit_code == 3
    golden.check("validate-several-stdout", answer.stdout)
    golden.check("validate-several-stderr", answer.stderr)


def test_the_worst_of_several_files_decides_the_exit_code(workspace: Workspace) -> None:
    workspace.write("good.yaml", GOOD)
    workspace.write("broken.yaml", "name: broken\n")
    assert workspace.run("recipe", "validate", "good.yaml", "broken.yaml").exit_code == 2
    assert workspace.run("recipe", "validate", "good.yaml", "absent.yaml").exit_code == 3


def test_json_is_one_entry_for_each_file(workspace: Workspace) -> None:
    workspace.write("warned.yaml", WARNED)
    workspace.write("broken.yaml", "name: broken\n")
    answer = workspace.run("recipe", "validate", "--json", "warned.yaml", "broken.yaml")
    assert answer.exit_code == 2
    assert answer.stderr == ""
    warned, broken = answer.json
    assert warned == {
        "file": "warned.yaml",
        "valid": True,
        "name": "warned",
        "steps": 1,
        "dialect": "amplihack",
        "dialect_reason": "nothing in it says otherwise",
        "problems": [
            {
                "code": "unknown-field",
                "severity": "warning",
                "message": "Step 'a': unrecognized field 'tmeout' (possible typo)",
                "file": "warned.yaml",
                "line": 3,
                "column": 31,
                "fix": "did you mean 'timeout'?",
            }
        ],
    }
    assert (broken["file"], broken["valid"], broken["name"]) == ("broken.yaml", False, None)
    assert broken["problems"][0]["severity"] == "error"


def test_a_name_finds_the_file_that_a_path_would_name(workspace: Workspace) -> None:
    workspace.write(".claude/recipes/build.yaml", GOOD.replace("good", "build"))
    by_name = workspace.run("recipe", "validate", "build")
    by_path = workspace.run("recipe", "validate", ".claude/recipes/build.yaml")
    assert by_name.exit_code == by_path.exit_code == 0
    assert by_name.stdout == by_path.stdout


def test_a_recipe_is_found_by_the_name_it_gives_itself_too(workspace: Workspace) -> None:
    workspace.write(".claude/recipes/file-name.yaml", GOOD.replace("good", "own-name"))
    assert workspace.run("recipe", "validate", "own-name").exit_code == 0


def test_a_file_here_beats_a_recipe_of_the_same_name(workspace: Workspace) -> None:
    workspace.write("build", GOOD.replace("good", "from-the-file"))
    workspace.write(".claude/recipes/build.yaml", GOOD)
    assert "from-the-file" in workspace.run("recipe", "validate", "build").stdout


def test_a_misspelt_name_is_not_found_and_the_nearest_is_suggested(workspace: Workspace) -> None:
    workspace.write(".claude/recipes/release.yaml", GOOD.replace("good", "release"))
    answer = workspace.run("recipe", "validate", "relaese")
    assert answer.exit_code == 3
    assert answer.stderr == "Recipe 'relaese' not found.\n  fix: did you mean 'release'?\n"


def test_extends_brings_the_parents_steps(workspace: Workspace) -> None:
    workspace.write("base.yaml", "name: base\nsteps:\n  - {id: one, command: ls}\n")
    workspace.write("child.yaml", "name: child\nextends: base\nsteps:\n  - {id: two, command: ls}\n")
    answer = workspace.run("recipe", "validate", "child.yaml", "-R", ".")
    assert answer.stdout.startswith("✓ Recipe 'child' is valid (2 steps)")


def test_a_circle_of_extends_is_refused_at_the_line_that_closes_it(workspace: Workspace) -> None:
    workspace.write("a.yaml", "name: a\nextends: b\nsteps: [{id: one, command: ls}]\n")
    workspace.write("b.yaml", "name: b\nextends: a\nsteps: [{id: two, command: ls}]\n")
    answer = workspace.run("recipe", "validate", "a.yaml", "-R", ".")
    assert answer.exit_code == 2
    assert "Extends error: Circular extends detected" in answer.stderr
    assert "  2 | extends: " in answer.stderr


def test_a_missing_parent_is_told_with_its_line(workspace: Workspace) -> None:
    workspace.write("a.yaml", "name: a\nextends: nobody\nsteps: [{id: one, command: ls}]\n")
    answer = workspace.run("recipe", "validate", "a.yaml")
    assert answer.exit_code == 2
    assert answer.stderr.startswith("a.yaml:2:10: Extends error: Parent recipe 'nobody' not found")
    assert "  fix: check the name after `extends:`" in answer.stderr


@pytest.mark.parametrize("verb", ["run", "validate", "check", "explain"])
def test_no_recipe_at_all_is_nothing_to_work_with(workspace: Workspace, verb: str) -> None:
    answer = workspace.run("recipe", verb)
    assert answer.exit_code == 4
    assert answer.stderr == (
        f"amplihack recipe {verb}: no recipe is given\n"
        f"  fix: `amplihack recipe {verb} build.yaml`;"
        " `amplihack recipe list` shows the recipes that have a name\n"
    )


def test_another_directory_can_be_worked_in(workspace: Workspace) -> None:
    workspace.write("project/.claude/recipes/build.yaml", GOOD)
    assert workspace.run("recipe", "validate", "build", "-C", "project").exit_code == 0
    missing = workspace.run("recipe", "validate", "build", "-C", "elsewhere")
    assert missing.exit_code == 2
    assert "the working directory does not exist: " in missing.stderr


def test_a_recipe_by_name_is_told_about_as_fully_as_by_path(workspace: Workspace) -> None:
    workspace.write(".claude/recipes/build.yaml", MANY)
    by_name = workspace.run("recipe", "validate", "build")
    by_path = workspace.run("recipe", "validate", ".claude/recipes/build.yaml")
    assert by_name == by_path
    assert "warning: " in by_name.stderr
