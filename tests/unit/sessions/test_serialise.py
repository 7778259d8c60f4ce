from __future__ import annotations

import json
from typing import Any

from amplihack.sessions.serialise import sanitize_for_json, sanitize_message


class Opaque:
    __slots__ = ()


class Point:
    def __init__(self) -> None:
        self.x, self.y, self.label = 1, Opaque(), None


class Counting(dict[str, Any]):
    """A mapping that counts how often it is looked through."""

    looks = 0

    def items(self) -> Any:
        type(self).looks += 1
        return super().items()


def test_what_json_knows_stays_as_it_is() -> None:
    value = {"a": [1, 2.5, "x", True, {"b": []}], "c": {}}
    assert sanitize_for_json(value) == value
    assert sanitize_for_json(None) is None


def test_what_json_cannot_hold_is_left_out() -> None:
    value = {"a": Opaque(), "b": None, "c": [None, Opaque(), float("nan"), 1], "d": lambda: 1, 5: (1, 2)}
    assert sanitize_for_json(value) == {"c": [1], "5": [1, 2]}
    assert sanitize_for_json(Opaque()) is None


def test_an_object_becomes_its_attributes() -> None:
    assert sanitize_for_json([Point()]) == [{"x": 1}]


def test_an_object_without_attributes_may_dump_itself() -> None:
    class Model:
        __slots__ = ()

        def model_dump(self) -> dict[str, int]:
            return {"a": 1}

    assert sanitize_for_json(Model()) == {"a": 1}


def test_a_value_that_contains_itself_ends() -> None:
    value: dict[str, Any] = {"a": 1}
    value["self"] = [value, value]
    assert sanitize_for_json(value) == {"a": 1, "self": []}


def test_what_is_too_deep_is_cut_off() -> None:
    value: Any = "deep"
    for _ in range(100):
        value = {"in": value}
    assert "deep" not in json.dumps(sanitize_for_json(value, max_depth=10))
    assert sanitize_for_json({"a": {"b": 1}}, max_depth=1) == {}


def test_each_part_is_looked_at_once() -> None:
    value: Any = Counting()
    for _ in range(30):
        value = Counting(inner=value)
    Counting.looks = 0
    sanitize_for_json(value)
    assert Counting.looks == 31


def test_a_message_keeps_its_thinking_as_text() -> None:
    message = {"role": "assistant", "content": "x", "thinking_block": {"text": "hm"}, "content_blocks": [1]}
    assert sanitize_message(message) == {"role": "assistant", "content": "x", "thinking_text": "hm"}


def test_thinking_may_be_an_object() -> None:
    class Thinking:
        text = "hm"

    assert sanitize_message({"thinking_block": Thinking()}) == {"thinking_text": "hm"}


def test_a_message_may_be_an_object_and_what_is_none_gives_nothing() -> None:
    assert sanitize_message(Point()) == {"x": 1}
    assert sanitize_message("not a message") == {}
