"""Inputs with bounds: how large, how long, and what they look like."""

from __future__ import annotations

import pytest

from amplihack.recipes.decode import decode_text
from amplihack.recipes.inputs import input_problems, list_inputs
from amplihack.recipes.values import Value


def problems(declared: str, value: Value = None) -> list[str]:
    """What is wrong with the declaration of the input `v`, or else with its value."""
    found = decode_text(f"name: n\ninputs: {{v: {{{declared}}}}}\nsteps: [{{id: a, command: ls}}]\n")
    if found.problems:
        return [problem.what for problem in found.problems]
    return [problem.what for problem in input_problems(found.required(), {"v": value})]


@pytest.mark.parametrize(
    ("declared", "good", "bad", "wrong"),
    [
        ("type: integer, minimum: 1", (1, "7"), 0, "should be at least 1, not 0"),
        ("type: number, maximum: 2.5", (2.5, -3), 2.6, "should be at most 2.5, not 2.6"),
        ("minimum: 1, maximum: 3", (1, 3), 4, "should be at most 3, not 4"),
        ("minimum: 1", (1,), "many", 'should be a number, not "many"'),
        ("min_length: 2", ("ab", 12), "a", 'should have a length of 2 or more, not "a"'),
        ("type: list, max_length: 1", ([], ["a"]), ["a", "b"], "should have a length of 1 or less"),
        ("pattern: '^v[0-9]+$'", ("v1",), "1.0", 'should match ^v[0-9]+$, not "1.0"'),
        ("pattern: b", ("abc",), "ac", 'should match b, not "ac"'),
        ("pattern: 1", (21,), 2, "should match 1, not 2"),
    ],
)
def test_a_value_is_held_to_its_bounds(
    declared: str, good: tuple[Value, ...], bad: Value, wrong: str
) -> None:
    assert [problems(declared, value) for value in good] == [[] for _ in good]
    (found,) = problems(declared, bad)
    assert found.startswith(f"the input 'v' {wrong}")


@pytest.mark.parametrize("declared", ["minimum: 1", "pattern: x", "min_length: 3"])
def test_an_input_that_nobody_gives_is_not_held_to_them(declared: str) -> None:
    assert problems(declared) == problems(declared, "") == []


@pytest.mark.parametrize(
    ("declared", "wrong"),
    [
        ("minimum: one", "'minimum' should be a number"),
        ("maximum: true", "'maximum' should be a number"),
        ("min_length: -1", "'min_length' should be a whole number, 0 or more"),
        (
            "pattern: '['",
            "'pattern' should be a regular expression: unterminated character set at position 0",
        ),
        ("type: string, minimum: 1", "'minimum' says nothing of the type 'string'"),
        ("type: boolean, pattern: x", "'pattern' says nothing of the type 'boolean'"),
        ("minimum: 5, maximum: 3", "no value is within its bounds: 'minimum' is more than 'maximum'"),
        ("minimum: 5, default: 3", "'default' should be at least 5"),
        ("maximum: 5, enum: [3, 7]", "'enum' has 7, and the input should be at most 5"),
    ],
)
def test_bounds_that_cannot_be_kept_are_errors_of_the_file(declared: str, wrong: str) -> None:
    assert problems(declared) == [f"Input 'v': {wrong}"]


def test_help_names_the_bounds() -> None:
    text = "name: n\ninputs: {v: {minimum: 1, maximum: 5}, w: {pattern: ^a}}\nsteps: [{id: a, command: ls}]\n"
    assert list(list_inputs(decode_text(text).required())) == [
        "  v  (number, at least 1, at most 5)",
        "  w  (string, match ^a)",
    ]
