"""Hold a JSON value to a schema: the part of JSON Schema that says what an answer must look like.

Each keyword is a row of `KEYWORDS`. Equality, numbers and lengths are those of JSON Schema: true is not 1,
and 1.0 is an integer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final, TypeAlias

from amplihack.recipes.values import Value, is_number, to_json

Schema: TypeAlias = "bool | Mapping[str, Value]"
_SHOWN: Final = 60  # characters of a value that a mismatch shows
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


def mismatch(value: Value, schema: Schema) -> str:
    """Return where and why a value does not fit, or "": `$.items[2]: should be a string, is 5`."""
    return next(mismatches(value, schema, "$"), "")


def mismatches(value: Value, schema: Value, path: str) -> Iterator[str]:
    """Yield every way in which a value does not fit. The schema has been found to be one."""
    if schema is False:
        yield f"{path}: should not be there"
    if not isinstance(schema, Mapping):
        return
    for keyword, rule in schema.items():
        if keyword in KEYWORDS:
            yield from KEYWORDS[keyword](value, rule, schema, path)


def same(one: Value, other: Value) -> bool:
    """Tell whether two values are equal in JSON, where true is not 1 and 1.0 is 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(item, other[key]) for key, item in one.items())
    if _is_list(one) and _is_list(other):
        return len(_list(one)) == len(_list(other)) and all(map(same, _list(one), _list(other)))
    return one == other


def _is_list(value: Value) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


TYPES: Final[dict[str, Callable[[Value], bool]]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: is_number(value) and value == value // 1,
    "number": is_number,
    "string": lambda value: isinstance(value, str),
    "array": _is_list,
    "object": lambda value: isinstance(value, Mapping),
}


def _shown(value: Value) -> str:
    text = to_json(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _below(path: str, key: str) -> str:
    return f"{path}.{key}" if key and _PLAIN.issuperset(key) else f"{path}[{to_json(key)}]"


Keyword: TypeAlias = Callable[[Value, Value, Mapping[str, Value], str], Iterator[str]]
KEYWORDS: Final[dict[str, Keyword]] = {}


def _keyword(name: str) -> Callable[[Keyword], Keyword]:
    def register(check: Keyword) -> Keyword:
        KEYWORDS[name] = check
        return check

    return register


# Any value --------------------------------------------------------------------------------------------


@_keyword("type")
def _type(value: Value, rule: Value, _schema: Mapping[str, Value], path: str) -> Iterator[str]:
    names = [str(name) for name in _list(rule if _is_list(rule) else [rule])]
    if not any(TYPES[name](value) for name in names):
        article = {"array": "an array", "object": "an object", "integer": "an integer", "null": "null"}
        wanted = " or ".join(article.get(name, f"a {name}") for name in names)
        yield f"{path}: should be {wanted}, is {_shown(value)}"


@_keyword("enum")
def _enum(value: Value, rule: Value, _schema: Mapping[str, Value], path: str) -> Iterator[str]:
    if not any(same(value, each) for each in _list(rule)):
        yield f"{path}: should be one of {', '.join(map(_shown, _list(rule)))}, is {_shown(value)}"


@_keyword("const")
def _const(value: Value, rule: Value, _schema: Mapping[str, Value], path: str) -> Iterator[str]:
    if not same(value, rule):
        yield f"{path}: should be {_shown(rule)}, is {_shown(value)}"


# Objects ----------------------------------------------------------------------------------------------


@_keyword("properties")
def _properties(value: Value, rule: Value, _schema: Mapping[str, Value], path: str) -> Iterator[str]:
    found = value if isinstance(value, Mapping) else {}
    for key, inner in _map(rule).items():
        if key in found:
            yield from mismatches(found[key], inner, _below(path, key))


@_keyword("required")
def _required(value: Value, rule: Value, _schema: Mapping[str, Value], path: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key in map(str, _list(rule)):
            if key not in value:
                yield f"{path}: has no {to_json(key)}"


@_keyword("additionalProperties")
def _additional(value: Value, rule: Value, schema: Mapping[str, Value], path: str) -> Iterator[str]:
    known = _map(schema.get("properties"))
    for key, item in (value if isinstance(value, Mapping) else {}).items():
        if key not in known:
            yield from mismatches(item, rule, _below(path, key))


# Arrays -----------------------------------------------------------------------------------------------


@_keyword("items")
def _items(value: Value, rule: Value, _schema: Mapping[str, Value], path: str) -> Iterator[str]:
    for index, item in enumerate(_list(value)):
        yield from mismatches(item, rule, f"{path}[{index}]")


@_keyword("uniqueItems")
def _unique(value: Value, rule: Value, _schema: Mapping[str, Value], path: str) -> Iterator[str]:
    items = _list(value) if rule is True else ()
    for index, item in enumerate(items):
        if any(same(item, earlier) for earlier in items[:index]):
            yield f"{path}[{index}]: stands there twice: {_shown(item)}"


# Sizes ------------------------------------------------------------------------------------------------


def _size(name: str, kind: str, things: str, *, least: bool) -> None:
    @_keyword(name)
    def check(value: Value, rule: Value, _schema: Mapping[str, Value], path: str) -> Iterator[str]:
        if not TYPES[kind](value) or not isinstance(rule, int | float):
            return
        size = len(value)  # type: ignore[arg-type] # its type has one
        if size < rule if least else size > rule:
            yield f"{path}: should have at {'least' if least else 'most'} {rule} {things}, has {size}"


_size("minLength", "string", "characters", least=True)
_size("maxLength", "string", "characters", least=False)
_size("minItems", "array", "items", least=True)
_size("maxItems", "array", "items", least=False)
_size("minProperties", "object", "properties", least=True)
_size("maxProperties", "object", "properties", least=False)


def _bound(name: str, words: str, holds: Callable[[float, float], bool]) -> None:
    @_keyword(name)
    def check(value: Value, rule: Value, _schema: Mapping[str, Value], path: str) -> Iterator[str]:
        if isinstance(value, bool) or not (isinstance(value, int | float) and isinstance(rule, int | float)):
            return
        if not holds(value, rule):
            yield f"{path}: should be {words} {_shown(rule)}, is {_shown(value)}"


_bound("minimum", "at least", lambda value, rule: value >= rule)
_bound("maximum", "at most", lambda value, rule: value <= rule)
_bound("exclusiveMinimum", "more than", lambda value, rule: value > rule)
_bound("exclusiveMaximum", "less than", lambda value, rule: value < rule)
# By the digits as they are written: 0.3 is a multiple of 0.1, though the nearest binary numbers are not.
_bound("multipleOf", "a multiple of", lambda value, rule: Fraction(str(value)) % Fraction(str(rule)) == 0)


@_keyword("pattern")
def _pattern(value: Value, rule: Value, _schema: Mapping[str, Value], path: str) -> Iterator[str]:
    if isinstance(value, str) and re.search(str(rule), value) is None:
        yield f"{path}: should match {rule}, is {_shown(value)}"


# Schemas together -------------------------------------------------------------------------------------


@_keyword("allOf")
def _all(value: Value, rule: Value, _schema: Mapping[str, Value], path: str) -> Iterator[str]:
    for each in _list(rule):
        yield from mismatches(value, each, path)


@_keyword("anyOf")
def _any(value: Value, rule: Value, _schema: Mapping[str, Value], path: str) -> Iterator[str]:
    why = _reasons(value, rule, path)
    if len(why) == len(_list(rule)):
        yield f"{path}: fits none of {len(why)} schemas: {'; or '.join(why)}"


@_keyword("oneOf")
def _one(value: Value, rule: Value, _schema: Mapping[str, Value], path: str) -> Iterator[str]:
    why = _reasons(value, rule, path)
    fitting = len(_list(rule)) - len(why)
    if fitting > 1:
        yield f"{path}: should fit one of {len(_list(rule))} schemas, fits {fitting}: {_shown(value)}"
    elif not fitting:
        yield f"{path}: fits none of {len(why)} schemas: {'; or '.join(why)}"


def _reasons(value: Value, rule: Value, path: str) -> list[str]:
    first = (next(mismatches(value, each, path), "") for each in _list(rule))
    return [why for why in first if why]


@_keyword("not")
def _not(value: Value, rule: Value, _schema: Mapping[str, Value], path: str) -> Iterator[str]:
    if next(mismatches(value, rule, path), None) is None:
        yield f"{path}: is what it should not be: {_shown(value)}"


def _list(value: Value | Iterable[Value]) -> Sequence[Value]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def _map(value: Value) -> Mapping[str, Value]:
    return value if isinstance(value, Mapping) else {}
