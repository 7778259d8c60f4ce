from __future__ import annotations

from typing import Any

from amplihack.sessions.nested import get_nested, set_nested


def test_a_value_is_found_at_the_end_of_its_path() -> None:
    assert get_nested({"a": {"b": {"c": 1}}}, ["a", "b", "c"]) == 1
    assert get_nested({"a": {"b": None}}, ["a", "b"], "default") is None
    assert get_nested({"a": 1}, []) == {"a": 1}


def test_a_path_that_leads_nowhere_gives_the_default() -> None:
    assert get_nested({"a": 1}, ["a", "b"]) is None
    assert get_nested({}, ["x", "y"], default="missing") == "missing"


def test_setting_makes_the_mappings_on_the_way() -> None:
    data: dict[str, Any] = {"a": 1}
    set_nested(data, ["a", "b", "c"], "x")
    set_nested(data, ["d"], 2)
    set_nested(data, [], "nothing")
    assert data == {"a": {"b": {"c": "x"}}, "d": 2}
