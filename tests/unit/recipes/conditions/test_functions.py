from __future__ import annotations

import math

import pytest

from amplihack.errors import ConditionError
from amplihack.recipes.conditions import evaluate, parse_condition
from amplihack.recipes.values import Value

SCOPE: dict[str, Value] = {
    "n": None,
    "yes": True,
    "five": 5,
    "pi": 3.7,
    "endless": math.inf,
    "items": [1, 2, 3],
    "obj": {"b": 1, "a": [True, None]},
    "s": "héllo",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int(5)", 5),
        ("int(five)", 5),
        ("int(3.7)", 3),
        ("int(-3.7)", -3),
        ("int(' 42 ')", 42),
        ("int('-7')", -7),
        ("int('+7')", 7),
        ("int(yes)", 1),
        ("int(false)", 0),
        ("int(n)", 0),
        ("int(items)", 0),
        ("int()", 0),
        ("int(5, 'extra')", 5),
        ("int (5)", 5),
        ("float(5)", 5.0),
        ("float(' 1.5 ')", 1.5),
        ("float('.5')", 0.5),
        ("float('1e3')", 1000.0),
        ("float('inf')", None),
        ("float('-Infinity')", None),
        ("float('nan')", None),
        ("float('1e400')", None),
        ("float(endless)", None),
        ("float(yes)", 1.0),
        ("float(n)", 0.0),
        ("float(obj)", 0.0),
        ("float()", 0.0),
        ("str(42)", "42"),
        ("str(five)", "5"),
        ("str(5.0)", "5.0"),
        ("str(yes)", "true"),
        ("str(n)", ""),
        ("str()", ""),
        ("str(items)", "[1,2,3]"),
        ("str(obj)", '{"b":1,"a":[true,null]}'),
        ("str(s)", "héllo"),
        ("bool(five)", True),
        ("bool('')", False),
        ("bool('false')", True),
        ("bool()", False),
        ("len(s)", 5),
        ("len(items)", 3),
        ("len(obj)", 2),
        ("len(n)", 0),
        ("len(five)", 0),
        ("len()", 0),
        ("min(3, 1, 2)", 1),
        ("max(3, 10, 2)", 10),
        ("max('b', 'a')", "b"),
        ("min(1, n)", 1),
        ("max(n, 1)", None),
        ("max(1, '2',)", "2"),
        ("min(items[0], obj.b)", 1),
        ("any(items)", True),
        ("any([0, '', null])", False),
        ("any([])", False),
        ("any(0, five)", True),
        ("any(n)", False),
        ("all(items)", True),
        ("all([1, 0])", False),
        ("all([])", True),
        ("all(five, yes, 0)", False),
        ("all((five == 5), (five > 4))", True),
        ("all(n)", False),
        ("default(missing, 'x')", "x"),
        ("default(n, 'x')", "x"),
        ("default('', 'x')", ""),
        ("default(five, int('zz'))", 5),
        ("default(obj.c, 0)", 0),
        ("default({{missing}}, 1)", 1),
        ("defined(five)", True),
        ("defined(n)", True),
        ("defined(missing)", False),
        ("defined(obj.a)", True),
        ("defined(obj.c)", False),
        ("defined(items[2])", True),
        ("defined(items[3])", False),
        ("defined({{obj.c}})", False),
        ("defined('{{missing}}')", False),
        ("defined('{{n}}')", True),
        ("defined('text')", True),
    ],
)
def test_a_function_returns(text: str, expected: Value) -> None:
    value = evaluate(parse_condition(text).tree, SCOPE)
    assert (value, type(value)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int('3.7')", "cannot convert '3.7' to int"),
        ("int('')", "cannot convert '' to int"),
        ("int('1_000')", "cannot convert '1_000' to int"),
        ("int(endless)", "cannot convert 'inf' to int"),
        ("float('abc')", "cannot convert 'abc' to float"),
        (f"int('{'é' * 60}')", f"cannot convert '{'é' * 25}' to int"),
    ],
)
def test_a_text_that_is_no_number_is_an_error(text: str, message: str) -> None:
    with pytest.raises(ConditionError) as caught:
        evaluate(parse_condition(text).tree, SCOPE)
    assert caught.value.what == message


@pytest.mark.parametrize("name", ["min", "max", "default"])
def test_a_function_of_two_arguments_needs_both(name: str) -> None:
    with pytest.raises(ConditionError, match=rf"{name}\(\) needs at least 2 arguments"):
        parse_condition(f"{name}(a)")


def test_calls_inside_calls_cannot_fill_the_memory() -> None:
    text = "x"
    for _ in range(30):
        text = f"str({text}.split(''))"
    with pytest.raises(ConditionError, match=r"the list would have \d+ items"):
        evaluate(parse_condition(text).tree, {"x": "abc"})
