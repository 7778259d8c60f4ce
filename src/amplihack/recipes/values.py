"""Define the values of variables: JSON values with one text form everywhere."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TypeAlias, TypeGuard

from amplihack.patterns import pattern
from amplihack.quick_json import encoding

Value: TypeAlias = "bool | int | float | str | Sequence[Value] | Mapping[str, Value] | None"
KeyPath: TypeAlias = tuple[str, ...]  # ("obj", "key", "0"): a name, then keys and indexes


class Missing:
    """The result of `lookup` for a path without a value. `None` is a value of its own."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()

DEEPEST_MADE = 200  # levels of lists and maps in a value that a recipe puts together
DEEPEST = 100  # levels of lists and maps in a value that comes from outside
# What may be JSON, except for a text: the parser takes long to refuse what most steps print.
_TYPED = pattern(r"[ \t\n\r]*+(?:[{\[]|(?:-?[0-9][-+.0-9eE]*+|true|false|null)[ \t\n\r]*+\Z)")
_WHOLE = pattern(r"0|[1-9][0-9]{0,14}")
_COUNT = pattern(r"\+?[0-9]{1,15}(?:\.0*)?")
COUNT = "{least} or more, of at most 15 digits"  # what `whole_number` reads
_TOO_DEEP = f"it is nested more than {DEEPEST} levels deep"
_INDEX = pattern(r"-?[0-9]{1,9}")


def lookup(scope: Mapping[str, Value], path: KeyPath) -> Value | Missing:
    """Return the value at a path, or MISSING."""
    value: Value | Missing = scope.get(path[0], MISSING)
    for part in path[1:]:
        value = member(value, part)
        if value is MISSING:
            return MISSING
    return value


def member(value: Value | Missing, key: str) -> Value | Missing:
    if isinstance(value, Mapping):
        return value.get(key, MISSING)
    if isinstance(value, Sequence) and not isinstance(value, str) and _INDEX.fullmatch(key):
        position = int(key)
        return value[position] if -len(value) <= position < len(value) else MISSING
    return MISSING


def to_text(value: Value | Missing) -> str:
    """Return a value as it appears in a prompt or a shell variable; missing and null are empty."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, Missing):
        return ""
    return to_json(value)


def to_json(value: Value) -> str:
    """Return compact JSON with the keys in their order; integers have no point, floats always have one."""
    if type(value) is int:  # no bool: the most common kind after text needs no encoder
        return str(value)
    try:
        return _encoder()(value)
    except (ValueError, TypeError):  # a number without end, or a map that is no dict
        return _encoder()(_finite(value))


@cache  # made on first use: most checks of a recipe need no JSON
def _encoder() -> Callable[[Value], str]:
    return encoding(json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def _finite(value: Value) -> Value:
    if isinstance(value, float) and not math.isfinite(value):
        return None  # JSON has no word for it
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_finite(item) for item in value]
    return value


def to_bytes(text: str) -> bytes:
    """Return the text as UTF-8, also bytes that were no text and halves of surrogate pairs."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def from_json(text: str) -> Value:
    """Parse strict JSON: no NaN or Infinity, no huge number, no extreme depth. Raises ValueError."""
    if text.startswith("\ufeff"):
        raise ValueError("it begins with a byte order mark")
    try:
        value: Value = _decoder()(text)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    # Counting brackets first is cheap, and most texts have few.
    if text.count("[") + text.count("{") > DEEPEST and _deeper_than(DEEPEST, value):
        raise ValueError(_TOO_DEEP)
    return value


def is_too_deep(value: Value) -> bool:
    """Tell whether a value that a recipe has put together is nested deeper than it can be written."""
    return _deeper_than(DEEPEST_MADE, value)


def _deeper_than(levels: int, value: Value) -> bool:
    layer = [value]
    for _ in range(levels + 1):
        layer = [item for each in layer for item in _items(each)]
        if not layer:
            break
    return bool(layer)


def _items(value: Value) -> Iterable[Value]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list) else ()


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large")
    return number


@cache  # made on first use, as the encoder is
def _decoder() -> Callable[[str], Value]:
    return json.JSONDecoder(parse_constant=_refuse, parse_float=_float).decode


def typed(text: str) -> Value:
    """Return the value that an output or `--set` text stands for; a number only if nothing is lost.

    `true`, `42`, `{"a": 1}` become values; `1.10`, `4e5`, `007` and 30-digit ids stay text.
    """
    if not _TYPED.match(text):
        return text
    if _WHOLE.fullmatch(text):  # what many steps print
        return int(text)
    try:
        value = from_json(text)
    except ValueError:
        return text
    # A number that would print differently (1.10, 4e5) has lost something: the text is kept.
    if isinstance(value, str) or (is_number(value) and to_json(value) != text.strip()):
        return text
    return value


def whole_number(text: str, *, least: int) -> int | None:
    """Return the whole number that a text says; None if it says none, or one that is too small."""
    value = int(text.partition(".")[0]) if _COUNT.fullmatch(text) else -1
    return value if value >= least else None


def is_number(value: Value) -> TypeGuard[int | float]:
    """Tell whether a value is a number; `true` and `false`, which are numbers for Python, are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def one_line(text: str, width: int = 200) -> str:
    """Return the text on one line of at most `width` characters; an ellipsis marks a cut."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"


def some(names: Sequence[str], most: int) -> str:
    """Return the first names in one line, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def truncate(text: str, limit: int) -> str:
    """Return the longest beginning of at most `limit` UTF-8 bytes, cut between characters."""
    data, end = text.encode("utf-8", "surrogatepass"), max(0, limit)
    if len(data) <= end:
        return text
    while _inside_character(data[end]):
        end -= 1
    return data[:end].decode("utf-8", "surrogatepass")


def tail(text: str, limit: int) -> str:
    """Return the longest end of at most `limit` UTF-8 bytes, cut between characters."""
    data = text.encode("utf-8", "surrogatepass")
    start = max(0, len(data) - max(0, limit))
    while start < len(data) and _inside_character(data[start]):
        start += 1
    return data[start:].decode("utf-8", "surrogatepass")


def _inside_character(byte: int) -> bool:
    return byte & 0b1100_0000 == 0b1000_0000
