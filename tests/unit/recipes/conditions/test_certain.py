"""What is said of a condition in advance holds for every value of its variables."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplihack.errors import ConditionError
from amplihack.recipes.check.conditions import inside
from amplihack.recipes.conditions import AMPLIFIER, AMPLIHACK, Compare, Rules, evaluate, parse_condition
from amplihack.recipes.conditions.certain import compared, verdict
from amplihack.recipes.conditions.rules import truthy
from amplihack.recipes.values import Value

VALUES: tuple[Value, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2.5,
    "",
    "a",
    "A",
    " a ",
    "ab",
    "true",
    "True",
    "TRUE",
    "false",
    "1",
    "1.0",
    "[]",
    [],
    ["a"],
    {},
    {"k": "a"},
)
LITERALS = (
    *("'a'", "'A'", "' a'", "'b'", "'true'", "'True'", "'TRUE'", "'yes'", "'1'", "'1.0'", "'[]'", "''"),
    *("0", "1", "-1", "2.5", "true", "false", "null", "['a', 'A']", "[1, true]", "['a', ' b']", "[]"),
)
SUBJECTS = (
    *(
        "x",
        "x",
        "x",
        "{{x}}",
        "'{{x}}'",
        "'p{{x}}'",
        "x.k",
        "len(x)",
        "bool(x)",
        "str(x)",
        "int(x)",
        "float(x)",
    ),
    *("x.lower()", "x.upper()", "x.strip()", "x.strip().lower()", "x.rstrip()", "x.lower().strip('a')"),
    *("x.split(',')", "x.count('a')", "x.find('a')", "x.startswith('a')", "x.title()", "default(x, 'a')"),
    *("x.replace('a', 'B')", "defined(x)", "max(x, 1)", "y"),
)
OPERATORS = ("==", "!=", "<", "<=", ">", ">=", "in", "not in")

comparisons = st.tuples(
    st.sampled_from(SUBJECTS + LITERALS), st.sampled_from(OPERATORS), st.sampled_from(SUBJECTS + LITERALS)
).map(" ".join)
parts = comparisons | st.sampled_from(SUBJECTS + LITERALS)
conditions = st.recursive(
    parts,
    lambda inner: (
        st.tuples(inner, st.sampled_from(("and", "or")), inner).map(lambda each: f"({' '.join(each)})")
        | inner.map(lambda each: f"not ({each})")
    ),
    max_leaves=4,
)
dialects = st.sampled_from((AMPLIHACK, AMPLIFIER))


def outcomes(text: str, rules: Rules) -> set[bool]:
    """The answers that the condition gives for many values; a value that it fails for has no say."""
    tree = parse_condition(text).tree
    found: set[bool] = set()
    for value in VALUES:
        try:
            found.add(truthy(evaluate(tree, {"x": value, "y": "a"}, rules), rules))
        except ConditionError:
            continue
    return found


@settings(max_examples=1500, deadline=None)
@given(conditions, dialects)
def test_a_verdict_is_the_answer_for_all_values(text: str, rules: Rules) -> None:
    answer = verdict(parse_condition(text).tree, rules)
    if answer is not None:
        assert outcomes(text, rules) <= {answer}


@settings(max_examples=1500, deadline=None)
@given(comparisons, dialects)
def test_a_comparison_that_cannot_hold_does_not(text: str, rules: Rules) -> None:
    for node in inside(parse_condition(text).tree):
        answer = compared(node, rules)[0] if isinstance(node, Compare) else None
        if answer is not None:
            assert outcomes(text, rules) <= {answer}


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("x == 'a' and x == 'b'", False),
        ("x == 'a' and y and x == 'b'", False),
        ("x in ['a', 'b'] and x == 'c'", False),
        ("x in ['a', 'b'] and x not in ['a', 'b', 'c']", False),
        ("x != 'a' or x != 'b'", True),
        ("x == 'a' or x != 'a'", True),
        ("x and not x", False),
        ("x or not x", True),
        ("x > 5 and x < 3", False),
        ("{{x}} == 'a' and x == 'b'", False),
        ("x.k == 'a' and x.k == 'b'", False),
        ("x.lower() == 'a' and x.lower() == 'b'", False),
        ("not (x == 'a' and x == 'b')", True),
        ("x == 'a' or 'b'", True),
        ("len(x) < 0", False),
        ("len(x) >= 0", True),
        ("0 > len(x)", False),
        ("bool(x) == 'yes'", False),
        ("bool(x) != 'yes'", True),
        ("x.lower() == 'ABC'", False),
        ("x.upper() == true", False),
        ("x.strip() == ' a'", False),
        ("'Foo' in x.lower()", False),
        ("x.split(',') == 'a'", False),
        ("x.strip() == null", False),
        ("len(x) == 1.5", False),
        ("x == ['a'] and x.strip() in 5", False),
        ("str(x) == 5 and x.count('a') == 'many'", False),
    ],
)
def test_what_is_decided_in_advance(text: str, answer: bool) -> None:
    assert verdict(parse_condition(text).tree, AMPLIHACK) is answer


@pytest.mark.parametrize(
    "text",
    [
        "x == 'a' or x == 'b'",
        "x != 'a' and x != 'b'",
        "x == '1' and x == '1.0'",
        "x == 'true' and x == 'True'",
        "x == 1 and x == '1'",
        "x > 3 and x < 5",
        "x >= 3 and x <= 3",
        "x < 3 or x >= 3",
        "bool(x) == 'true'",
        "x.lower() == 'abc'",
        "x.strip('-') == ' a'",
        "x.strip().strip('a') == ' b'",
        "len(x) == '0'",
        "len(x) > 0",
        "x.find('a') == -1",
        "float(x) == null",
        "x.lower().upper() == 'ABC'",
        "x.a == 'a' and x.b == 'b'",
        "'ok' in '{{x}}'",
    ],
)
def test_what_depends_on_the_values(text: str) -> None:
    assert verdict(parse_condition(text).tree, AMPLIHACK) is None


def test_a_number_may_be_spelt_in_capitals_in_the_dialect_that_reads_numbers_in_texts() -> None:
    tree = parse_condition("x.lower() == '1E3'").tree
    assert verdict(tree, AMPLIHACK) is False
    assert verdict(tree, AMPLIFIER) is None


def test_a_list_may_be_its_json_in_the_dialect_that_says_so() -> None:
    tree = parse_condition("x.split(',') == '[]'").tree
    assert verdict(tree, AMPLIHACK) is False
    assert verdict(tree, AMPLIFIER) is None
