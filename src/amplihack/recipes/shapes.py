"""Read one field of the file by its shape: a value, or a problem that says what was expected."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from amplihack.documents import Mapping, Node, Scalar, Sequence, to_value
from amplihack.documents.durations import EXPECTED, seconds_in
from amplihack.documents.suggest import closest
from amplihack.errors import ConditionError
from amplihack.patterns import pattern
from amplihack.recipes.fields import Field, Shape
from amplihack.recipes.model import Test, Text
from amplihack.recipes.values import Value, is_number

Read: TypeAlias = "bool | int | float | str | Text | Test | tuple[str, ...] | dict[str, Value] | Node | None"

_MOST = 10**15  # of anything that is counted; larger ones do not fit into other numbers
_WHOLE = pattern(r"[0-9]+")
_MILLISECONDS = "a whole number of milliseconds, or a duration such as 5s"
_FLAGS = ("true", "false")
_WORDS = (*_FLAGS, "yes", "no", "on", "off")  # without quotes, as people write them in YAML
_DECIMAL = pattern(r"[0-9]+(\.[0-9]+)?")


class Unreadable(Exception):
    """The node does not have the field's shape; the message completes "'timeout' …"."""

    def __init__(self, why: str, offset: int = 0, fix: str = "") -> None:
        super().__init__(why)
        self.offset, self.fix = offset, fix


def read_field(node: Node, field: Field) -> Read:
    """Return the field's value; `None` when it is there but empty. Raises Unreadable."""
    if isinstance(node, Scalar) and node.absent:
        return _EMPTY.get(field.shape)
    return _READERS[field.shape](node, field)


_EMPTY: dict[Shape, Read] = {"words": (), "map": {}, "texts": {}}


def _scalar(node: Node, expected: str) -> Scalar:
    if not isinstance(node, Scalar):
        raise Unreadable(f"should be {expected}")
    return node


def _text(node: Node, _field: Field) -> Read:
    return _scalar(node, "a text").text


def _template(node: Node, _field: Field) -> Read:
    scalar = _scalar(node, "a text")
    return Text(scalar.text, scalar)


def _condition(node: Node, _field: Field) -> Read:
    from amplihack.recipes.conditions import parse_condition  # deferred: many recipes have no conditions

    scalar = _scalar(node, "a condition")
    try:
        return Test(parse_condition(scalar.text.strip()), Text(scalar.text, scalar))
    except ConditionError as error:
        indent = len(scalar.text) - len(scalar.text.lstrip())
        raise Unreadable(f"cannot be read: {error.what}", error.column + indent, error.fix) from error


def _flag(node: Node, _field: Field) -> Read:
    scalar = _scalar(node, "true or false")
    word = scalar.text.lower()
    known = _WORDS if scalar.style == "plain" else _FLAGS
    if word in known and scalar.text in (word, word.upper(), word.title()):
        return word in ("true", "yes", "on")
    raise Unreadable("should be true or false")


def _count(node: Node, _field: Field) -> Read:
    scalar = _scalar(node, "a whole number, 0 or more")
    value = scalar.value
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST:
        return value
    if scalar.style == "quoted" and _WHOLE.fullmatch(scalar.text) and len(scalar.text) < 10:
        return int(scalar.text)
    large = isinstance(value, int) and value >= _MOST
    raise Unreadable("should be a whole number, 0 or more" + (", of at most 15 digits" if large else ""))


def _number(node: Node, _field: Field) -> Read:
    scalar = _scalar(node, "a number, 0 or more")
    value = scalar.value
    if is_number(value) or (scalar.style == "quoted" and _DECIMAL.fullmatch(scalar.text)):
        number = _as_float(scalar)
        if number >= 0 and math.isfinite(number):
            return number
    raise Unreadable("should be a number, 0 or more")


def _bound(node: Node, _field: Field) -> Read:
    scalar = _scalar(node, "a number")
    if is_number(scalar.value):
        number = _as_float(scalar)
        if math.isfinite(number):
            return number
    raise Unreadable("should be a number")


def _as_float(scalar: Scalar) -> float:
    value = scalar.text if scalar.style == "quoted" else scalar.value
    try:
        return float(value) if isinstance(value, int | float | str) else math.nan
    except OverflowError:  # an integer of hundreds of digits
        return math.inf


def _duration(node: Node, field: Field) -> Read:
    scalar = _scalar(node, EXPECTED)
    if isinstance(scalar.value, int) and not isinstance(scalar.value, bool):
        return _number(node, field)  # `0x10` is one as well
    seconds = seconds_in(scalar.text)
    if seconds is None:
        raise Unreadable(f"should be {EXPECTED}")
    return seconds


def _seconds(node: Node, field: Field) -> Read:
    if isinstance(node, Scalar) and "{{" in node.text:
        return node.text
    return _duration(node, field)


def _milliseconds(node: Node, _field: Field) -> Read:
    scalar = _scalar(node, _MILLISECONDS)
    if _WHOLE.fullmatch(scalar.text) and len(scalar.text) < 10:
        return int(scalar.text)
    seconds = None if scalar.text.isdecimal() else seconds_in(scalar.text)
    if seconds is None or isinstance(scalar.value, float):
        raise Unreadable(f"should be {_MILLISECONDS}")
    return round(seconds * 1000)


def _attempts(node: Node, field: Field) -> Read:
    if isinstance(node, Scalar) and "{{" in node.text:
        return node.text
    try:
        count = _count(node, field)
    except Unreadable:
        count = 0
    if count == 0:
        raise Unreadable("should be a whole number, 1 or more")
    return count


def _words(node: Node, _field: Field) -> Read:
    if not isinstance(node, Sequence):
        raise Unreadable("should be a list, such as [a, b]")
    return tuple(_scalar(item, "a list of texts").text for item in node.items)


def _map(node: Node, _field: Field) -> Read:
    if not isinstance(node, Mapping):
        raise Unreadable("should be a map of names to values")
    return {key: to_value(item) for key, item in node}


def _texts(node: Node, _field: Field) -> Read:
    if not isinstance(node, Mapping):
        raise Unreadable("should be a map of names to texts")
    return {key: _scalar(item, "a map of names to texts").text for key, item in node}


def _choice(node: Node, field: Field) -> Read:
    expected = f"one of {', '.join(field.choices)}"
    text = _scalar(node, expected).text
    if text in field.choices:
        return text
    meant = closest(text, field.choices)
    raise Unreadable(f"should be {expected}, not '{text}'" + (f"; did you mean '{meant}'?" if meant else ""))


def _json(node: Node, field: Field) -> Read:
    if isinstance(node, Scalar) and node.text in ("first", "last"):
        return node.text
    return _flag(node, field)


def _items(node: Node, _field: Field) -> Read:
    if isinstance(node, Sequence):
        return node
    scalar = _scalar(node, "a list, or a placeholder that names one")
    return Text(scalar.text.strip(), scalar)


def _width(node: Node, field: Field) -> Read:
    if isinstance(node, Scalar):
        if node.text.lower() in _WORDS:
            return _flag(node, field)
        if "{{" in node.text:
            return node.text
        if isinstance(node.value, int) and node.value >= 1:
            return node.value
    raise Unreadable("should be true, false, or how many at once (1 or more)")


def _any(node: Node, _field: Field) -> Read:
    return node


def _table(node: Node, _field: Field) -> Read:
    if not isinstance(node, Mapping):
        raise Unreadable("should be a map with fields of its own")
    return node


_READERS: dict[Shape, Callable[[Node, Field], Read]] = {
    "text": _text,
    "template": _template,
    "condition": _condition,
    "flag": _flag,
    "count": _count,
    "number": _number,
    "bound": _bound,
    "duration": _duration,
    "seconds": _seconds,
    "milliseconds": _milliseconds,
    "attempts": _attempts,
    "words": _words,
    "map": _map,
    "texts": _texts,
    "choice": _choice,
    "json": _json,
    "items": _items,
    "width": _width,
    "any": _any,
    "table": _table,
    "tables": _any,
}
