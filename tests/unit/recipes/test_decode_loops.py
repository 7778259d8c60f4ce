from __future__ import annotations

import pytest
from tests.support.decoded import only_problem, recipe, step

from amplihack.recipes.decode import decode_text
from amplihack.recipes.model import Body, Foreach, Text, While

# loops


def test_foreach_takes_a_placeholder_or_a_list() -> None:
    found = step("command: ls, foreach: ' {{xs}} ', as: x, collect: c, parallel: 3, max_iterations: 7")
    assert found.loop is not None
    assert found.loop.over == Foreach(Text("{{xs}}"), "x", 3)
    assert (found.loop.collect, found.loop.max_iterations) == ("c", 7)
    listed = step("command: ls, foreach: [1, {a: b}]").loop
    assert listed is not None
    assert listed.over == Foreach((1, {"a": "b"}), "item", None)
    assert listed.max_iterations == 100


@pytest.mark.parametrize(
    ("value", "width"), [("true", 0), ("false", None), ("4", 4), ("'{{n}}'", "{{n}}"), ("~", None)]
)
def test_how_many_items_run_at_once(value: str, width: object) -> None:
    loop = step(f"command: ls, foreach: [1], parallel: {value}").loop
    assert loop is not None
    assert isinstance(loop.over, Foreach)
    assert loop.over.parallel == width


def test_while_loops_with_a_body() -> None:
    found = step(
        "while_condition: \"{{x}} != 'y'\", max_while_iterations: 3, break_when: z, "
        "update_context: {x: '{{w}}'}, "
        "steps: [{id: b, command: ls}, {id: c, foreach: [1], steps: [{id: d, command: ls}]}]"
    )
    assert found.loop is not None
    assert isinstance(found.loop.over, While)
    assert found.loop.over.condition.text == "{{x}} != 'y'"
    assert (found.loop.max_iterations, found.loop.update) == (3, {"x": "{{w}}"})
    assert found.loop.break_when is not None
    assert isinstance(found.action, Body)
    assert [inner.id for inner in found.action.steps] == ["b", "c"]


def test_two_loops_on_one_step_exclude_each_other() -> None:
    assert "exclude each other" in only_problem(
        "name: n\nsteps: [{id: a, command: ls, foreach: [1], while_condition: x}]"
    )


def test_a_body_needs_a_loop() -> None:
    assert only_problem("name: n\nsteps: [{id: a, steps: [{id: b, command: ls}]}]") == (
        "Step 'a': steps inside a step need 'foreach' or 'while_condition'"
    )


# conditions


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("condition: a == 1 ==", "4:21"),
        ("condition: 'a =='", "4:19"),
        ("condition: |\n    a\n    and (b", "6:11"),
        ("condition: >-\n    a and\n    b ==\n", "6:9"),
    ],
)
def test_a_broken_condition_is_located_inside_its_text(text: str, place: str) -> None:
    document = decode_text(f"name: n\nsteps:\n- id: a\n  {text}\n  command: ls\n", "r")
    (problem,) = document.problems
    assert str(problem.where) == f"r:{place}"


def test_a_block_condition_is_read_without_the_white_space_around_it() -> None:
    found = recipe("name: n\nsteps:\n- id: a\n  command: ls\n  condition: |\n\n    a == 1\n    and b\n")
    condition = found.steps[0].condition
    assert condition is not None
    assert condition.text == "a == 1\nand b"


@pytest.mark.parametrize("field", ["break_when: done", "update_context: {a: 1}"])
def test_what_parallel_rounds_cannot_do_is_told(field: str) -> None:
    text = f"name: n\nsteps:\n- {{id: a, command: ls, foreach: [1], parallel: true, {field}}}\n"
    assert [problem.code for problem in decode_text(text).warnings] == ["parallel-loop"]
    assert decode_text(text.replace("parallel: true, ", "")).warnings == ()


def test_a_loop_without_steps_to_repeat_is_an_error() -> None:
    text = "name: r\nsteps:\n  - {id: a, foreach: [1, 2], steps: []}\n"
    (problem,) = decode_text(text).problems
    assert problem.code == "no-steps"
