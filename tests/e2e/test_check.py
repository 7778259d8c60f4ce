"""A user asks whether the data flows through a recipe as intended, at the desk and in CI."""

from __future__ import annotations

import json
import os
from typing import Any

from tests.support.golden import Golden
from tests.support.workspace import Answer, Workspace

CLEAN = "name: clean\nsteps:\n  - {id: a, command: echo hi}\n  - {id: b, command: 'echo {{a}}'}\n"
EARLY = """\
name: early
steps:
  - id: report
    command: echo "{{total}}"
  - id: count
    command: ls | wc -l
    output: total
"""
BROKEN = "name: broken\nsteps:\n  - {id: a, command: ls}\n  - {id: a, command: ls}\n"
KEYS = {"code", "severity", "message", "file", "line", "column", "fix"}


def test_a_clean_recipe_has_nothing_on_stdout_and_says_so_on_stderr(workspace: Workspace) -> None:
    workspace.write("clean.yaml", CLEAN)
    assert workspace.run("recipe", "check", "clean.yaml") == Answer(0, "", "✓ nothing found\n")


def test_a_finding_shows_what_where_and_how_to_fix(workspace: Workspace, golden: Golden) -> None:
    workspace.write("early.yaml", EARLY)
    answer = workspace.run("recipe", "check", "early.yaml")
    golden.check("check-used-before-set", answer.stdout)
    assert "[used-before-set]" in answer.stdout


def test_a_file_that_is_no_yaml_has_a_code_for_other_programs(workspace: Workspace) -> None:
    workspace.write("cut.yaml", "name: [x\n")
    (found,) = json.loads(workspace.run("recipe", "check", "cut.yaml", "--json").stdout)
    assert (found["code"], found["severity"]) == ("unreadable", "error")


def test_json_is_a_list_of_findings(workspace: Workspace) -> None:
    workspace.write("early.yaml", EARLY)
    answer = workspace.run("recipe", "check", "early.yaml", "--json")
    assert answer.stderr == ""
    assert all(set(finding) == KEYS for finding in answer.json)
    finding = next(each for each in answer.json if each["code"] == "used-before-set")
    assert (finding["file"], finding["line"]) == ("early.yaml", 4)
    assert finding["severity"] in ("error", "warning")


def test_json_of_a_clean_recipe_is_an_empty_list(workspace: Workspace) -> None:
    workspace.write("clean.yaml", CLEAN)
    assert workspace.run("recipe", "check", "clean.yaml", "--json").json == []


def test_errors_fail_and_warnings_fail_only_when_strict(workspace: Workspace) -> None:
    workspace.write("broken.yaml", BROKEN)
    workspace.write("warned.yaml", CLEAN + "    # nothing\nnotes: mine\n")
    assert workspace.run("recipe", "check", "broken.yaml").exit_code == 2
    assert workspace.run("recipe", "check", "warned.yaml").exit_code == 0
    assert workspace.run("recipe", "check", "warned.yaml", "--strict").exit_code == 2


def test_notes_are_told_only_on_request_and_never_fail(workspace: Workspace) -> None:
    workspace.write("recipe.yaml", "name: r\nsteps:\n  - {id: a, command: 'echo {{repo_path}}'}\n")
    assert workspace.run("recipe", "check", "recipe.yaml").stdout == ""
    told = workspace.run("recipe", "check", "recipe.yaml", "--all", "--strict")
    assert told.exit_code == 0
    assert ": note: " in told.stdout
    assert told.stderr == f"{told.stdout.count(': note: ')} note" + (
        "s\n" if told.stdout.count(": note: ") > 1 else "\n"
    )


def test_a_directory_means_every_recipe_in_it(workspace: Workspace) -> None:
    workspace.write("shelf/clean.yaml", CLEAN)
    workspace.write("shelf/broken.yaml", BROKEN)
    workspace.write("shelf/readme.md", "# not a recipe")
    answer = workspace.run("recipe", "check", "shelf", "--json")
    assert answer.exit_code == 2
    assert {finding["file"] for finding in answer.json} == {"shelf/broken.yaml"}


def test_other_files_of_a_directory_are_passed_over_and_told(workspace: Workspace) -> None:
    workspace.write("shelf/clean.yaml", CLEAN)
    workspace.write("shelf/answers.yaml", "- {match: hello, reply: hi}\n")
    workspace.write("shelf/more.yaml", "answers:\n  - reply: hi\n")
    answer = workspace.run("recipe", "check", "shelf")
    assert (answer.exit_code, answer.stdout) == (0, "")
    said = "passed over, as it has none of the fields name, steps, stages, extends"
    assert answer.stderr == f"shelf/answers.yaml: {said}\nshelf/more.yaml: {said}\n✓ nothing found\n"
    assert workspace.run("recipe", "check", "shelf/answers.yaml").exit_code == 2


def test_a_neighbour_that_calls_a_recipe_may_set_its_names(workspace: Workspace) -> None:
    workspace.write("part.yaml", "name: part\nsteps:\n  - {id: a, command: 'echo {{goal}}'}\n")
    alone = workspace.run("recipe", "check", "part.yaml")
    assert "warning: nothing here sets goal" in alone.stdout
    workspace.write("whole.yaml", "name: whole\ncontext: {goal: x}\nsteps:\n  - {id: w, recipe: part}\n")
    assert workspace.run("recipe", "check", "part.yaml").stdout == ""
    told = workspace.run("recipe", "check", "part.yaml", "--all").stdout
    assert "note: nothing here sets goal; whole, which calls this recipe, does [set-by-caller]" in told


def test_a_directory_without_recipes_is_not_silently_fine(workspace: Workspace) -> None:
    workspace.write("shelf/readme.md", "# not a recipe")
    answer = workspace.run("recipe", "check", "shelf")
    assert (answer.exit_code, answer.stdout) == (3, "")
    assert answer.stderr.startswith(f"there are no recipes in {workspace.path}/shelf\n  fix: ")


def test_what_is_not_there_is_not_found(workspace: Workspace) -> None:
    answer = workspace.run("recipe", "check", "absent.yaml")
    assert answer.exit_code == 3
    fix = f"check the path: there is no absent.yaml in {workspace.path}"
    assert answer.stderr == f"Recipe file not found: absent.yaml\n  fix: {fix}\n"


def test_what_is_not_there_does_not_hide_what_was_found_elsewhere(workspace: Workspace) -> None:
    workspace.write("shelf/broken.yaml", BROKEN)
    (workspace.path / "shelf/a-link.yaml").symlink_to("nowhere")
    answer = workspace.run("recipe", "check", "shelf", "--json")
    assert answer.exit_code == 3
    assert [finding["code"] for finding in answer.json] == ["duplicate-id"]
    assert "Recipe file not found: " in answer.stderr


def test_neighbours_that_cannot_be_read_do_not_matter(workspace: Workspace) -> None:
    workspace.write("clean.yaml", CLEAN)
    workspace.write("strange\udcff.yaml", CLEAN)
    workspace.write("broken.yaml", "clean: [")
    os.mkfifo(workspace.path / "pipe.yaml")
    (workspace.path / "link.yaml").symlink_to("nowhere")
    for name in ("clean.yaml", "strange\udcff.yaml"):
        assert workspace.run("recipe", "check", name) == Answer(0, "", "✓ nothing found\n")


def test_what_only_a_caller_gives_is_known_from_the_caller_beside_it(workspace: Workspace) -> None:
    workspace.write("child.yaml", "name: child\nsteps:\n  - {id: a, command: 'echo {{given}}'}\n")
    alone = workspace.run("recipe", "check", "--all", "child.yaml")
    workspace.write(
        "parent.yaml", "name: parent\nsteps:\n  - {id: call, recipe: child, context: {given: 1}}\n"
    )
    called = workspace.run("recipe", "check", "--all", "child.yaml")
    assert "[undefined-variable]" in alone.stdout
    assert "[undefined-variable]" not in called.stdout


def test_a_missing_sub_recipe_is_found_without_running(workspace: Workspace) -> None:
    workspace.write("parent.yaml", "name: parent\nsteps:\n  - {id: call, recipe: nobody}\n")
    answer = workspace.run("recipe", "check", "parent.yaml", "--json")
    assert "unknown-recipe" in {finding["code"] for finding in answer.json}


def test_sarif_names_each_rule_once_and_every_result_refers_to_one(workspace: Workspace) -> None:
    workspace.write("early.yaml", EARLY)
    workspace.write("broken.yaml", BROKEN)
    answer = workspace.run("recipe", "check", "early.yaml", "broken.yaml", "--sarif")
    document = answer.json
    assert answer.exit_code == 2
    assert answer.stderr == ""
    assert (document["version"], len(document["runs"])) == ("2.1.0", 1)
    assert document["$schema"].startswith("https://")
    (run,) = document["runs"]
    driver: dict[str, Any] = run["tool"]["driver"]
    assert driver["name"] == "amplihack"
    rules = [rule["id"] for rule in driver["rules"]]
    assert len(rules) == len(set(rules))
    assert {"used-before-set", "duplicate-id"} <= set(rules)
    for result in run["results"]:
        _is_a_sarif_result(result, rules)


def _is_a_sarif_result(result: dict[str, Any], rules: list[str]) -> None:
    assert rules[result["ruleIndex"]] == result["ruleId"]
    assert result["level"] in ("error", "warning", "note")
    assert result["message"]["text"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] in ("early.yaml", "broken.yaml")
    assert place["region"]["startLine"] >= 1
    assert place["region"]["startColumn"] >= 1


def test_a_file_name_with_spaces_is_a_valid_address_in_sarif(workspace: Workspace) -> None:
    workspace.write("my recipe.yaml", BROKEN)
    (run,) = workspace.run("recipe", "check", "my recipe.yaml", "--sarif").json["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "my%20recipe.yaml"


def test_a_file_with_errors_is_checked_in_the_parts_that_can_be_read(workspace: Workspace) -> None:
    text = "name: r\nsteps:\n  - id: a\n    command: x\n    timeout: soon\n"
    text += "  - id: b\n    command: echo {{nope}}\n"
    workspace.write("r.yaml", text)
    for words, stdin in ((("r.yaml",), ""), (("-",), text)):
        result = workspace.run("recipe", "check", *words, "--json", stdin=stdin)
        found = [(each["code"], each["line"]) for each in result.json]
        assert (result.exit_code, found) == (2, [("wrong-type", 5), ("undefined-variable", 7)])


def test_a_text_from_stdin_that_is_no_yaml_shows_no_secret(workspace: Workspace) -> None:
    text = 'name: r\nsecrets: [token]\ncontext:\n  token: hunter2-secret\n  bad: "hunter2-secret\n'
    result = workspace.run("recipe", "check", "-", stdin=text)
    assert result.exit_code == 2
    assert "hunter2" not in result.stdout + result.stderr
