"""Decide when values are true, equal, ordered or contained, with the coercions of each dialect."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeGuard

from amplihack.patterns import pattern
from amplihack.recipes.conditions.tree import Operator
from amplihack.recipes.values import Value, to_json, to_text
from amplihack.records import Record


class Rules(Record):
    """The differences between the two dialects in reading a condition."""

    false_words: frozenset[str]  # texts that count as false, in lower case
    numbers_in_text: bool  # two texts that both look like numbers compare as numbers
    containers_as_json: bool  # a list or a map meets a text as its compact JSON
    bare_texts: bool  # a bare word beside a placeholder is a text, unless a variable has this name


AMPLIHACK: Final = Rules(frozenset({""}), numbers_in_text=False, containers_as_json=False, bare_texts=False)
AMPLIFIER: Final = Rules(
    frozenset({"", "0", "0.0", "false", "none", "null"}),
    numbers_in_text=True,
    containers_as_json=True,
    bare_texts=True,
)

_DIGITS = pattern(r"[-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?")
_NOT_DIGITS = pattern(r"[-+]?(?:inf|infinity|nan)", re.IGNORECASE)
_MOST_DIGITS = 4300  # beyond this Python refuses to turn text into an exact integer
_BOOLEANS: Final = {"true": True, "True": True, "false": False, "False": False}
_LONGEST_FALSE_WORD = 5
_ORDER: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def truthy(value: Value, rules: Rules) -> bool:
    if isinstance(value, str):
        # The length check avoids lowering a text of megabytes.
        return len(value) > _LONGEST_FALSE_WORD or value.lower() not in rules.false_words
    return bool(value)


def number_in(text: str) -> int | float | None:
    """Return the number that a text spells, ignoring blanks around it, or None."""
    text = text.strip()
    if _DIGITS.fullmatch(text) is None and _NOT_DIGITS.fullmatch(text) is None:
        return None
    exact = len(text) <= _MOST_DIGITS and text.lstrip("+-").isdigit()
    return int(text) if exact else float(text)


def equal(left: Value, right: Value, rules: Rules) -> bool:
    if isinstance(left, str):
        if isinstance(right, str):
            return _texts_equal(left, right, rules)
        left, right = right, left
    return _equals_text(left, right, rules) if isinstance(right, str) else _same(left, right)


def _texts_equal(left: str, right: str, rules: Rules) -> bool:
    if left == right:
        return True
    pair = _numbers(left, right) if rules.numbers_in_text else None
    return pair is not None and pair[0] == pair[1]


def _equals_text(value: Value, text: str, rules: Rules) -> bool:
    if isinstance(value, bool):
        return _BOOLEANS.get(text) is value
    if isinstance(value, int | float):
        return value == number_in(text)
    if not rules.containers_as_json or value is None:
        return False
    return text in (to_json(value), to_json(_sorted(value)))  # the order of keys makes no difference


def _sorted(value: Value) -> Value:
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if _is_list(value) else value


def _same(left: Value, right: Value) -> bool:
    """Compare deeply without coercion; `1` and `1.0` are the same number, `1` and `true` are not."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if _is_list(left) and _is_list(right):
        return len(left) == len(right) and all(map(_same, left, right))
    return left == right


def _is_list(value: Value) -> TypeGuard[Sequence[Value]]:
    return isinstance(value, list) or (isinstance(value, Sequence) and not isinstance(value, str))


def ordered(symbol: str, left: Value, right: Value, rules: Rules) -> bool:
    """Tell whether `left < right` (or <=, >, >=) holds; false for values that have no order."""
    pair = comparable(left, right, rules)
    return pair is not None and _ORDER[symbol](*pair)


def comparable(left: Value, right: Value, rules: Rules) -> tuple[object, object] | None:
    """Return two values as objects that Python can order, or None where they have no order."""
    if isinstance(left, str) and isinstance(right, str):
        return (_numbers(left, right) if rules.numbers_in_text else None) or (left, right)
    if isinstance(left, str):
        pair = _beside_text(right, left, rules)
        return pair and (pair[1], pair[0])
    if isinstance(right, str):
        return _beside_text(left, right, rules)
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left, right  # a boolean counts as 1 or 0 here
    return None


def text_misleads(left: Value, right: Value, rules: Rules) -> bool:
    """Tell whether two texts are ordered as texts, and otherwise than the numbers that they spell."""
    if rules.numbers_in_text or not isinstance(left, str) or not isinstance(right, str):
        return False
    spelt = _numbers(left, right)
    return spelt is not None and any(order(*spelt) != order(left, right) for order in _ORDER.values())


def _beside_text(value: Value, text: str, rules: Rules) -> tuple[object, object] | None:
    """Return a value and a text as two objects that Python can order."""
    if isinstance(value, bool):
        return to_text(value), text.lower() if text in _BOOLEANS else text
    if isinstance(value, int | float):
        number = number_in(text)
        return None if number is None else (value, number)
    return (to_json(value), text) if rules.containers_as_json and value is not None else None


def _numbers(left: str, right: str) -> tuple[object, object] | None:
    """Return two texts as numbers, or None; the words `inf` and `nan` stay words here."""
    if _DIGITS.fullmatch(left.strip()) is None or _DIGITS.fullmatch(right.strip()) is None:
        return None
    return number_in(left), number_in(right)


def contains(needle: Value, haystack: Value, rules: Rules) -> bool:
    """Tell whether `needle in haystack`: part of a text, item of a list, key of a map. Null is in nothing."""
    if needle is None:
        return False
    if isinstance(haystack, str):
        return to_text(needle) in haystack
    if _is_list(haystack):
        return any(equal(needle, item, rules) for item in haystack)
    return isinstance(haystack, Mapping) and to_text(needle) in haystack


def _not_equal(left: Value, right: Value, rules: Rules) -> bool:
    return not equal(left, right, rules)


def _not_in(needle: Value, haystack: Value, rules: Rules) -> bool:
    return not contains(needle, haystack, rules)


COMPARISONS: Final[dict[Operator, Callable[[Value, Value, Rules], bool]]] = {
    "==": equal,
    "!=": _not_equal,
    "<": partial(ordered, "<"),
    "<=": partial(ordered, "<="),
    ">": partial(ordered, ">"),
    ">=": partial(ordered, ">="),
    "in": contains,
    "not in": _not_in,
}
