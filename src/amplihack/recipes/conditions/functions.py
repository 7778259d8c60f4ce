"""Implement the functions of conditions. Each raises ValueError for values that it does not accept."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from amplihack.patterns import pattern
from amplihack.recipes.conditions.rules import Rules, number_in, ordered, truthy
from amplihack.recipes.values import Value, to_text

Function: TypeAlias = Callable[[Sequence[Value], Rules], Value]

# Calls inside calls could otherwise multiply a text without end.
MOST_TEXT: Final = 1 << 24  # characters
MOST_ITEMS: Final = 1 << 20

_INTEGER = pattern(r"[-+]?[0-9]+")


def check_text(size: int) -> None:
    """Refuse to build a text longer than MOST_TEXT."""
    if size > MOST_TEXT:
        raise ValueError(f"the text would be {size} characters long (max {MOST_TEXT})")


def check_items(count: int) -> None:
    if count > MOST_ITEMS:
        raise ValueError(f"the list would have {count} items (max {MOST_ITEMS})")


def first(arguments: Sequence[Value]) -> Value:
    return arguments[0] if arguments else None


def _int(arguments: Sequence[Value], _: Rules) -> Value:
    value = first(arguments)
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()) is None:
        raise ValueError(f"cannot convert '{_beginning(value)}' to int")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"cannot convert '{value}' to int")
    return int(value) if isinstance(value, str | int | float) else 0


def _float(arguments: Sequence[Value], _: Rules) -> Value:
    value = first(arguments)
    number = number_in(value) if isinstance(value, str) else value
    if isinstance(value, str) and number is None:
        raise ValueError(f"cannot convert '{_beginning(value)}' to float")
    if not isinstance(number, int | float):
        return 0.0
    try:
        number = float(number)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _beginning(text: str) -> str:
    return text.encode("utf-8", "replace")[:50].decode("utf-8", "ignore")


def _str(arguments: Sequence[Value], _: Rules) -> Value:
    value = first(arguments)
    text = to_text(value)
    if not isinstance(value, str):
        check_text(len(text))
    return text


def _bool(arguments: Sequence[Value], rules: Rules) -> Value:
    return truthy(first(arguments), rules)


def _len(arguments: Sequence[Value], _: Rules) -> Value:
    value = first(arguments)
    return len(value) if isinstance(value, Sequence | Mapping) else 0


def _min(arguments: Sequence[Value], rules: Rules) -> Value:
    return _best("<", arguments, rules)


def _max(arguments: Sequence[Value], rules: Rules) -> Value:
    return _best(">", arguments, rules)


def _best(symbol: str, arguments: Sequence[Value], rules: Rules) -> Value:
    best = arguments[0]
    for value in arguments[1:]:
        if ordered(symbol, value, best, rules):
            best = value
    return best


def _any(arguments: Sequence[Value], rules: Rules) -> Value:
    return any(truthy(item, rules) for item in _spread(arguments))


def _all(arguments: Sequence[Value], rules: Rules) -> Value:
    return all(truthy(item, rules) for item in _spread(arguments))


def _spread(arguments: Sequence[Value]) -> Sequence[Value]:
    """Return the items of a single list argument, otherwise the arguments themselves."""
    only = arguments[0] if len(arguments) == 1 else None
    return only if isinstance(only, Sequence) and not isinstance(only, str) else arguments


FUNCTIONS: Final[dict[str, Function]] = {
    "all": _all,
    "any": _any,
    "bool": _bool,
    "float": _float,
    "int": _int,
    "len": _len,
    "max": _max,
    "min": _min,
    "str": _str,
}

# `default` and `defined` look at an argument before it is a value, so `evaluate` does them itself.
LEAST_ARGUMENTS: Final[dict[str, int]] = {
    **dict.fromkeys(FUNCTIONS, 0),
    "all": 1,
    "any": 1,
    "default": 2,
    "defined": 1,
    "max": 2,
    "min": 2,
}
