"""Implement the methods of conditions. Each raises ValueError for values that it does not accept.

Most work on text: numbers and booleans are converted to text, and null to the empty text. A null argument is
never found in anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from amplihack.recipes.conditions.functions import check_items, check_text, first
from amplihack.recipes.conditions.rules import Rules, contains
from amplihack.recipes.values import MISSING, Missing, Value, member, to_text

TextMethod: TypeAlias = Callable[[str, Sequence[Value]], Value]


def call_method(method: str, receiver: Value, arguments: Sequence[Value], rules: Rules) -> Value:
    if method == "get":
        return _get(receiver, arguments)
    if method == "contains":
        is_container = isinstance(receiver, Mapping | Sequence)
        return contains(arguments[0], receiver if is_container else to_text(receiver), rules)
    return _TEXT_METHODS[method](_receiver_text(method, receiver), arguments)


def _receiver_text(method: str, receiver: Value) -> str:
    if receiver is None or isinstance(receiver, str | int | float):
        return to_text(receiver)
    kind = "object" if isinstance(receiver, Mapping) else "array"
    raise ValueError(
        f"method '.{method}()' can only be called on strings, numbers, booleans, or null; got {kind}"
    )


def element(base: Value, index: Value) -> Value | Missing:
    """Return a key of a map, an item of a list or a character of a text; negative counts from the end."""
    if isinstance(index, float):
        if not index.is_integer():
            raise ValueError(f"an index must be a whole number, not {index}")
        index = int(index)
    if isinstance(index, bool) or not isinstance(index, int | str):
        return MISSING
    if isinstance(base, str):
        return base[index] if isinstance(index, int) and -len(base) <= index < len(base) else MISSING
    return member(base, str(index))


def _get(receiver: Value, arguments: Sequence[Value]) -> Value:
    found = element(receiver, arguments[0])
    if isinstance(found, Missing):
        return arguments[1] if len(arguments) > 1 else None
    return found


def _characters(arguments: Sequence[Value]) -> str | None:
    value = first(arguments)
    return None if value is None else to_text(value)


def _strip(text: str, arguments: Sequence[Value]) -> Value:
    return text.strip(_characters(arguments))


def _lstrip(text: str, arguments: Sequence[Value]) -> Value:
    return text.lstrip(_characters(arguments))


def _rstrip(text: str, arguments: Sequence[Value]) -> Value:
    return text.rstrip(_characters(arguments))


def _lower(text: str, _: Sequence[Value]) -> Value:
    return text.lower()


def _upper(text: str, _: Sequence[Value]) -> Value:
    return text.upper()


def _title(text: str, _: Sequence[Value]) -> Value:
    return " ".join(word[0].upper() + word[1:].lower() for word in text.split())


def _startswith(text: str, arguments: Sequence[Value]) -> Value:
    return arguments[0] is not None and text.startswith(to_text(arguments[0]))


def _endswith(text: str, arguments: Sequence[Value]) -> Value:
    return arguments[0] is not None and text.endswith(to_text(arguments[0]))


def _replace(text: str, arguments: Sequence[Value]) -> Value:
    old, new = _characters(arguments), to_text(arguments[1] if len(arguments) > 1 else None)
    if old is None:
        return text
    growth = text.count(old) * (len(new) - len(old))
    if growth > 0:
        check_text(len(text) + growth)
    return text.replace(old, new, _most(arguments))


def _most(arguments: Sequence[Value]) -> int:
    most = arguments[2] if len(arguments) > 2 else -1
    return most if isinstance(most, int) and abs(most) < 1 << 31 else -1


def _split(text: str, arguments: Sequence[Value]) -> Value:
    separator = _characters(arguments)
    if separator is None:
        return text.split()
    check_items(text.count(separator) + 1)
    # Python refuses an empty separator; the language splits into characters, with empty ends.
    return text.split(separator) if separator else ["", *text, ""]


def _join(text: str, arguments: Sequence[Value]) -> Value:
    items = first(arguments)
    if isinstance(items, str) or not isinstance(items, Sequence):
        return ""
    texts = [to_text(item) for item in items]
    check_text(sum(map(len, texts)) + len(text) * len(texts))
    return text.join(texts)


def _count(text: str, arguments: Sequence[Value]) -> Value:
    return 0 if arguments[0] is None else text.count(to_text(arguments[0]))


def _find(text: str, arguments: Sequence[Value]) -> Value:
    return -1 if arguments[0] is None else text.find(to_text(arguments[0]))


_TEXT_METHODS: Final[dict[str, TextMethod]] = {
    "count": _count,
    "endswith": _endswith,
    "find": _find,
    "join": _join,
    "lower": _lower,
    "lstrip": _lstrip,
    "replace": _replace,
    "rstrip": _rstrip,
    "split": _split,
    "startswith": _startswith,
    "strip": _strip,
    "title": _title,
    "upper": _upper,
}

_NEEDS_ONE: Final = ("contains", "count", "endswith", "find", "get", "join", "startswith")
LEAST_ARGUMENTS: Final[dict[str, int]] = {**dict.fromkeys(_TEXT_METHODS, 0), **dict.fromkeys(_NEEDS_ONE, 1)}
