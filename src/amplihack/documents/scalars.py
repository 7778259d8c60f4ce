"""Read plain YAML scalars by the core rules of YAML 1.2, where `yes`, `on` and `0755` are text."""

from __future__ import annotations

import math

from amplihack.patterns import pattern

_WORDS: dict[str, bool | None] = {
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
    "null": None, "Null": None, "NULL": None, "~": None, "": None,
}  # fmt: skip
WORDS_AND_NUMBERS = frozenset("tTfFnN~+-.0123456789")  # what begins with another character is text
_INTEGER = pattern(r"[-+]?(?:0|[1-9][0-9]*)")
_BASED = pattern(r"([-+]?)0(x[0-9a-fA-F]+|o[0-7]+|b[01]+)")
_FLOAT = pattern(r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = pattern(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_BASES = {"x": 16, "o": 8, "b": 2}
_LONGEST_INTEGER = 3500  # Python neither reads nor prints much longer ones; they stay text

ScalarValue = bool | int | float | str | None


def is_null(text: str) -> bool:
    """Tell whether an unquoted scalar says that there is nothing; `.nan` and `.inf` do not."""
    return _WORDS.get(text, False) is None


def plain_value(text: str) -> ScalarValue:
    """Return the value of an unquoted scalar; what is not a word or a number is the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in WORDS_AND_NUMBERS or text[0].isalpha():
        return text
    return _number(text)


def _number(text: str) -> ScalarValue:
    if len(text) > _LONGEST_INTEGER:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if based := _BASED.fullmatch(text):
        sign, digits = based.groups()
        return int(sign + digits[1:], _BASES[digits[0]])
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else text
    return None if _NOT_FINITE.fullmatch(text) else text
