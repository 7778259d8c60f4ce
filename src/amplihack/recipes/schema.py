"""Write the field tables as a JSON Schema, for editors and other programs."""

from __future__ import annotations

from typing import Any

from amplihack.documents.durations import SCHEMA as DURATION
from amplihack.recipes.fields import TABLES, Field, FieldTable, Shape

_SCALAR: dict[str, Any] = {"type": ["string", "number", "boolean"]}
_TEXT: dict[str, Any] = {"type": "string"}
_WHOLE: dict[str, Any] = {"type": "integer", "minimum": 0}
_NUMBER: dict[str, Any] = {"type": "number", "minimum": 0}
_TEMPLATE: dict[str, Any] = {"type": "string", "pattern": r"\{\{.*\}\}"}

_DURATION: dict[str, Any] = {"anyOf": [_NUMBER, {"type": "string", "pattern": DURATION}]}

_SHAPES: dict[Shape, dict[str, Any]] = {
    "text": _SCALAR,
    "template": _SCALAR,
    "condition": _SCALAR,
    "flag": {"type": "boolean"},
    "count": _WHOLE,
    "number": _NUMBER,
    "bound": {"type": "number"},
    "duration": _DURATION,
    "seconds": {"anyOf": [*_DURATION["anyOf"], _TEMPLATE]},
    "milliseconds": {"anyOf": [_WHOLE, {"type": "string", "pattern": DURATION}]},
    "attempts": {"anyOf": [{"type": "integer", "minimum": 1}, _TEMPLATE]},
    "words": {"type": "array", "items": _SCALAR},
    "map": {"type": "object"},
    "texts": {"type": "object", "additionalProperties": _SCALAR},
    "json": {"enum": [True, False, "first", "last"]},
    "items": {"anyOf": [_TEXT, {"type": "array"}]},
    "width": {"anyOf": [{"type": "boolean"}, {"type": "integer", "minimum": 1}, _TEMPLATE]},
    "any": {},
}


def json_schema() -> dict[str, Any]:
    """Return a JSON Schema (2020-12) of a recipe file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "amplihack recipe",
        **_object(TABLES["recipe"]),
        "anyOf": [{"required": ["steps"]}, {"required": ["stages"]}, {"required": ["extends"]}],
        "$defs": {table.name: _object(table) for table in TABLES.values() if table.name != "recipe"},
    }


def _object(table: FieldTable) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for each in table.fields:
        properties[each.name] = {"description": each.doc, **_optional(each)}
        for alias in each.aliases:
            properties[alias] = {"description": f"Another name of `{each.name}`.", **_optional(each)}
    return {
        "description": table.doc,
        "type": "object",
        "properties": properties,
        "patternProperties": {"^x-": {}},
        "additionalProperties": False,
        "required": [each.name for each in table.fields if each.required],
    }


def _optional(each: Field) -> dict[str, Any]:
    """Return the schema of a field; an optional field may also be null."""
    shape = _shape(each)
    if each.required or not shape:
        return shape
    return {"anyOf": [shape, {"type": "null"}]}


def _shape(each: Field) -> dict[str, Any]:
    if each.shape == "choice":
        return {"enum": list(each.choices)}
    if each.shape == "table":
        return {"$ref": f"#/$defs/{each.table}"}
    if each.shape == "tables":
        return {"type": "array", "items": {"$ref": f"#/$defs/{each.table}"}}
    return _SHAPES[each.shape]
