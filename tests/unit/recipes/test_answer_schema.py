"""What a JSON answer is held to, against the reference implementation and in our words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplihack.recipes.answer_schema import KEYWORDS, mismatch
from amplihack.recipes.decode import decode_text

jsonschema: Any = pytest.importorskip("jsonschema")  # comes with the SDK of MCP

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.5, 1.0, 2.5])
    | st.sampled_from(["", "a", "ab", "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
_TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])
_SIZES = st.integers(0, 3)


def _keywords(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(inner, min_size=1, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": _TYPES | st.lists(_TYPES, min_size=1, max_size=2, unique=True),
            "enum": st.lists(_VALUES, min_size=1, max_size=3),
            "const": _VALUES,
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
            "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
            "additionalProperties": inner | st.booleans(),
            "items": inner | st.booleans(),
            "uniqueItems": st.booleans(),
            **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _SIZES),
            **dict.fromkeys(("minProperties", "maxProperties"), _SIZES),
            **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _SIZES),
            "multipleOf": st.sampled_from([1, 2, 0.5]),
            "pattern": st.sampled_from(["a", "^a$", "b|é"]),
            **dict.fromkeys(("allOf", "anyOf", "oneOf"), some),
            "not": inner,
        },
    )


_SCHEMAS: st.SearchStrategy[Any] = st.recursive(st.just({}), _keywords, max_leaves=4)


@given(_VALUES, _SCHEMAS)
def test_a_value_fits_exactly_where_the_reference_says_so(value: Any, schema: Any) -> None:
    reference = jsonschema.Draft202012Validator(schema).is_valid(value)
    assert (mismatch(value, schema) == "") is reference


def test_the_property_above_knows_every_keyword() -> None:
    strategy = repr(_keywords(st.just({})))
    assert [keyword for keyword in KEYWORDS if f"'{keyword}'" not in strategy] == []


@pytest.mark.parametrize(
    ("value", "schema", "why"),
    [
        ({"a": [{"b": 5}]}, {"properties": {"a": {"items": {"properties": {"b": {"type": "string"}}}}}},
         "$.a[0].b: should be a string, is 5"),
        ({}, {"required": ["verdict"]}, '$: has no "verdict"'),
        ({"x y": 1}, {"additionalProperties": False}, '$["x y"]: should not be there'),
        ("maybe", {"enum": ["yes", "no"]}, '$: should be one of "yes", "no", is "maybe"'),
        (True, {"const": 1}, "$: should be 1, is true"),
        ([], {"minItems": 1}, "$: should have at least 1 items, has 0"),
        (0.35, {"multipleOf": 0.1}, "$: should be a multiple of 0.1, is 0.35"),
        (0.3, {"multipleOf": 0.1}, ""),
        ("x", {"anyOf": [{"type": "number"}, {"type": "null"}]},
         '$: fits none of 2 schemas: $: should be a number, is "x"; or $: should be null, is "x"'),
    ],
)  # fmt: skip
def test_a_mismatch_says_where_and_why(value: Any, schema: Any, why: str) -> None:
    assert mismatch(value, schema) == why


@pytest.mark.parametrize(
    ("schema", "severity", "what"),
    [
        ("{type: strng}", "error", "Step 'a': json_schema: type should be the name of a type"),
        ("{required: verdict}", "error", "Step 'a': json_schema: required should be a list of names"),
        ("{properties: {x: 5}}", "error", "Step 'a': json_schema: properties.x: a schema is a map"),
        ("{pattern: '('}", "error", "Step 'a': json_schema: pattern should be a regular expression"),
        ("{minItems: -1}", "error", "Step 'a': json_schema: minItems should be a whole number, 0 or more"),
        ("{anyOf: []}", "error", "Step 'a': json_schema: anyOf should be a list of schemas"),
        ("[1]", "error", "Step 'a': 'json_schema' should be a map of names to values"),
        ("{$ref: '#/x'}", "warning", "Step 'a': json_schema: '$ref' is not checked"),
        ("{not: {propertys: {}}}", "warning", "Step 'a': json_schema: not: 'propertys' is not checked"),
        ("{format: date}", "warning", "Step 'a': json_schema: 'format' is not checked"),
    ],
)  # fmt: skip
def test_what_is_no_schema_is_told_where_it_stands(schema: str, severity: str, what: str) -> None:
    decoded = decode_text(f"name: r\nsteps:\n  - {{id: a, prompt: p, json_schema: {schema}}}\n")
    (problem,) = decoded.problems
    assert (problem.severity, problem.what) == (severity, what)
    assert problem.fix
    assert problem.where is not None
    assert problem.where.line == 3


def test_notes_for_readers_are_no_mistake() -> None:
    notes = "{title: t, description: d, default: 1, examples: [1], $comment: c, x-mine: 1, items: false}"
    assert not decode_text(f"name: r\nsteps:\n  - {{id: a, prompt: p, json_schema: {notes}}}\n").problems


def test_a_schema_beside_no_json_is_a_contradiction() -> None:
    decoded = decode_text("name: r\nsteps:\n  - {id: a, prompt: p, parse_json: false, json_schema: {}}\n")
    assert [problem.code for problem in decoded.problems] == ["contradiction"]
