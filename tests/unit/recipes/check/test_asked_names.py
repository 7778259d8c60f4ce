"""`$RECIPE_VAR_name` in a script: told where nothing sets such a variable."""

from __future__ import annotations

import json

import pytest
from tests.unit.recipes.check.shelf import check


def recipe(script: str, rest: str = "") -> str:
    head = "name: main\ncontext: {branch: dev, my-key: 1, conf: {host: x, user-name: y}}\nsteps:\n"
    steps = f"  - {{id: made, command: date}}\n  - id: asks\n    command: {json.dumps(script)}\n{rest}"
    return f"{head}{steps}  - {{id: late, command: date}}\n"


def told(script: str, rest: str = "", *, all_: bool = False) -> list[tuple[str, str]]:
    found = check(recipe(script, rest), all_=all_)
    kinds = ("undefined-variable", "unknown-key", "used-before-set")
    return [(each.code, each.fix) for each in found if each.code in kinds]


@pytest.mark.parametrize(
    "script",
    [
        "echo $RECIPE_VAR_nope",
        'echo "${RECIPE_VAR_nope}"',
        "echo ${RECIPE_VAR_nope%/*} ${#RECIPE_VAR_nope}",
        "echo ${RECIPE_VAR_nope:?}",
        "printenv RECIPE_VAR_nope",
        "printenv -0 PATH RECIPE_VAR_nope | cat",
        "echo $(( RECIPE_VAR_nope + 1 ))",
        "cat <<EOF\n$RECIPE_VAR_nope\nEOF",
        "x=$(cat $RECIPE_VAR_nope)",
        "echo '$RECIPE_VAR_nope' $RECIPE_VAR_nope",
        "python3 -c \"import os; print(os.environ['RECIPE_VAR_nope'])\"",
        "awk 'BEGIN { print ENVIRON[\"RECIPE_VAR_nope\"] }'",
        "node -p process.env.RECIPE_VAR_nope",
    ],
)
def test_a_variable_that_nothing_sets_is_told(script: str) -> None:
    ((code, fix),) = told(script)
    assert code == "undefined-variable"
    assert "`nope:`" in fix


@pytest.mark.parametrize(
    "script",
    [
        "echo ${RECIPE_VAR_nope:-x} ${RECIPE_VAR_nope-x} ${RECIPE_VAR_nope:+x}",
        'if [ -n "${RECIPE_VAR_nope:-}" ]; then echo "$RECIPE_VAR_nope"; fi',
        '[ -z "$RECIPE_VAR_nope" ] || echo "$RECIPE_VAR_nope"',
        "[[ -v RECIPE_VAR_nope ]] && echo $RECIPE_VAR_nope",
        "printenv RECIPE_VAR_nope || echo none",
        ": ${RECIPE_VAR_nope:=x}; echo $RECIPE_VAR_nope",
        "RECIPE_VAR_nope=x; echo $RECIPE_VAR_nope",
        "read -r RECIPE_VAR_nope < f; echo $RECIPE_VAR_nope",
        "source ./settings; echo $RECIPE_VAR_nope",
        "echo '$RECIPE_VAR_nope'",
        "echo \\$RECIPE_VAR_nope",
        "# $RECIPE_VAR_nope\necho",
        "cat <<'EOF'\n$RECIPE_VAR_nope\nEOF",
        "node -p 'process.env.RECIPE_VAR_nope || 1'",
        "echo $RECIPE_VAR_branch $RECIPE_VAR_my_key $RECIPE_VAR_conf__host $RECIPE_VAR_conf__user_name",
        "echo $RECIPE_VAR_made $RECIPE_VAR_branch_FILE",
        "echo {{recipe.name}} $RECIPE_VAR_recipe__name",
    ],
)
def test_what_is_there_or_not_needed_is_not_told(script: str) -> None:
    assert told(script, all_=True) == []


@pytest.mark.parametrize(
    ("script", "fix"),
    [
        ("echo $RECIPE_VAR_brnach", "did you mean $RECIPE_VAR_branch?"),
        ("echo $RECIPE_VAR_mykey", "did you mean $RECIPE_VAR_my_key?"),
        ("echo $RECIPE_VAR_conf__hots", "did you mean host?"),
        ("echo $RECIPE_VAR_recipe__name", "write {{recipe.name}}"),
        ("echo $RECIPE_VAR_late", "move step 'late' up, or give late a default in `context:`"),
    ],
)
def test_the_fix_names_what_was_meant(script: str, fix: str) -> None:
    assert [each for _, each in told(script)] == [fix]


def test_a_default_does_not_hide_a_slip_from_those_who_want_to_know_all() -> None:
    script = "echo ${RECIPE_VAR_brnach:-main}"
    assert told(script) == []
    assert told(script, all_=True) == [("undefined-variable", "did you mean $RECIPE_VAR_branch?")]


def test_loops_env_and_callers_set_variables() -> None:
    assert told("echo $RECIPE_VAR_one", "    foreach: [1, 2]\n    as: one\n") == []
    assert told("echo $RECIPE_VAR_one", "    env: {RECIPE_VAR_one: x}\n") == []
    ((_, fix),) = told("echo $RECIPE_VAR_loop__index", "    foreach: [1, 2]\n")
    assert fix == "write {{loop.index}}"
    caller = "name: up\nsteps:\n  - {id: call, recipe: main, context: {no-pe: 1}}\n"
    found = check(recipe("echo $RECIPE_VAR_no_pe"), others={"up.yaml": caller}, all_=True)
    assert [each.what for each in found if "no_pe" in each.what] == [
        "nothing here sets $RECIPE_VAR_no_pe; up, which calls this recipe, does"
    ]


def test_hooks_are_asked_too() -> None:
    text = (
        "name: main\nhooks: {pre_step: 'echo $RECIPE_VAR_step_id $RECIPE_VAR_nope $RECIPE_VAR_a'}\nsteps:\n"
    )
    found = check(f"{text}  - {{id: a, command: date}}\n")
    assert [each.fix[:20] for each in found] == ["write {{step_id}}, o", "add `nope:` to `cont"]
