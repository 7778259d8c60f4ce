from __future__ import annotations

import json

import pytest

from amplihack.recipes.decode import decode_text
from amplihack.recipes.explain import describe, explain


def lines(text: str) -> list[str]:
    return explain(decode_text(text).required()).split("\n")


def line_of(fields: str) -> str:
    return lines(f"name: n\nsteps: [{{id: a, {fields}}}]")[-1]


def test_the_whole_plan() -> None:
    text = """\
name: demo
description: |
  Shows a plan.
version: 1.10
author: me
tags: [x, y]
context: {b: {z: 1, a: "é"}, n: 1.0}
hooks: {pre_step: "echo {{a}}"}
inputs: [{name: needed}]
steps:
- {id: first, command: ls, output: files}
- {id: second, prompt: p, condition: files != '', output: o, parse_json: true, continue_on_error: true}
- {id: third, recipe: r}
"""
    assert lines(text) == [
        "Recipe: demo (v1.10)",
        "Description: Shows a plan.",
        "Author: me",
        "Tags: x, y",
        "Recursion: max_depth=6, max_total_steps=200",
        "Hook pre_step: echo {{a}}",
        "",
        "Context defaults:",
        '  b: {"z":1,"a":"é"}',
        "  n: 1.0",
        "",
        "Expects from the caller: needed",
        "",
        "Steps (3):",
        "    1. [bash  ] first → files",
        "    2. [agent ] second [if files != ''] → o (parse_json) (continue_on_error)",
        "    3. [recipe] third runs r",
    ]


def test_a_bare_recipe_says_no_more_than_it_knows() -> None:
    assert lines("name: n\nrecursion: {max_depth: 0}\nsteps: [{id: a, command: ls}]") == [
        "Recipe: n (v1.0.0)",
        "Recursion: max_depth=0, max_total_steps=200",
        "",
        "Steps (1):",
        "    1. [bash  ] a",
    ]


def test_numbers_are_aligned_in_three_columns() -> None:
    steps = "".join(f"- {{id: s{n}, command: ls}}\n" for n in range(100))
    found = lines(f"name: n\nsteps:\n{steps}")
    assert found[-100:][0] == "    1. [bash  ] s0"
    assert found[-1] == "  100. [bash  ] s99"


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ("command: ls, foreach: '{{xs}}', as: x", "    1. [bash  ] a for each x of {{xs}}"),
        ("command: ls, foreach: [1, b]", '    1. [bash  ] a for each item of [1,"b"]'),
        ("command: ls, foreach: [1], parallel: true", "    1. [bash  ] a for each item of [1] at once"),
        ("command: ls, foreach: [1], parallel: 2", "    1. [bash  ] a for each item of [1], 2 at once"),
        ("command: ls, while_condition: x", "    1. [bash  ] a while x"),
        ("command: ls, parallel_group: g", "    1. [bash  ] a ∥ g"),
        ("command: ls, parse_json_required: true", "    1. [bash  ] a (parse_json, required)"),
        ("command: ls, on_error: skip_remaining", "    1. [bash  ] a (on_error: skip_remaining)"),
        ("command: ls, when_tags: [x, y]", "    1. [bash  ] a (tags: x, y)"),
        ("command: ls, timeout: 90", "    1. [bash  ] a (timeout 90 s)"),
        ("command: ls, timeout: '{{t}}'", "    1. [bash  ] a (timeout {{t}})"),
        ("command: ls, timeout: 0", "    1. [bash  ] a"),
        ("command: ls, retry: {max_attempts: 5}", "    1. [bash  ] a (up to 5 attempts)"),
        ("command: ls, retry: {}", "    1. [bash  ] a (up to 3 attempts)"),
        ('command: ls, condition: "a\\nand b"', "    1. [bash  ] a [if a and b]"),
    ],
)
def test_the_line_of_a_step(fields: str, line: str) -> None:
    assert line_of(fields) == line


def test_a_long_condition_is_cut() -> None:
    assert len(line_of(f"command: ls, condition: {' and '.join(['name'] * 60)}")) < 140


def test_stages_gates_and_bodies_are_shown_in_order() -> None:
    text = """\
name: n
stages:
- name: one
  condition: x
  approval: {required: true, when: before, prompt: "go?"}
  steps:
  - id: l
    foreach: [1]
    steps: [{id: b, command: ls}, {id: c, while_condition: x, steps: [{id: d, command: ls}]}]
- name: two
  approval: {required: true, prompt: "fine?"}
  steps: [{id: e, command: ls}]
"""
    assert lines(text)[3:] == [
        "Steps (2):",
        "  stage one [if x]",
        "       ⏸ a person decides: go?",
        "    1. [group ] l for each item of [1]",
        "       - [bash  ] b",
        "       - [group ] c while x",
        "         - [bash  ] d",
        "  stage two",
        "    2. [bash  ] e",
        "       ⏸ a person decides: fine?",
    ]


def test_the_plan_as_data_is_json_with_the_same_steps() -> None:
    loop = "{id: l, foreach: [1], steps: [{id: b, command: ls}]}"
    text = f"name: n\nsteps:\n- {{id: a, recipe: r, output: o}}\n- {loop}\n"
    data = json.loads(json.dumps(describe(decode_text(text).required())))
    (stage,) = data["stages"]
    first, second = stage["steps"]
    assert (first["id"], first["type"], first["line"], first["recipe"], first["output"]) == (
        "a",
        "recipe",
        3,
        "r",
        "o",
    )
    assert [inner["id"] for inner in second["steps"]] == ["b"]
    assert data["dialect"] in ("amplihack", "amplifier")


def test_the_batches_of_a_group_are_told_apart() -> None:
    steps = (
        "- {id: a, parallel_group: g, command: ls}\n- {id: b, parallel_group: g, command: ls}\n"
        "- {id: c, parallel_group: g, depends_on: [b], command: ls}\n- {id: d, command: ls}\n"
        "- {id: e, parallel_group: h, command: ls}\n- {id: f, parallel_group: h, command: ls}\n"
    )
    text = f"name: n\nsteps:\n{steps}"
    assert [line[16:] for line in lines(text)[-6:]] == [
        "a ∥ g (batch 1 of 2)",
        "b ∥ g (batch 1 of 2)",
        "c ∥ g (batch 2 of 2)",
        "d",
        "e ∥ h",
        "f ∥ h",
    ]
    (stage,) = describe(decode_text(text).required())["stages"]
    assert [step["runs_with"] for step in stage["steps"]] == [["b"], ["a"], [], [], ["f"], ["e"]]


def test_passwords_in_addresses_are_not_shown() -> None:
    text = "name: n\ncontext: {u: ['https://me:word@example.org/x']}\nsteps: [{id: a, command: ls}]\n"
    assert '  u: ["https://***@example.org/x"]' in lines(text)
    assert "word" not in json.dumps(describe(decode_text(text).required()))
