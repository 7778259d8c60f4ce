"""Read `json_schema` of a step; report what is no schema, and what would be said in vain."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from amplihack.documents import Mapping, Node, Scalar, Sequence, to_value
from amplihack.documents.suggest import closest
from amplihack.recipes.answer_schema import KEYWORDS, TYPES
from amplihack.recipes.reading import Report
from amplihack.recipes.values import Value, is_number

# Words about a schema, which promise nothing of the value.
_NOTES: Final = frozenset(
    {"$schema", "$id", "$comment", "title", "description", "default", "examples", "deprecated"}
)
_IN_PLACE: Final = "write the schema in place; YAML repeats it by name: `&name` once, then `*name`"
_ELSEWHERE: Final = {"$ref": _IN_PLACE, "$defs": _IN_PLACE, "definitions": _IN_PLACE}


def read_schema(node: Node, owner: str, report: Report) -> dict[str, Value]:
    """Return the schema that a step gives; what is wrong in it goes to the report."""
    _look(node, f"{owner}json_schema", report)
    value = to_value(node)
    return dict(value) if isinstance(value, dict) else {}


def _look(node: Node, owner: str, report: Report) -> None:
    if not isinstance(node, Mapping):
        if not (isinstance(node, Scalar) and isinstance(node.value, bool)):
            fix = "write it as a map, such as {type: string}"
            report.add("wrong-type", f"{owner}: a schema is a map", node.where, fix)
        return
    for key, child in node:
        if key in KEYWORDS:
            _rule(key, child, f"{owner}: {key}", report)
        elif key not in _NOTES and not key.startswith("x-"):
            meant = closest(key, KEYWORDS)
            fix = f"did you mean '{meant}'?" if meant else "remove it, and say it in the prompt"
            what = f"{owner}: '{key}' is not checked"
            report.add("unknown-field", what, node.where_key(key), _ELSEWHERE.get(key, fix), "warning")


def _rule(key: str, node: Node, owner: str, report: Report) -> None:
    """Look at what a keyword says."""
    if key in ("items", "not", "additionalProperties"):
        _look(node, owner, report)
    elif key == "properties" and isinstance(node, Mapping):
        for name, child in node:
            _look(child, f"{owner}.{name}", report)
    elif key in ("allOf", "anyOf", "oneOf") and isinstance(node, Sequence) and node.items:
        for child in node.items:
            _look(child, owner, report)
    elif why := _wrong(key, node):
        report.add("wrong-type", f"{owner} should be {why}", node.where, _FIXES[key])


_FIXES: Final = {
    "type": f"write one of {', '.join(TYPES)}, or a list of them",
    "enum": "write `enum: [a, b]`",
    "required": "write `required: [name]`",
    "properties": "write each name with a schema: `properties: {name: {type: string}}`",
    "pattern": "write a regular expression, in quotes",
    "uniqueItems": "write true or false",
    **dict.fromkeys(
        ("allOf", "anyOf", "oneOf"), "write a list of schemas: `[{type: string}, {type: number}]`"
    ),
    **dict.fromkeys(
        (key for key in KEYWORDS if key.startswith(("min", "max", "exclusive", "multiple"))),
        "write a number, without quotes",
    ),
}


def _wrong(key: str, node: Node) -> str:
    """Return what a keyword should say, where it says something else."""
    value = to_value(node)
    test, expected = _EXPECTED.get(key, _ANYTHING)
    return "" if test(value) else expected


def _type(value: Value) -> bool:
    names = value if isinstance(value, list) else [value]
    return bool(names) and all(isinstance(name, str) and name in TYPES for name in names)


def _texts(value: Value) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _expression(value: Value) -> bool:
    try:
        re.compile(value if isinstance(value, str) else "[")
    except re.error:
        return False
    return True


def _size(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_ANYTHING: Final[tuple[Callable[[Value], bool], str]] = (lambda _value: True, "")
_EXPECTED: Final[dict[str, tuple[Callable[[Value], bool], str]]] = {
    "type": (_type, "the name of a type"),
    "enum": (lambda value: isinstance(value, list) and bool(value), "a list of values"),
    "required": (_texts, "a list of names"),
    "properties": (lambda _value: False, "a map of names to schemas"),
    "uniqueItems": (lambda value: isinstance(value, bool), "true or false"),
    "pattern": (_expression, "a regular expression"),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), (lambda _value: False, "a list of schemas")),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), (is_number, "a number")),
    **dict.fromkeys(
        ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
        (_size, "a whole number, 0 or more"),
    ),
    "multipleOf": (lambda value: is_number(value) and value > 0, "a number above 0"),
}
