from __future__ import annotations

import pytest

from amplihack.documents import Mapping, read_document
from amplihack.recipes.dialect import Verdict, detect


def verdict(text: str) -> Verdict:
    root = read_document(text, "f").root
    assert isinstance(root, Mapping)
    return detect(root)


def of_step(fields: str) -> Verdict:
    return verdict(f"name: n\nsteps:\n- {{id: a, {fields}}}\n")


@pytest.mark.parametrize(
    "fields",
    [
        "type: bash, command: ls, working_dir: d",
        "type: bash, command: ls, continue_on_error: true",
        "type: bash, command: ls, nonfatal: true",
        "type: bash, command: ls, fatal: false",
        "type: bash, command: ls, parallel_group: g",
        "type: bash, command: ls, when_tags: [t]",
        "type: agent, agent: x, prompt: p, auto_stage: false",
        "type: bash, command: ls, parse_json_required: true",
        "type: recipe, recipe: r, recovery_on_failure: true",
        "type: recipe, recipe: r.yaml, sub_context: {}, recovery_on_failure: true",
        "command: ls",
        "prompt: p",
        "type: bash, command: ls, condition: status == 'ok'",
        "type: bash, command: ls, condition: len(items)",
        "type: recipe, recipe: child",
        "type: bash, command: echo $RECIPE_VAR_x",
        "type: bash, command: 'echo ${TASK_DESCRIPTION}'",
        "type: bash, command: cd $REPO_PATH",
    ],
)
def test_signals_of_amplihack(fields: str) -> None:
    found = of_step(fields)
    assert found.dialect == "amplihack"
    assert found.amplihack


@pytest.mark.parametrize(
    "fields",
    [
        "foreach: '{{x}}', type: bash, command: ls",
        "type: bash, command: ls, as: x",
        "type: bash, command: ls, collect: x",
        "type: bash, command: ls, parallel: 2",
        "type: bash, command: ls, while_condition: 'true'",
        "type: bash, command: ls, max_while_iterations: 3",
        "type: bash, command: ls, break_when: x",
        "type: bash, command: ls, update_context: {}",
        "type: bash, command: ls, checkpoint_iterations: true",
        "type: bash, command: ls, on_error: continue",
        "type: bash, command: ls, retry: {}",
        "type: bash, command: ls, cwd: d",
        "type: bash, command: ls, env: {}",
        "type: bash, command: ls, output_exit_code: c",
        "agent: x, prompt: p, provider: q",
        "agent: x, prompt: p, provider_preferences: []",
        "agent: x, prompt: p, model_role: fast",
        "agent: x, prompt: p, spawn_mode: subprocess",
        "agent: x, prompt: p, agent_config: {}",
        "type: bash, command: ls, condition: \"{{x}} == 'ok'\"",
        "type: recipe, recipe: child.yaml",
        "type: recipe, recipe: '@recipes:child.yaml'",
        "type: bash, command: 'echo {{recipe.name}}'",
        "agent: x, prompt: '{{session.id}}'",
        "type: bash, command: '$AMPLIFIER_PYTHON x.py'",
        "agent: foundation:explorer, prompt: p",
        "agent: recipes:author, prompt: p",
        "agent: self, prompt: p",
    ],
)
def test_signals_of_amplifier(fields: str) -> None:
    assert of_step(fields).dialect == "amplifier"


@pytest.mark.parametrize(
    "field", ["extends: x", "hooks: {}", "context_validation: {}", "inputs: [{name: a}]"]
)
def test_top_level_signals_of_amplihack(field: str) -> None:
    assert verdict(f"name: n\n{field}\nsteps: [{{id: a, type: bash, command: ls}}]").amplihack


@pytest.mark.parametrize("field", ["rate_limiting: {}", "orchestrator: {}", "created: x", "updated: x"])
def test_top_level_signals_of_amplifier(field: str) -> None:
    found = verdict(f"name: n\n{field}\nsteps: [{{id: a, type: bash, command: ls}}]")
    assert found.dialect == "amplifier"
    assert found.reason == f"it uses `{field.split(':')[0]}`"


def test_steps_inside_stages_and_loops_speak_too() -> None:
    inner = "{id: a, type: bash, command: ls, cwd: d}"
    assert "`cwd`" in verdict(f"name: n\nstages: [{{name: s, steps: [{inner}]}}]").amplifier
    loop = f"{{id: l, foreach: [1], steps: [{inner}]}}"
    assert "`cwd`" in verdict(f"name: n\nsteps: [{loop}]").amplifier


@pytest.mark.parametrize(
    "condition",
    ["\"'ok' in '{{result}}'\"", '\'"{{a}}" == "b"\'', "\"'{{a}}' != ''\""],
)
def test_a_placeholder_inside_quotes_is_no_signal(condition: str) -> None:
    found = of_step(f"type: bash, command: ls, condition: {condition}")
    assert found.amplifier == ()
    assert found.dialect == "amplihack"


@pytest.mark.parametrize(
    "condition", ["'true'", '"{{a}} == true and not {{b}}"', "\"{{a.b}} in ['x']\"", "1 == 1"]
)
def test_words_of_the_language_are_no_bare_names(condition: str) -> None:
    assert of_step(f"type: bash, command: ls, condition: {condition}").amplihack == ()


def test_kinds_of_signals_are_counted_not_occurrences() -> None:
    steps = "".join(f"- {{id: s{n}, type: bash, command: ls, cwd: d}}\n" for n in range(9))
    text = f"name: n\nsteps:\n{steps}- {{id: x, command: ls, working_dir: d}}\n"
    found = verdict(text)
    assert found.dialect == "amplihack"
    assert found.amplifier == ("`cwd`",)
    assert found.mixed


def test_an_agent_of_the_foundation_only_breaks_ties() -> None:
    tie = "agent: foundation:x, prompt: p, working_dir: d, on_error: fail"
    assert of_step(tie).dialect == "amplifier"
    assert of_step(f"{tie}, when_tags: [t]").dialect == "amplihack"


def test_what_the_file_states_counts() -> None:
    found = verdict("dialect: amplihack\nstages: []\nrate_limiting: {}\n")
    assert (found.dialect, found.reason, found.mixed) == ("amplihack", "stated in the file", False)


def test_a_file_without_signals_is_amplihack() -> None:
    found = of_step("type: bash, command: ls")
    assert (found.dialect, found.reason) == ("amplihack", "nothing in it says otherwise")


@pytest.mark.parametrize(
    "text", ["steps: word", "steps: [a, [b], 1]", "stages: {a: b}", "steps: [{steps: [x]}]", "{}"]
)
def test_odd_shapes_are_no_obstacle(text: str) -> None:
    assert verdict(text).dialect in ("amplihack", "amplifier")
