from __future__ import annotations

import pytest

from amplihack.recipes.values import (
    MISSING,
    Value,
    from_json,
    lookup,
    member,
    tail,
    to_json,
    to_text,
    truncate,
    typed,
)

SCOPE: dict[str, Value] = {"a": {"b": [1, {"c": None}]}, "s": "text", "-": 0}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("a", "b", "0"), 1),
        (("a", "b", "-1", "c"), None),
        (("a", "b", "-2"), 1),
        (("s",), "text"),
        (("-",), 0),
        (("gone",), MISSING),
        (("a", "gone", "x"), MISSING),
        (("a", "b", "2"), MISSING),
        (("a", "b", "-3"), MISSING),
        (("a", "b", "x"), MISSING),
        (("a", "b", "1", "c", "d"), MISSING),
        (("s", "0"), MISSING),
        (("a", "b", "9" * 5000), MISSING),
        (("a", "b", "٠"), MISSING),
    ],
)
def test_a_path_leads_to_a_value_or_nowhere(path: tuple[str, ...], value: object) -> None:
    assert lookup(SCOPE, path) is value or lookup(SCOPE, path) == value


def test_what_is_missing_has_no_members() -> None:
    assert member(MISSING, "a") is MISSING
    assert repr(MISSING) == "MISSING"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""), (True, "true"), (5, "5"), (5.0, "5.0"), (1.5, "1.5"), (1e21, "1e+21"),
        ("it's", "it's"), ("", ""),
        ([1, "x", None], '[1,"x",null]'), ({"b": 2, "a": [True]}, '{"b":2,"a":[true]}'),
        ({"k": "é🦀"}, '{"k":"é🦀"}'),
        ([float("nan"), float("inf")], "[null,null]"), ((1, 2), "[1,2]"), ([], "[]"), (2**70, str(2**70)),
    ],
)  # fmt: skip
def test_values_read_as_compact_json(value: Value, text: str) -> None:
    assert to_text(value) == text


def test_what_is_missing_reads_as_nothing() -> None:
    assert to_text(MISSING) == ""


@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", "-Infinity", "1e400", "[1,]", "{'a': 1}", "// c\n1", "", "1 2", "1" * 5000]
)
def test_json_is_strict(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_json(text)


def test_of_two_equal_keys_in_json_the_last_wins() -> None:
    assert from_json('{"a": 1, "a": 2}') == {"a": 2}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True), ("false", False), ("null", None), ("42", 42), (" 42\n", 42), ("-1", -1), ("1.5", 1.5),
        ('{"a": 1}', {"a": 1}), ("[1, 2]", [1, 2]), (str(2**64), 2**64),
    ],
)  # fmt: skip
def test_text_that_stands_for_a_value_becomes_it(text: str, value: Value) -> None:
    found = typed(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "1.10",
        "4e5",
        "007",
        "+1",
        "-0",
        "1_000",
        "0x1f",
        '"quoted"',
        "yes",
        "True",
        "",
        " ",
        "1e400",
        "9" * 5000,
        "[" * 100_000,
    ],
)
def test_text_that_would_lose_something_stays_text(text: str) -> None:
    assert typed(text) == text
    assert isinstance(typed(text), str)


@pytest.mark.parametrize(
    ("limit", "start", "end"),
    [
        *((limit, "", "") for limit in (-1, 0, 3)),
        *((limit, "🦀", "🦀") for limit in (4, 5, 7)),
        (8, "🦀🦀", "🦀🦀"),
        *((limit, "🦀🦀🦀", "🦀🦀🦀") for limit in (12, 99)),
    ],
)
def test_texts_are_cut_between_characters(limit: int, start: str, end: str) -> None:
    assert truncate("🦀🦀🦀", limit) == start
    assert tail("🦀🦀🦀", limit) == end


def test_half_a_surrogate_pair_is_cut_like_any_character() -> None:
    assert truncate("a\ud800b", 4) == "a\ud800"
    assert tail("a\udc80b", 4) == "\udc80b"


def test_json_keeps_the_order_of_lists_and_keys_at_every_depth() -> None:
    assert to_json({"z": [{"b": 1, "a": 2}], "a": 0}) == '{"z":[{"b":1,"a":2}],"a":0}'
