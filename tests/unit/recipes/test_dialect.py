from __future__ import annotations

import json

import pytest

from amplihack.documents import Mapping, read_document
from amplihack.recipes.conditions import parse_condition
from amplihack.recipes.conditions.dialects import depends_on_dialect
from amplihack.recipes.decode import decode_text
from amplihack.recipes.dialect import Verdict, detect
from amplihack.recipes.fields import RECIPE, STEP


def verdict(text: str) -> Verdict:
    root = read_document(text, "f").root
    assert isinstance(root, Mapping)
    return detect(root)


def of_step(fields: str) -> Verdict:
    return verdict(f"name: n\nsteps:\n- {{id: a, {fields}}}\n")


@pytest.mark.parametrize(
    ("fields", "mark"),
    [
        ("agent: 'foundation:explorer', prompt: p", "the agent `foundation:explorer`"),
        ("agent: 'recipes:author', prompt: p", "the agent `recipes:author`"),
        ("type: recipe, recipe: '@recipes:child.yaml'", "the sub-recipe `@recipes:child.yaml`"),
        ("command: '$AMPLIFIER_PYTHON x.py'", "`$AMPLIFIER_PYTHON`"),
        ("command: ls $AMPLIFIER_RECIPE_SCRATCH_DIR", "`$AMPLIFIER_RECIPE_SCRATCH_DIR`"),
    ],
)
def test_marks_of_the_other_tool_in_a_step(fields: str, mark: str) -> None:
    found = of_step(fields)
    assert (found.dialect, found.reason) == ("amplifier", f"it has {mark}")


@pytest.mark.parametrize(
    "script",
    [
        "# as $AMPLIFIER_PYTHON would\nls",
        "grep -r AMPLIFIER_PYTHON src",
        "export AMPLIFIER_PYTHON=python3; $AMPLIFIER_PYTHON x.py",
        "AMPLIFIER_PYTHON=python3\n$AMPLIFIER_PYTHON x.py",
        "echo $MY_AMPLIFIER_PYTHON $AMPLIFIER_PYTHONS",
    ],
)
def test_a_script_that_takes_nothing_from_the_other_tool_bears_no_mark(script: str) -> None:
    assert of_step(f"command: {json.dumps(script)}").mark == ""


@pytest.mark.parametrize(
    "script",
    [
        '"${AMPLIFIER_PYTHON:-python3}" x.py',
        'PY="$AMPLIFIER_PYTHON"; $PY x.py',
        'AMPLIFIER_PYTHON="${AMPLIFIER_PYTHON:-python3}"\n$AMPLIFIER_PYTHON x.py',
    ],
)
def test_a_variable_with_a_default_is_still_the_other_tools(script: str) -> None:
    assert of_step(f"command: {json.dumps(script)}").dialect == "amplifier"


@pytest.mark.parametrize(
    "fields",
    ["orchestrator: {config: {min_delay_between_calls_ms: 1}}", "schema_version: 2\ndependencies: []"],
)
def test_marks_of_the_other_tool_in_a_recipe(fields: str) -> None:
    assert verdict(f"name: n\n{fields}\nsteps: [{{id: a, command: ls}}]").dialect == "amplifier"


def test_a_file_with_agents_of_both_communities_is_not_only_for_the_other_tool() -> None:
    both = "- {id: a, agent: 'foundation:explorer', prompt: p}\n- {id: b, agent: 'amplihack:x', prompt: p}\n"
    assert verdict(f"name: n\nsteps:\n{both}").dialect == "amplihack"
    assert verdict(f"name: n\nsteps:\n{both}- {{id: c, recipe: '@x:y.yaml'}}\n").dialect == "amplifier"


def test_marks_inside_stages_and_loops_count() -> None:
    inner = "{id: a, agent: 'foundation:x', prompt: p}"
    assert verdict(f"name: n\nstages: [{{name: s, steps: [{inner}]}}]").dialect == "amplifier"
    assert verdict(f"name: n\nsteps: [{{id: l, foreach: [1], steps: [{inner}]}}]").dialect == "amplifier"


VALUES = {"words": "[w]", "map": "{k: v}", "texts": "{k: v}", "table": "{}", "tables": "[]", "items": "[1]"}


@pytest.mark.parametrize("start", ["command: echo", "agent: 'foundation:x', prompt: p"])
@pytest.mark.parametrize("name", sorted(set(STEP.known) - {"id", "agent", "command", "recipe"}))
def test_no_field_of_a_step_tells_anything(name: str, start: str) -> None:
    field = f"{name}: {VALUES.get(STEP.known[name].shape, 'x')}"
    text = "name: n\nsteps:\n- {id: a, %s}\n- {id: b, command: echo%s}\n"
    assert verdict(text % (start, "")) == verdict(text % (start, f", {field}"))


@pytest.mark.parametrize("name", sorted(set(RECIPE.known) - {"dialect", "name", "steps"}))
def test_no_field_of_a_recipe_tells_anything_by_itself(name: str) -> None:
    text = f"name: n\n{name}: {VALUES.get(RECIPE.known[name].shape, 'x')}\nsteps: [{{id: a, command: ls}}]"
    assert verdict(text).dialect == "amplihack"


@pytest.mark.parametrize(
    "step",
    [
        "command: echo",
        "prompt: p",
        "recipe: child",
        "type: recipe, recipe: child.yaml",
        "command: ls, condition: status == 'ok'",
        "type: bash, command: ls, condition: \"{{x}} == 'ok'\"",
        "agent: self, prompt: '{{session.id}} {{recipe.name}} {{step.id}}'",
        "command: 'echo $RECIPE_VAR_x'",
    ],
)
@pytest.mark.parametrize("start", ["command: echo", "agent: 'foundation:x', prompt: p"])
def test_one_step_more_changes_nothing(step: str, start: str) -> None:
    one = f"name: n\nsteps:\n- {{id: a, {start}}}\n"
    assert verdict(one) == verdict(f"{one}- {{id: b, {step}}}\n")


def test_what_the_file_states_counts() -> None:
    found = verdict("dialect: amplihack\nsteps: [{id: a, agent: 'foundation:x', prompt: p}]\n")
    assert (found.dialect, found.reason) == ("amplihack", "stated in the file")


def test_a_file_without_marks_is_amplihack() -> None:
    found = of_step("type: bash, command: ls")
    assert (found.dialect, found.reason) == ("amplihack", "nothing in it says otherwise")


@pytest.mark.parametrize(
    "text",
    [
        "steps: word",
        "steps: [a, [b], 1]",
        "stages: {a: b}",
        "steps: [{steps: [x]}]",
        "{}",
        "orchestrator: word",
        "orchestrator: {config: [a]}",
    ],
)
def test_odd_shapes_are_no_obstacle(text: str) -> None:
    assert verdict(text).dialect == "amplihack"


# What is said of it ---------------------------------------------------------------------------------------


def told(step: str, top: str = "") -> str:
    marked = "{id: m, command: 'test $AMPLIFIER_PYTHON'}"
    return decode_text(f"name: n\n{top}steps:\n- {marked}\n- {{id: a, {step}}}\n").told_dialect


@pytest.mark.parametrize(
    ("step", "difference"),
    [
        ("recipe: r", "sub-recipes see only their `context:`"),
        ("prompt: p", "what agents change is not staged"),
        ("prompt: p, auto_stage: true, parse_json: true", "agents are told to answer with JSON"),
        ("command: ls, condition: x", "conditions take the texts"),
        ("command: ls, while_condition: 'x == y'", "conditions take the texts"),
    ],
)
def test_a_told_dialect_is_said_with_its_reason_and_what_it_changes(step: str, difference: str) -> None:
    said = told(step)
    assert said.startswith("read as `dialect: amplifier`, because it has `$AMPLIFIER_PYTHON`: ")
    assert difference in said
    assert "\n" not in said


@pytest.mark.parametrize(
    "step",
    [
        "command: ls",
        "recipe: r, context_mode: inherit",
        "prompt: p, auto_stage: false",
        "command: ls, condition: x == 'ok'",
    ],
)
def test_nothing_is_said_where_it_makes_no_difference(step: str) -> None:
    assert told(step) == ""


def test_nothing_is_said_where_the_file_says_it() -> None:
    assert told("recipe: r", "dialect: amplifier\n") == ""


@pytest.mark.parametrize(
    ("condition", "depends"),
    [
        ("x", True),
        ("not {{x}}", True),
        ("x == y", True),
        ("x == '1'", True),
        ("x != '[]'", True),
        ("a == 'ok' and b", True),
        ("x == 'ok'", False),
        ("'ok' in x", False),
        ("x == 1", False),
        ("x == true or y == null", False),
        ("len(x) > 3", False),
        ("true", False),
    ],
)
def test_conditions_that_the_dialects_read_alike(condition: str, depends: bool) -> None:
    assert depends_on_dialect(parse_condition(condition).tree) is depends
