"""Findings in the format that code hosts read."""

from __future__ import annotations

import json

from tests.unit.recipes.check.shelf import check

from amplihack.errors import Location, Problem
from amplihack.recipes.check import CODES
from amplihack.recipes.check.sarif import to_sarif

RECIPE = (
    "name: main\ncontext: {task: ''}\nsteps:\n"
    "  - {id: a, command: 'echo {{taskk}}'}\n"
    "  - {id: b, recipe: gone}\n"
)


def test_each_finding_is_a_result_with_its_rule_and_its_place() -> None:
    report = to_sarif(check(RECIPE), "1.2.3")
    run = report["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    first, second = run["results"]
    assert report["version"] == "2.1.0"
    assert run["tool"]["driver"]["version"] == "1.2.3"
    assert (first["ruleId"], first["level"]) == ("undefined-variable", "warning")
    assert rules[first["ruleIndex"]] == "undefined-variable"
    assert "fix: did you mean task?" in first["message"]["text"]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "main.yaml"}
    assert place["region"] == {
        "startLine": 4,
        "startColumn": 28,
        "snippet": {"text": "  - {id: a, command: 'echo {{taskk}}'}"},
    }
    assert (second["ruleId"], second["level"]) == ("unknown-recipe", "error")


def test_rules_are_listed_once_and_explained() -> None:
    problems = (
        Problem("x", code="never-equal"),
        Problem("y", code="never-equal"),
        Problem("z", code="no-name"),
    )
    rules = to_sarif(problems, "1")["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["never-equal", "no-name"]
    assert rules[0]["shortDescription"]["text"] == CODES["never-equal"]
    assert rules[1]["shortDescription"]["text"] == "No name."


def test_a_finding_without_a_place_or_a_code_is_still_a_result() -> None:
    result = to_sarif((Problem("odd"),), "1")["runs"][0]["results"][0]
    assert result == {"ruleId": "unreadable", "ruleIndex": 0, "level": "error", "message": {"text": "odd"}}


def test_paths_become_uris() -> None:
    found = [
        to_sarif((Problem("x", Location(file, 1, 1)),), "1")["runs"][0]["results"][0]["locations"][0]
        for file in ("my recipes/a#1.yaml", "/srv/a b.yaml")
    ]
    uris = [each["physicalLocation"]["artifactLocation"]["uri"] for each in found]
    assert uris == ["my%20recipes/a%231.yaml", "file:///srv/a%20b.yaml"]


def test_it_is_plain_json_and_empty_without_findings() -> None:
    empty = to_sarif((), "1")
    assert json.loads(json.dumps(empty)) == empty
    assert empty["runs"][0]["results"] == []


def test_a_file_name_that_is_not_utf_8_becomes_a_uri() -> None:
    odd = Problem("x", Location("re\udcffcipe.yaml", 1, 1), code="unused-output")
    found = to_sarif([odd], "1")["runs"][0]["results"][0]
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "re%FFcipe.yaml"
