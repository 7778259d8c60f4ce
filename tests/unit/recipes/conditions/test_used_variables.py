from __future__ import annotations

import pytest

from amplihack.errors import ConditionError
from amplihack.recipes.conditions import AMPLIFIER, VariableReference, known, parse_condition, references
from amplihack.recipes.values import MISSING, KeyPath, Value


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("a", [("a",)]),
        ("true and 'x' == 1", []),
        ("a.b['c'][0]", [("a", "b", "c", "0")]),
        ("a[-1]", [("a", "-1")]),
        ("a.b[k].c", [("a", "b"), ("k",)]),
        ("a[b.c]", [("a",), ("b", "c")]),
        ("a.b.lower().c", [("a", "b")]),
        ("a or not b and c in [d, 'e']", [("a",), ("b",), ("c",), ("d",)]),
        ("len(a) > int(b.c)", [("a",), ("b", "c")]),
        ("x.replace(a, b)", [("x",), ("a",), ("b",)]),
        ("{{a.b}} == {{c[0]}}.d", [("a", "b"), ("c", "0", "d")]),
        ("'{{a.b}} and {{c}}'", [("a", "b"), ("c",)]),
        ("'{{a}}'.lower()", [("a",)]),
    ],
)
def test_every_variable_is_mentioned_with_its_constant_path(text: str, paths: list[KeyPath]) -> None:
    assert [reference.path for reference in references(parse_condition(text).tree)] == paths


def test_a_reference_knows_its_column_and_its_quotes() -> None:
    assert references(parse_condition("a.b == 'x {{c}}' or {{d}}").tree) == (
        VariableReference(("a", "b"), 0, quoted=False),
        VariableReference(("c",), 10, quoted=True),
        VariableReference(("d",), 20, quoted=False),
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", True), ("1 == 1.0", True), ("len('abc')", 3), ("'a' in ['b']", False), ("null", None)],
)
def test_an_expression_without_variables_is_known(text: str, value: Value) -> None:
    assert known(parse_condition(text).tree) == value


@pytest.mark.parametrize("text", ["a", "true or a", "'{{a}}'", "{{a}}", "len(a.b)"])
def test_an_expression_with_variables_is_not_known(text: str) -> None:
    assert known(parse_condition(text).tree) is MISSING


def test_what_is_known_follows_the_rules() -> None:
    assert known(parse_condition("'1.0' == '1'").tree, AMPLIFIER) is True


def test_a_constant_that_can_only_fail_says_so() -> None:
    with pytest.raises(ConditionError, match="cannot convert"):
        known(parse_condition("int('x') == 1").tree)
