from __future__ import annotations

import pytest

from amplihack.errors import ConditionError
from amplihack.recipes.conditions import evaluate, parse_condition
from amplihack.recipes.values import Value

SCOPE: dict[str, Value] = {
    "s": "  Hello World  ",
    "w": "banana",
    "n": None,
    "five": 5,
    "half": 0.5,
    "yes": True,
    "items": ["a", 1, None, True],
    "obj": {"k": "v", "null": None, "0": "zero"},
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s.strip()", "Hello World"),
        ("s.lstrip()", "Hello World  "),
        ("s.rstrip()", "  Hello World"),
        ("'\u2003x\u00a0'.strip()", "x"),
        ("'xxaxx'.strip('x')", "a"),
        ("'xxaxx'.lstrip('x')", "axx"),
        ("'xxaxx'.rstrip('x')", "xxa"),
        ("'515'.strip(5)", "1"),
        ("s.strip(n)", "Hello World"),
        ("s.strip().lower().replace('world', 'there')", "hello there"),
        ("'ÀÉ'.lower()", "àé"),
        ("'straße'.upper()", "STRASSE"),
        ('"it\'s  a\\tTEST".title()', "It's A Test"),
        ("''.title()", ""),
        ("w.startswith('ban')", True),
        ("w.startswith('x')", False),
        ("'1st'.startswith(1)", True),
        ("'2nd'.startswith(1)", False),
        ("w.startswith('')", True),
        ("w.startswith(n)", False),
        ("w.endswith('na')", True),
        ("w.endswith('x')", False),
        ("w.endswith(missing)", False),
        ("w.replace('a', 'o')", "bonono"),
        ("w.replace('a', 'o', 1)", "bonana"),
        ("w.replace('a')", "bnn"),
        ("w.replace()", "banana"),
        ("w.replace(n, 'x')", "banana"),
        ("'ab'.replace('', '-')", "-a-b-"),
        ("'a1'.replace(1, 2)", "a2"),
        ("'a,b,c'.split(',')", ["a", "b", "c"]),
        ("' a  b '.split()", ["a", "b"]),
        ("' a  b '.split(null)", ["a", "b"]),
        ("'a1b'.split(1)", ["a", "b"]),
        ("'ab'.split('')", ["", "a", "b", ""]),
        ("len(w.split('a'))", 4),
        ("','.join(items)", "a,1,,true"),
        ("','.join('abc')", ""),
        ("','.join(n)", ""),
        ("','.join([w, five])", "banana,5"),
        ("w.count('an')", 2),
        ("w.count('')", 7),
        ("w.count(n)", 0),
        ("'5a5'.count(5)", 2),
        ("w.find('na')", 2),
        ("w.find('x')", -1),
        ("w.find(n)", -1),
        ("'éa'.find('a')", 1),
        ("five.strip()", "5"),
        ("half.strip()", "0.5"),
        ("5 .lower()", "5"),
        ("yes.upper()", "TRUE"),
        ("n.strip()", ""),
        ("missing.lower()", ""),
        ("obj.k.upper()", "V"),
        ("obj['k'].upper()", "V"),
        ("{{obj.k}}.upper()", "V"),
        ("'<{{w}}>'.upper()", "<BANANA>"),
        ("obj.get('k')", "v"),
        ("obj.get('x')", None),
        ("obj.get('x', 'd')", "d"),
        ("obj.get('null', 'd')", None),
        ("obj.get(0)", "zero"),
        ("items.get(0)", "a"),
        ("items.get(9, 'd')", "d"),
        ("missing.get('k', 'd')", "d"),
        ("five.get('k', 'd')", "d"),
        ("w.contains('nan')", True),
        ("w.contains(n)", False),
        ("items.contains('a')", True),
        ("items.contains('z')", False),
        ("obj.contains('k')", True),
        ("five.contains(5)", True),
        ("missing.contains('')", True),
    ],
)
def test_a_method_returns(text: str, expected: Value) -> None:
    value = evaluate(parse_condition(text).tree, SCOPE)
    assert (value, type(value)) == (expected, type(expected))


@pytest.mark.parametrize(("receiver", "kind"), [("items", "array"), ("obj", "object"), ("['a']", "array")])
def test_text_methods_refuse_lists_and_maps(receiver: str, kind: str) -> None:
    with pytest.raises(ConditionError) as caught:
        evaluate(parse_condition(f"{receiver}.strip()").tree, SCOPE)
    assert caught.value.what == (
        f"method '.strip()' can only be called on strings, numbers, booleans, or null; got {kind}"
    )


@pytest.mark.parametrize("method", ["startswith", "endswith", "contains", "get", "join", "count", "find"])
def test_a_method_that_searches_needs_something_to_search_for(method: str) -> None:
    with pytest.raises(ConditionError, match=rf"\.{method}\(\) needs at least 1 argument$"):
        parse_condition(f"s.{method}()")


@pytest.mark.parametrize("text", ["x" + ".replace('', x)" * 20, "x.join(" * 25 + "x" + ".split(''))" * 25])
def test_texts_cannot_multiply_without_end(text: str) -> None:
    with pytest.raises(ConditionError, match="characters long"):
        evaluate(parse_condition(text).tree, {"x": "abcdefghij" * 10})


def test_a_long_text_may_still_shrink() -> None:
    condition = parse_condition("x.replace('a', '').strip() == 'b'")
    assert evaluate(condition.tree, {"x": "a" * (1 << 25) + "b"}) is True
