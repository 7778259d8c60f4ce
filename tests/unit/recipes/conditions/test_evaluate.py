"""What conditions mean: operators, names, paths, placeholders."""

from __future__ import annotations

import sys

import pytest

from amplihack.errors import ConditionError
from amplihack.recipes.conditions import Condition, evaluate, holds, parse_condition
from amplihack.recipes.values import Value

SCOPE: dict[str, Value] = {
    "a": True,
    "b": False,
    "c": False,
    "s": "hello",
    "n": 5,
    "text_number": "5",
    "my-var": "dashed",
    "in-flight": True,
    "in_progress": True,
    "v": "x",
    "out": "done, ok=true",
    "k": "deep",
    "i": 1,
    "whole": 1.0,
    "fraction": 0.5,
    "items": ["p", "q", "r"],
    "obj": {"deep": {"z": "end"}, "True": "kept", "in": 1, "my-key": 2, "0": "zero", "null": None},
    "one": 1,
    "task_type": "Development",
    "workstream_count": 1,
    "force_single_workstream": True,
}

CASES = [
    # operators
    ("a and b", False),
    ("a and a and a", True),
    ("a or b", True),
    ("b || a", True),
    ("a && b", False),
    ("not b", True),
    ("!b", True),
    ("!!a", True),
    ("not not a", True),
    ("not a == b", True),
    ("b or a and b", False),
    ("(b or a) and a", True),
    ("(a and b) or (not c and not a)", False),
    ("((((a))))", True),
    ("a\n  and\n\tnot b\r\n", True),
    ("a or int('zz')", True),
    ("b and int('zz')", False),
    # parentheses keep the value
    ("(n) == 5", True),
    ("(s) == 'hello'", True),
    ("(s).upper() == 'HELLO'", True),
    ("(a or b) == true", True),
    # names and literals
    ("my-var == 'dashed'", True),
    ("not in-flight", False),
    ("not in_progress", False),
    ("s not\tin ['x']", True),
    ("s not \n in ['hello']", False),
    ("exec", False),
    ("eval", False),
    ("TRUE", False),
    ("NULL", False),
    ("1e3 == 1000", True),
    (".5 == 0.5", True),
    ("+5 == n", True),
    ("-1 < 0", True),
    ("5. == n", True),
    ("999999999 > 0", True),
    ("1.5e-1 == 0.15", True),
    ("'it\\'s' == \"it's\"", True),
    ("len('a\\nb') == 3", True),
    ("'\\q' == 'q'", True),
    ("'\\\\' == \"\\\\\"", True),
    # paths
    ("obj.deep.z == 'end'", True),
    ("obj['deep']['z'] == 'end'", True),
    ("obj.True == 'kept'", True),
    ("obj.in == 1", True),
    ("obj.my-key == 2", True),
    ("obj[0] == 'zero'", True),
    ("obj.null == null", True),
    ("obj.missing.deeper == null", True),
    ("s.key == null", True),
    ("obj.lower == null", True),
    ("items[0] == 'p'", True),
    ("items.0 == 'p'", True),
    ("items[9] == null", True),
    ("items[-1] == 'r'", True),
    ("items[-9] == null", True),
    ("items[i] == 'q'", True),
    ("items[whole] == 'q'", True),
    ("items[text_number] == null", True),
    ("items[missing] == null", True),
    ("items[a] == null", True),
    ("obj[k].z == 'end'", True),
    ("obj[items[0]] == null", True),
    ("s[0] == 'h'", True),
    ("s[-1] == 'o'", True),
    ("s[99] == null", True),
    ("['x', 'y'][1] == 'y'", True),
    ("obj.missing > 0", False),
    # lists
    ("s in ['hello', items]", True),
    ("'q' in [items[1], obj.deep]", True),
    ("[] == [[]]", False),
    # placeholders
    ("{{v}} == 'x'", True),
    ("{{ v }} == 'x'", True),
    ("{{n}} == 5", True),
    ("{{obj.deep.z}} == 'end'", True),
    ("{{items[0]}} == 'p'", True),
    ("{{items.0}} == 'p'", True),
    ("{{obj['deep']}}.z == 'end'", True),
    ('{{obj["my-key"]}} == 2', True),
    ("{{my-var}} == 'dashed'", True),
    ("{{missing}} == null", True),
    ("not {{missing}}", True),
    ("'{{v}}' == 'x'", True),
    ("'{{missing}}' == ''", True),
    ("'{{n}}' == '5'", True),
    ("int('{{n}}') == 5", True),
    ("'ok=true' in '{{out}}'", True),
    ("'<{{v}}-{{n}}>' == '<x-5>'", True),
    ('\'{{items}}\' == \'["p","q","r"]\'', True),
    ("'{{a}}' == 'true'", True),
    ("len('\\{{v}}') == 5", True),
    ("len('{{.v}}') == 6", True),
    ("len('{{v|upper}}') == 11", True),
    ("len('{{#if v}}') == 9", True),
    ("len('${{v}}') == 6", True),
    ("'{{{v}}}' == '{x}'", True),
    # conditions as recipes write them
    (
        "'Development' in task_type and ((workstream_count.strip() == '1') or workstream_count == 1)",
        True,
    ),
    ("force_single_workstream == 'true'", True),
    ("force_single_workstream != 'true' and a", False),
    ("one.strip().lower() == '1'", True),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_a_condition_means_what_it_says(text: str, expected: bool) -> None:
    assert holds(parse_condition(text), SCOPE) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n", 5),
        ("(s)", "hello"),
        ("1", 1),
        ("a and s", True),
        ("[n, [s]]", [5, ["hello"]]),
        ("missing", None),
    ],
)
def test_an_expression_keeps_the_kind_of_its_value(text: str, expected: Value) -> None:
    value = evaluate(parse_condition(text).tree, SCOPE)
    assert (value, type(value)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("text", "column", "phrase"),
    [
        ("a and int('zz')", 6, "cannot convert 'zz' to int"),
        ("items[fraction]", 6, "an index must be a whole number, not 0.5"),
        ("b or items.lower()", 11, "got array"),
    ],
)
def test_a_failing_call_points_at_itself(text: str, column: int, phrase: str) -> None:
    with pytest.raises(ConditionError) as caught:
        holds(parse_condition(text), SCOPE)
    assert caught.value.column == column
    assert phrase in caught.value.what


@pytest.mark.parametrize(
    "hostile", ["' or true or '", "x' == 'x", "{{a}}", "true", "\\", "\n", "') or int('1"]
)
def test_a_value_is_never_read_as_a_condition(hostile: str) -> None:
    condition = parse_condition("'{{value}}' == 'expected' or 'y{{value}}' == 'z' or {{value}} == 'expected'")
    assert holds(condition, {"value": hostile, "a": True}) is False


def test_a_long_chain_is_walked_and_not_climbed() -> None:
    chain = " or ".join(f"x == 'v{number}'" for number in range(500))
    condition = parse_condition(chain)
    assert holds(condition, {"x": "v499"}) is True
    assert holds(condition, {"x": "v500"}) is False


@pytest.mark.parametrize("text", ["x == y", "x == '{{x}}'", "'{{x}}'", "'a' in [str(x)]", "x in [y]"])
def test_a_bottomless_value_is_a_condition_error(text: str) -> None:
    condition = parse_condition(text)
    with pytest.raises(ConditionError, match="nested too deeply"):
        holds(condition, {"x": _nested(100_000), "y": _nested(100_000)})


def _nested(levels: int) -> Value:
    value: Value = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("text", ["str(x) == '1'", "'{{x}}' == '1'", "x in '1'", "x.lower() == '1'", "q[x]"])
def test_an_integer_too_long_to_print_is_a_condition_error(text: str) -> None:
    huge = 10 ** (sys.get_int_max_str_digits() + 1)
    with pytest.raises(ConditionError, match="digits"):
        holds(parse_condition(text), {"x": huge, "q": []})


def test_a_huge_integer_still_compares() -> None:
    assert holds(parse_condition("x > 1.5 and x > '7' and float(x) == null"), {"x": 10**5000}) is True


def test_a_condition_remembers_its_text() -> None:
    assert parse_condition(" a ") == Condition(" a ", parse_condition("a").tree)
