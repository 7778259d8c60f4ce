"""Read tokens that stand for a value: numbers, quoted texts, placeholders."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from amplihack.errors import ConditionError
from amplihack.patterns import pattern
from amplihack.recipes.conditions.tokens import Token
from amplihack.recipes.conditions.tree import Constant, Interpolated, PlaceholderNode
from amplihack.recipes.placeholders import find_placeholders
from amplihack.recipes.values import KeyPath

_ESCAPE = pattern(r"\\(.)", re.DOTALL)
_MEANING = {"n": "\n", "t": "\t"}  # any other character stands for itself


def number(token: Token) -> Constant:
    """Read a number: whole numbers stay exact, a point or an exponent makes a float."""
    try:
        if token.text.lstrip("+-").isdigit():
            return Constant(int(token.text), token.column)
        value = float(token.text)
        if not math.isfinite(value):
            raise ValueError("too large")
        return Constant(value, token.column)
    except ValueError as error:
        what, fix = f"Parse error: invalid number: {token.text}", f"put quotes around it: '{token.text}'"
        raise ConditionError(what, column=token.column, fix=fix) from error


def placeholder(token: Token) -> PlaceholderNode | Constant:
    found = find_placeholders(token.text)[0]
    if found.constant is not None:
        return Constant(found.constant, token.column)
    return PlaceholderNode(safe_path(found.path, token.column), token.column)


def quoted(token: Token) -> Constant | Interpolated:
    r"""Read a quoted text. Placeholders are found before escapes are undone: `\{{x}}` is plain text."""
    raw = token.text[1:-1]
    if "{{" not in raw and "\\" not in raw:  # nearly always
        return Constant(raw, token.column)
    parts = tuple(_parts(raw, token.column + 1))
    if any(isinstance(part, PlaceholderNode) for part in parts):
        return Interpolated(parts, token.column)
    return Constant("".join(part for part in parts if isinstance(part, str)), token.column)


def _parts(raw: str, column: int) -> Iterator[str | PlaceholderNode]:
    text, done = "", 0
    for found in find_placeholders(raw):
        if _is_escaped(raw, found.start):
            continue
        text += _unescape(raw[done : found.start]) + (found.constant or "")
        done = found.end
        if found.constant is None:
            if text:
                yield text
            path = tuple(_unescape(part) for part in found.path)
            yield PlaceholderNode(safe_path(path, column + found.start), column + found.start)
            text = ""
    if text := text + _unescape(raw[done:]):
        yield text


def _is_escaped(raw: str, start: int) -> bool:
    before = raw[:start]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _unescape(raw: str) -> str:
    return _ESCAPE.sub(lambda match: _MEANING.get(match.group(1), match.group(1)), raw)


def safe_path(path: KeyPath, column: int) -> KeyPath:
    return tuple(safe_name(part, column) for part in path)


def safe_name(name: str, column: int) -> str:
    """Return the name, or raise ConditionError if it looks like an internal name of Python."""
    if name.startswith("__") or name.endswith("__"):
        raise ConditionError(
            f"Unsafe expression: dunder name '{name}' is not allowed",
            column=column,
            fix="names must not begin or end with two underscores",
        )
    return name
