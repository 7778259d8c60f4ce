"""Hold the value of an input to its bounds: how large, how long, and what it looks like."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from amplihack.recipes.values import Value
from amplihack.records import Record


class Bound(Record):
    """What one field of an input asks for."""

    kinds: tuple[str, ...]  # the types that it is for; without a type, an input has the first of them
    words: str
    holds: Callable[[Any, Any], bool]  # the value, and what the field says


_NUMBERS: Final = ("number", "float", "integer", "int")
_TEXTS: Final = ("string", "str", "text")
_SIZED: Final = (*_TEXTS, "list", "array")
BOUNDS: Final[Mapping[str, Bound]] = {
    "minimum": Bound(_NUMBERS, "be at least {}", lambda value, least: value >= least),
    "maximum": Bound(_NUMBERS, "be at most {}", lambda value, most: value <= most),
    "min_length": Bound(_SIZED, "have a length of {} or more", lambda value, least: len(value) >= least),
    "max_length": Bound(_SIZED, "have a length of {} or less", lambda value, most: len(value) <= most),
    "pattern": Bound(_TEXTS, "match {}", lambda value, form: re.search(form, value) is not None),
}


def broken(value: Value, bounds: Mapping[str, Value]) -> str:
    """Return what a value of the right type should be instead; empty if it is within its bounds."""
    return next((f"should {words}" for words in _broken(value, bounds)), "")


def _broken(value: Value, bounds: Mapping[str, Value]) -> Iterator[str]:
    for name, said in bounds.items():
        if not BOUNDS[name].holds(value, said):
            yield BOUNDS[name].words.format(said)


def in_words(bounds: Mapping[str, Value]) -> Iterator[str]:
    """Yield what the bounds of an input say, for people."""
    for name, said in bounds.items():
        yield BOUNDS[name].words.format(said).removeprefix("be ")
