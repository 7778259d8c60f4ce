"""How loud a finding is, where the same thing can be a mistake or be meant."""

from __future__ import annotations

import pytest
from tests.unit.recipes.check.shelf import check, codes

ROOT = "name: main\ncontext: {task: '', mode: fast}\nsteps:\n"


def severities(text: str, code: str, agents: frozenset[str] = frozenset()) -> list[str]:
    return [each.severity for each in check(text, agents=agents, all_=True) if each.code == code]


@pytest.mark.parametrize(
    ("agents", "severity"),
    [
        (frozenset[str](), "note"),
        (frozenset({"other:builder"}), "note"),
        (frozenset({"house:tester"}), "warning"),
        (frozenset({"house:builder"}), "warning"),
    ],
)
def test_an_unknown_agent_is_a_warning_only_where_its_bundle_is_known(
    agents: frozenset[str], severity: str
) -> None:
    recipe = (
        ROOT
        + "  - {id: a, agent: 'house:bulider', prompt: x}\n  - {id: b, agent: 'house:bulider', prompt: x}\n"
    )
    assert severities(recipe, "unknown-agent", agents) == [severity]


@pytest.mark.parametrize("agent", ["self", "house:builder", "house:core:builder", "'{{mode}}'", "helper"])
def test_known_and_templated_agents_are_fine(agent: str) -> None:
    recipe = ROOT + f"  - {{id: a, agent: {agent}, prompt: x}}\n"
    assert severities(recipe, "unknown-agent", frozenset({"house:builder", "helper"})) == []


def test_parallel_steps_that_exclude_each_other_may_set_the_same_variable() -> None:
    pair = (
        "  - {id: a, parallel_group: g, condition: mode == 'fast', command: ls, output: out}\n"
        "  - {id: b, parallel_group: g, condition: mode == 'slow', command: ls, output: out}\n"
    )
    assert severities(ROOT + pair, "parallel-conflict") == []
    assert severities(ROOT + pair.replace("mode == 'slow'", "task"), "parallel-conflict") == ["note"]


def test_reading_the_older_value_of_a_parallel_result_is_only_noted() -> None:
    pair = (
        "  - {id: a, parallel_group: g, command: ls, output: task}\n"
        "  - {id: b, parallel_group: g, command: 'echo {{task}}'}\n"
    )
    assert severities(ROOT + pair, "parallel-conflict") == ["note"]


@pytest.mark.parametrize("default", ["ruff", "./run.sh", "3"])
def test_a_command_of_one_word_is_fine(default: str) -> None:
    assert (
        codes(f"name: main\ncontext: {{tool: {default}}}\nsteps:\n  - {{id: a, command: '{{{{tool}}}} x'}}\n")
        == []
    )


@pytest.mark.parametrize("default", ["''", "make lint"])
def test_a_command_that_is_not_known_or_has_blanks_is_a_warning(default: str) -> None:
    recipe = f"name: main\ncontext: {{tool: {default}}}\nsteps:\n  - {{id: a, command: '{{{{tool}}}} x'}}\n"
    assert codes(recipe) == ["command-word"]


@pytest.mark.parametrize("default", ["3", "' 4 '", "-1.5", "''"])
def test_arithmetic_with_a_number_or_with_nothing_known_is_fine(default: str) -> None:
    recipe = f"name: main\ncontext: {{n: {default}}}\nsteps:\n"
    assert codes(recipe + "  - {id: a, command: 'echo $(( {{n}} + 1 ))'}\n") == []


def test_arithmetic_with_a_variable_that_a_step_sets_is_fine() -> None:
    recipe = "name: main\ncontext: {n: none}\nsteps:\n  - {id: a, command: echo 1, output: n}\n"
    assert codes(recipe + "  - {id: b, command: 'echo $(( {{n}} + 1 ))'}\n") == []


def test_a_variable_too_many_is_only_noted() -> None:
    other = {"other.yaml": "name: other\ncontext: {tone: ''}\nsteps:\n  - {id: o, prompt: '{{tone}}'}\n"}
    recipe = ROOT + "  - {id: a, recipe: other, context: {unrelated: x}}\n"
    assert codes(recipe, others=other) == []
    assert codes(recipe, others=other, all_=True) == ["unknown-input"]


def test_a_step_may_not_depend_on_itself_or_on_the_next() -> None:
    recipe = ROOT + "  - {id: a, command: ls}\n  - {id: b, depends_on: [a, b, c], command: ls}\n"
    found = check(recipe + "  - {id: c, depends_on: [b], command: ls}\n")
    assert [each.what for each in found] == [
        "step 'b' depends on 'b', which is the step itself",
        "step 'b' depends on 'c', which comes later",
    ]


def test_a_condition_of_a_loop_may_always_hold() -> None:
    assert (
        codes(ROOT + "  - {id: a, while_condition: 'true', break_when: task, command: ls}\n", all_=True) == []
    )


def test_a_text_flag_that_a_step_changes_is_only_noted() -> None:
    recipe = "name: main\ncontext: {force: 'false'}\nsteps:\n  - {id: s, command: ls, output: force}\n"
    assert severities(recipe + "  - {id: a, condition: force, command: ls}\n", "text-as-flag") == ["note"]


def test_the_word_false_is_false_in_the_other_dialect() -> None:
    recipe = "name: main\ndialect: amplifier\ncontext: {force: 'false'}\nsteps:\n"
    assert codes(recipe + "  - {id: a, condition: '{{force}}', type: bash, command: ls}\n", all_=True) == []


def test_findings_come_in_the_order_of_the_file() -> None:
    recipe = (
        ROOT + "  - {id: a, command: 'echo {{zz}} {{yy}}'}\n  - {id: b, condition: 1 == 2, recipe: gone}\n"
    )
    places = [(each.where.line, each.where.column) for each in check(recipe) if each.where]
    assert len(places) == 4
    assert places == sorted(places)


def test_a_finding_points_at_the_exact_character_of_a_block() -> None:
    command = "    command: |\n      ls\n      echo {{taks}}\n"
    recipe = ROOT + "  - id: a\n" + command + "    condition: |\n      mode == 'a' and\n      len(mode) < 0\n"
    places = {each.code: str(each.where) for each in check(recipe)}
    assert places == {"undefined-variable": "main.yaml:7:12", "never-equal": "main.yaml:10:7"}


@pytest.mark.parametrize(
    ("fields", "severity"),
    [
        ("", "error"),
        ("condition: task, ", "warning"),
        ("when_tags: [slow], ", "warning"),
        ("on_error: continue, ", "warning"),
        ("foreach: '{{task}}', ", "warning"),
        ("foreach: [x], ", "error"),
    ],
)
@pytest.mark.parametrize(
    ("code", "action"), [("unknown-recipe", "recipe: gone"), ("bash-refused", "command: 'read {{mode}}'")]
)
def test_what_can_only_fail_is_an_error_only_where_every_run_comes_to_it(
    code: str, action: str, fields: str, severity: str
) -> None:
    assert severities(ROOT + f"  - {{id: a, {fields}{action}}}\n", code) == [severity]


def test_a_step_that_may_not_be_reached_is_not_certain_to_fail() -> None:
    first = "  - {id: a, on_error: skip_remaining, command: ls}\n"
    assert severities(ROOT + first + "  - {id: b, recipe: gone}\n", "unknown-recipe") == ["warning"]
    body = "  - {id: a, foreach: [x], on_error: continue, steps: [{id: b, recipe: gone}]}\n"
    assert severities(ROOT + body, "unknown-recipe") == ["warning"]


@pytest.mark.parametrize(("fields", "severity"), [("", "error"), ("on_error: continue, ", "warning")])
def test_a_condition_that_can_only_fail_is_certain_unless_the_step_may(fields: str, severity: str) -> None:
    recipe = ROOT + f"  - {{id: a, {fields}condition: \"int('many') > 1\", command: ls}}\n"
    assert severities(recipe, "condition-fails") == [severity]


@pytest.mark.parametrize(
    "steps",
    [
        "  - {id: a, condition: later, command: 'echo {{later}} {{no}}'}\n  - {id: later, command: ls}\n",
        "  - {id: a, condition: task, command: ls, output: x}\n  - {id: b, command: 'echo {{x}} {{taks}}'}\n",
        "  - {id: a, parallel_group: g, command: 'echo {{b}}'}\n  - {id: b, parallel_group: g, command: w}\n",
    ],
)
def test_without_notes_everything_else_is_told(steps: str) -> None:
    told = [each for each in check(ROOT + steps, all_=True) if each.severity != "note"]
    assert list(check(ROOT + steps)) == told


@pytest.mark.parametrize(
    "fields",
    [
        "foreach: [1], as: 'a b', command: x",
        "foreach: [1], collect: 'a b', command: x",
        "output_exit_code: 'a b', command: x",
        "output_stderr: ä, command: x",
        "output_exit_code: true, command: x",
        "output_stderr: yes, command: x",
        "output: 'False', command: x",
    ],
)
def test_names_that_no_placeholder_can_have_are_told(fields: str) -> None:
    found = check(f"name: main\nsteps:\n  - {{id: s, {fields}}}\n")
    assert [each.code for each in found] == ["unreachable-result"]


def test_a_variable_that_no_placeholder_can_name_is_told_unless_a_script_asks_for_it() -> None:
    text = "name: main\ncontext: {my var: 1}\nsteps:\n  - {id: s, command: 'echo SCRIPT'}\n"
    assert codes(text) == ["unreachable-result"]
    assert codes(text.replace("SCRIPT", "$RECIPE_VAR_my_var")) == []


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("recipe.nme", "did you mean recipe.name?"),
        ("step.outcome", "there are step.id, step.index"),
        ("session.idd", "did you mean session.id?"),
    ],
)
def test_a_part_that_the_runner_does_not_tell_is_told(name: str, fix: str) -> None:
    text = f"name: main\nsteps:\n  - {{id: s, command: 'echo {{{{{name}}}}}'}}\n"
    assert [(each.code, each.severity, each.fix) for each in check(text)] == [("unknown-key", "warning", fix)]
    own = name.split(".")[0]
    assert codes(text.replace("steps:", f"context: {{{own}: {{}}}}\nsteps:")) == []
