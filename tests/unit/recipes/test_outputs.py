"""From printed text to stored values, and JSON found in prose."""

from __future__ import annotations

import pytest

from amplihack.recipes.outputs import find_json, stored_value
from amplihack.recipes.values import MISSING, Value

FENCE = "```"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-5", -5),
        ("1.5", 1.5),
        ("true", True),
        ("null", None),
        ('{"a": 1}', {"a": 1}),
        ("[1]", [1]),
        ('"x"', "x"),
        ('"a\\nb"', "a\nb"),
        ("1.10", "1.10"),
        ("4e5", "4e5"),
        ("007", "007"),
        ("", ""),
        ("True", "True"),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("1e999", "1e999"),
        ("NaN", "NaN"),
        ("0x1f", "0x1f"),
        ("3e12345", "3e12345"),
        ('"open', '"open'),
        ('"', '"'),
        ("-0", "-0"),
        ("1 2", "1 2"),
    ],
)
def test_a_value_is_typed_only_where_nothing_is_lost(text: str, value: Value) -> None:
    found = stored_value(text, keep_text=False)
    assert (found, type(found)) == (value, type(value))
    assert stored_value(text, keep_text=True) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        (" 42 ", 42),
        (f'Sure:\n{FENCE}json\n{{"a": 1}}\n{FENCE}\nbye', {"a": 1}),
        (f"{FENCE}\n[1, 2]\n{FENCE}", [1, 2]),
        (f'{FENCE}json\nnot\n{FENCE} then {FENCE}json\n{{"b": 2}}\n{FENCE}', {"b": 2}),
        (f'{FENCE}text\n{{"plain": 1}}\n{FENCE}\n{FENCE}json\n{{"labelled": 1}}\n{FENCE}', {"labelled": 1}),
        (f'{FENCE}yaml\na: 1\n{FENCE}\nand {{"a": 2}}', {"a": 2}),
        ('pre {bad} post {"a": 1}', {"a": 1}),
        ('say "hi {" {"a": 1}', {"a": 1}),
        ('[1, 2] then {"a": 1}', {"a": 1}),
        ('x {"s": "}\\"{"} y', {"s": '}"{'}),
        ('{} then {"a": 1}', {"a": 1}),
        ("nothing but {} here", {}),
        ("list [1, [2]] end", [1, [2]]),
        ('{"a": 1} {"a": 2}', {"a": 1}),
        ('Here: [{"a": 1}, {"a": 2}] done', [{"a": 1}, {"a": 2}]),
        ('see [1] and {bad}: [[{"a": 1}]]', [[{"a": 1}]]),
    ],
)
def test_json_is_found_in_an_answer(text: str, value: Value) -> None:
    assert find_json(text) == value


def test_the_last_json_can_be_picked() -> None:
    assert find_json('{"a": 1} then {"a": 2}', "last") == {"a": 2}


@pytest.mark.parametrize("text", ["", "no", "{", "[1,", "{NaN}", "[" * 5000, "{" * 5000, '{"a":' * 3000])
def test_what_is_no_json_is_missing(text: str) -> None:
    assert find_json(text) is MISSING


def test_abysmally_nested_json_stays_text() -> None:
    deep = "[" * 600 + "1" + "]" * 600
    assert stored_value(deep, keep_text=False) == deep
    assert find_json(f"{{bad {deep}") != deep
