from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amplihack.documents import read_document, to_value
from amplihack.recipes.fields import TABLES
from amplihack.recipes.reference_page import reference_page
from amplihack.recipes.schema import json_schema

CORPUS = sorted((Path(__file__).parents[2] / "corpus").glob("**/*.yaml"))
KEYWORDS = {
    "$schema", "$ref", "$defs", "title", "description", "type", "properties", "patternProperties",
    "additionalProperties", "required", "items", "enum", "anyOf", "minimum", "pattern",
}  # fmt: skip
TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float), "array": (list,),
    "object": (dict,), "null": (type(None),),
}  # fmt: skip


def is_of(value: Any, name: str) -> bool:
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def mistakes(value: Any, schema: dict[str, Any], whole: dict[str, Any], at: str = "$") -> Iterator[str]:
    """The part of JSON Schema that our schema uses."""
    if "$ref" in schema:
        yield from mistakes(value, whole["$defs"][schema["$ref"].removeprefix("#/$defs/")], whole, at)
    types = schema.get("type", list(TYPES))
    if not any(is_of(value, name) for name in ([types] if isinstance(types, str) else types)):
        yield f"{at}: not {types}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: not one of {schema['enum']}"
    if "minimum" in schema and value < schema["minimum"]:
        yield f"{at}: too small"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{at}: not like {schema['pattern']}"
    if "anyOf" in schema and all(list(mistakes(value, each, whole, at)) for each in schema["anyOf"]):
        yield f"{at}: none of {schema['anyOf']}"
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from mistakes(item, schema["items"], whole, f"{at}[{index}]")
    if isinstance(value, dict):
        yield from mistakes_of_object(value, schema, whole, at)


def mistakes_of_object(
    value: dict[str, Any], schema: dict[str, Any], whole: dict[str, Any], at: str
) -> Iterator[str]:
    yield from (f"{at}: needs {name}" for name in schema.get("required", ()) if name not in value)
    for key, item in value.items():
        if key in schema.get("properties", {}):
            yield from mistakes(item, schema["properties"][key], whole, f"{at}.{key}")
        elif any(re.search(pattern, key) for pattern in schema.get("patternProperties", {})):
            continue
        elif schema.get("additionalProperties") is False:
            yield f"{at}: unknown {key}"
        elif "additionalProperties" in schema:
            yield from mistakes(item, schema["additionalProperties"], whole, f"{at}.{key}")


def refused(text: str) -> list[str]:
    schema = json_schema()
    return list(mistakes(to_value(read_document(text, "f").root), schema, schema))


def schemas(node: Any, *, names: bool = False) -> Iterator[dict[str, Any]]:
    """Every schema inside a schema; `names` when the keys are property names."""
    if not isinstance(node, dict):
        return
    if not names:
        yield node
    for key, child in node.items():
        if key in ("properties", "patternProperties", "$defs") and not names:
            yield from schemas(child, names=True)
        elif names or key in ("items", "additionalProperties"):
            yield from schemas(child)
        elif key == "anyOf":
            for each in child:
                yield from schemas(each)


def test_the_schema_is_json_and_uses_only_keywords_of_the_standard() -> None:
    schema = json.loads(json.dumps(json_schema()))
    assert schema == json_schema()
    found = list(schemas(schema))
    assert len(found) > 150
    for each in found:
        assert set(each) <= KEYWORDS
        if "$ref" in each:
            assert each["$ref"].removeprefix("#/$defs/") in schema["$defs"]
        if "type" in each:
            assert set([each["type"]] if isinstance(each["type"], str) else each["type"]) <= set(TYPES)


@pytest.mark.parametrize("table", TABLES)
def test_every_spelling_of_every_field_is_in_the_schema(table: str) -> None:
    schema = json_schema()
    described = schema if table == "recipe" else schema["$defs"][table]
    assert set(described["properties"]) == set(TABLES[table].known)
    assert described["required"] == [each.name for each in TABLES[table].fields if each.required]


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_real_recipes_pass(path: Path) -> None:
    assert refused(path.read_text()) == []


@pytest.mark.parametrize(
    "text",
    [
        "name: n\nsteps: [{id: a, command: ls}]",
        "name: 1\nversion: 1.10\nsteps: [{id: 1, command: true}]",
        "name: n\nextends: other",
        "name: n\ntags:\nauthor: ~\nx-mine: [1]\nsteps: [{id: a, x-note: {}}]",
        "name: n\nsteps: [{id: a, command: ls, timeout: '{{t}}', parallel: true, parse_json: last}]",
    ],
)
def test_what_decodes_passes(text: str) -> None:
    assert refused(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "steps: [{id: a}]",
        "name: n",
        "name: n\nsteps: [{command: ls}]",
        "name: n\nsteps: {id: a}",
        "name: n\nsteps: [{id: a, comand: ls}]",
        "name: n\nsteps: [{id: a, type: shell}]",
        "name: n\nsteps: [{id: a, timeout: -1}]",
        "name: n\nsteps: [{id: a, timeout: soon}]",
        "name: n\nsteps: [{id: a, retry: {max_attempts: 0}}]",
        "name: n\nsteps: [{id: a, parallel: 0}]",
        "name: n\nsteps: [{id: a, when_tags: x}]",
        "name: n\nstages: [{name: s}]",
        "name: n\nstages: [{name: s, steps: [{id: a}], approval: true}]",
        "name: n\nhooks: {pre: x}\nsteps: [{id: a}]",
        "[]",
    ],
)
def test_what_does_not_decode_is_refused(text: str) -> None:
    assert refused(text) != []


def test_the_reference_page_has_a_row_for_every_field() -> None:
    page = reference_page()
    for table in TABLES.values():
        section = page.split(f"\n## {table.name}\n")[1].split("\n## ")[0]
        assert table.doc in section
        for each in table.fields:
            spellings = ", ".join(f"`{name}`" for name in (each.name, *each.aliases))
            (row,) = [line for line in section.split("\n") if line.startswith(f"| {spellings} |")]
            assert each.doc in row
            assert row.count("|") == 5


def test_links_of_the_reference_page_lead_to_its_sections() -> None:
    page = reference_page()
    assert set(re.findall(r"\]\(#(\w+)\)", page)) <= set(re.findall(r"^## (\w+)$", page, re.MULTILINE))
