"""What holds for every recipe text: all that is wrong with it is reported, nothing crashes."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from amplihack.errors import DocumentError, RecipeError
from amplihack.recipes.decode import Decoded, decode_text
from amplihack.recipes.explain import describe, explain
from amplihack.recipes.fields import TABLES
from amplihack.recipes.values import Value, from_json, tail, to_json, truncate, typed

FIELD_NAMES = sorted({spelling for table in TABLES.values() for spelling in table.known})
CHOICES = sorted({choice for table in TABLES.values() for each in table.fields for choice in each.choices})
texts = st.text(max_size=12)
scalars: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | texts
    | st.sampled_from([*CHOICES, "{{x}}", "a == 1", "a ==", "{{x}} and (", "1.10", "yes", "-1", "0", "x-y"])
)
keys = st.sampled_from(FIELD_NAMES) | texts
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=6),
    max_leaves=25,
)


def of_table(name: str, depth: int = 2) -> st.SearchStrategy[dict[str, Any]]:
    """Mappings with the fields of a table, each with a value that may or may not fit."""
    optional = {}
    for each in TABLES[name].fields:
        fitting: st.SearchStrategy[Any] = trees
        if each.table and depth:
            inner = of_table(each.table, depth - 1)
            fitting = inner if each.shape == "table" else st.lists(inner, max_size=2)
        elif each.choices:
            fitting = st.sampled_from(each.choices)
        for spelling in (each.name, *each.aliases):
            optional[spelling] = fitting | trees
    return st.lists(st.sampled_from(sorted(optional)), unique=True, max_size=6).flatmap(
        lambda chosen: st.fixed_dictionaries({key: optional[key] for key in chosen})
    )


def check(text: str | bytes) -> None:
    try:
        decoded = decode_text(text, "f")
    except DocumentError:
        return
    check_decoded(decoded)


def check_decoded(decoded: Decoded) -> None:
    places = [(p.where.line, p.where.column) for p in decoded.problems if p.where]
    assert len(places) == len(decoded.problems)
    assert places == sorted(places)
    assert all(problem.what and problem.code for problem in decoded.problems)
    if decoded.recipe is not None:
        explain(decoded.recipe)
        to_json(describe(decoded.recipe))
    try:
        recipe = decoded.required()
    except RecipeError as error:
        assert error.problems
        assert all(problem.severity == "error" for problem in error.problems)
    else:
        assert recipe.name.strip()
        assert all(step.id.strip() for step in recipe.steps)


@given(trees)
def test_no_tree_of_values_crashes_the_decoder(tree: object) -> None:
    check(yaml.safe_dump(tree, allow_unicode=True))


@given(of_table("recipe"))
@example({"name": "n", "steps": [{"id": "a", "timeout": 10**400}]})
@example(
    {
        "name": "n",
        "steps": [{"id": "a", "foreach": {}, "parallel": [], "retry": 1}],
        "hooks": [],
        "output": {},
    }
)
@example({"inputs": [[1], {"name": ["x"]}, None], "parameters": {"a": {"default": {"b": []}}}})
def test_no_recipe_of_known_fields_crashes_the_decoder(tree: dict[str, Any]) -> None:
    check(yaml.safe_dump(tree, allow_unicode=True))


@given(st.text(st.characters(), max_size=80) | st.binary(max_size=80))
def test_no_text_crashes_the_decoder(text: str | bytes) -> None:
    check(text)


@given(st.integers(0, 60))
def test_loops_inside_loops_are_read_at_any_depth_that_a_document_may_have(depth: int) -> None:
    step = "{id: s, command: ls}"
    for number in range(depth):
        step = f"{{id: s{number}, foreach: [1], steps: [{step}]}}"
    check(f"name: n\nsteps: [{step}]")


# values

json_values: st.SearchStrategy[Value] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(json_values)
def test_printing_and_reading_a_value_changes_nothing(value: Value) -> None:
    assert from_json(to_json(value)) == value
    assert to_json(from_json(to_json(value))) == to_json(value)


@given(json_values.filter(lambda value: not isinstance(value, str)))
def test_a_printed_value_is_typed_as_itself(value: Value) -> None:
    found = typed(to_json(value))
    assert found == value
    assert type(found) is type(value)


@given(st.text() | st.from_regex(r"[-+]?[0-9]{0,3}(\.[0-9]{0,2})?(e[0-9])?", fullmatch=True))
def test_typing_loses_nothing_of_a_number_and_never_unquotes(text: str) -> None:
    value = typed(text)
    if isinstance(value, str):
        assert value == text
    elif isinstance(value, int | float) and not isinstance(value, bool):
        assert to_json(value) == text.strip()


@given(st.text(st.characters()), st.integers(-2, 40))
def test_cutting_keeps_the_longest_part_that_fits(text: str, limit: int) -> None:
    def size(part: str) -> int:
        return len(part.encode("utf-8", "surrogatepass"))

    start, end = truncate(text, limit), tail(text, limit)
    assert text.startswith(start)
    assert text.endswith(end)
    assert max(size(start), size(end)) <= max(0, limit)
    if start != text:
        assert size(text[: len(start) + 1]) > limit
        assert size(text[len(text) - len(end) - 1 :]) > limit
