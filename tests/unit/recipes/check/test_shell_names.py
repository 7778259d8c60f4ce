"""`$name` in a script: told where only the recipe has such a variable."""

from __future__ import annotations

import json

import pytest
from tests.unit.recipes.check.shelf import check


def told(script: str, env: str = "") -> list[str]:
    head = "name: main\ncontext: {branch: dev, files: [a]}\nsteps:\n"
    text = f"{head}  - id: made\n    command: {json.dumps(script)}\n"
    found = check(text + env + "  - {id: late, command: 'echo {{branch}} {{files}}'}\n")
    return [each.fix for each in found if each.code == "unexported-variable"]


@pytest.mark.parametrize(
    "script",
    [
        "echo $branch",
        'echo "on branch: $branch"',
        "git checkout ${branch}",
        "echo ${branch%/*} ${#branch}",
        "echo ${branch:-main}",
        "cat <<EOF\n$branch\nEOF",
        "x=$(git log $branch)",
        "[ $branch = main ] && echo yes",
        "printf 'branch %s' $branch",
        "echo '$branch'; echo $branch",
        "for f in a b; do echo $branch; done",
        "echo $made",
    ],
)
def test_a_variable_of_the_recipe_that_the_shell_does_not_have(script: str) -> None:
    (fix,) = told(script)
    assert fix.startswith("write {{")


@pytest.mark.parametrize(
    "script",
    [
        "branch=x; echo $branch",
        "local branch; echo $branch",
        "read -r branch < f; echo $branch",
        "git branch | while read -r branch; do echo $branch; done",
        "for branch in a b; do echo $branch; done",
        "printf -v branch x; echo $branch",
        "(( branch++ )); echo $branch",
        "mapfile -t branch < f; echo $branch",
        "while getopts a: branch; do echo $branch; done",
        "echo ${branch:=x}",
        "exec {branch}>f; echo $branch",
        "echo '$branch'",
        "echo \\$branch",
        "# $branch\necho",
        "cat <<'EOF'\n$branch\nEOF",
        "awk '{ print $branch }' f",
        "source ./settings; echo $branch",
        ". ./settings\necho $branch",
        "echo $BRANCH $RECIPE_VAR_branch $other $branches",
        "branch+=x; echo $branch",
    ],
)
def test_what_the_script_may_set_or_does_not_expand(script: str) -> None:
    assert told(script) == []


def test_a_variable_in_env_is_there() -> None:
    assert told("echo $branch", "    env: {branch: x}\n") == []


@pytest.mark.parametrize(
    ("script", "count"),
    [
        ('echo "$REPORT"', 1),
        ("printf '%s' \"${REPORT}\" | jq .a", 1),
        ('echo "$REPORT $REPORT"', 1),
        ('echo "${REPORT:-$RECIPE_VAR_report}"', 0),
        ("echo '$REPORT'", 0),
        ('echo "$RECIPE_VAR_report"', 0),
        ('REPORT="{{report}}"; echo "$REPORT"', 0),
        ('echo "$PLAIN"', 0),
    ],
)
def test_a_variable_in_upper_case_that_parsed_json_does_not_have(script: str, count: int) -> None:
    text = "name: main\nsteps:\n  - {id: a, command: cat r.json, parse_json: true, output: report}\n"
    text += "  - {id: b, command: date, output: plain}\n"
    found = check(f"{text}  - {{id: c, command: {json.dumps(script)}}}\n")
    fixes = [each.fix for each in found if each.code == "unexported-variable"]
    assert fixes == ["write {{report}}, or $RECIPE_VAR_report"] * count
