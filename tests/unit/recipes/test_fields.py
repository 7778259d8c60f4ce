"""Every field of every table: a right value is taken, a wrong one is refused where it stands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from amplihack.errors import Location
from amplihack.recipes.decode import Decoded, decode_text
from amplihack.recipes.fields import TABLES, Field, Shape

RIGHT: dict[Shape, tuple[str, ...]] = {
    "text": ("word", "1.10", "'quoted'", "yes"),
    "template": ("word {{x}}", "'{{x}}'"),
    "condition": ("a == 1", "true", "'{{a}} == 1'", '"a and b"'),
    "flag": ("true", "False", "'true'", "yes", "No", "ON", "off"),
    "count": ("0", "12", "'7'"),
    "number": ("0", "1.5", "30", "'2.5'"),
    "bound": ("0", "-1.5", "30"),
    "duration": ("0", "1.5", "30", "'2.5'", "500ms", "5m", "1h30m", "'2d'"),
    "seconds": ("0", "600", "90s", "1h 30m", "'{{limit}}'"),
    "milliseconds": ("0", "12", "'7'", "2s", "500ms"),
    "attempts": ("1", "4", "'{{tries}}'"),
    "words": ("[]", "[a, 1.10]", ""),
    "map": ("{}", "{a: [1, {b: 2}]}", ""),
    "texts": ("{}", "{a: nonempty}", ""),
    "json": ("true", "false", "first", "last"),
    "items": ("'{{list}}'", "[1, 2]", "list.of.things"),
    "width": ("true", "false", "3", "'{{n}}'"),
    "any": ("1", "[a]", "{a: b}", "word"),
    "table": ("{}",),
    "tables": ("[{id: inner, command: ls}]",),
}
WRONG: dict[Shape, tuple[str, ...]] = {
    "text": ("[a]", "{a: b}"),
    "template": ("[a]", "{a: b}"),
    "condition": ("[a]", "a ==", "'(a'", "a = 1", "{a: b}"),
    "flag": ("1", "[true]", "'yes'", "y", "yEs", "ja"),
    "count": ("-1", "1.5", "many", "[1]", "true", "'-1'"),
    "bound": ("soon", "[1]", "{a: 1}", "true", "1" + "0" * 400, "'1'"),
    "number": ("-1", "soon", "[1]", "{a: 1}", "true", "1" + "0" * 400, "'1e5'"),
    "duration": ("-1", "soon", "[1]", "{a: 1}", "true", "1" + "0" * 400, "5 minutes", "1:30", "-5m", ".inf"),
    "seconds": ("-1", "soon", "[1]", "{a: 1}", "12x", "30m1h", ".nan"),
    "milliseconds": ("-1", "1.5", "many", "[1]", "true", "5 minutes"),
    "attempts": ("0", "-1", "1.5", "often", "[1]"),
    "words": ("word", "{a: b}", "[[a]]", "[{a: b}]"),
    "map": ("word", "[a]", "1"),
    "texts": ("word", "[a]", "{a: [b]}"),
    "choice": ("other", "[a]", "{a: b}", "''"),
    "json": ("maybe", "[true]", "1"),
    "items": ("{a: b}",),
    "width": ("0", "-1", "1.5", "many", "[1]"),
    "any": (),
    "table": ("word", "[a]", "true", "5"),
    "tables": ("word", "{a: b}", "[a]", "[[a]]"),
}
STEP_KINDS = {"bash": "command: ls", "agent": "prompt: hi", "recipe": "recipe: other"}
ONE_STEP = "steps: [{id: a, command: ls}]"
MARK = "# here"
NARROWER = {
    "inputs": ("[a]", "{a: {default: 1}}"),
    "parameters": ("[a]", "{a: {default: 1}}"),
    "output": ("word",),
    "max_concurrent_llm": ("12", "'7'"),  # fields that take less than their shape says
    "stages": ("[{name: s, steps: [{id: a, command: ls}]}]",),
    "provider_preferences": ("[]", "[{provider: p, model: m}, {class: fast}, name]"),
    "enum": ("[]", "[a, 1]"),
    "json_schema": ("{}", "{type: object}", ""),
}
TYPES = {"input": ("string", "integer"), "step": ("bash",)}  # what `type` may be, by its table
LAST_STAGE = "- {name: last, steps: [{id: z, command: ls}]}"
EVERY_FIELD = [(table.name, each) for table in TABLES.values() for each in table.fields]


def lines_for(table: str, line: str, given: Field) -> list[str]:
    """A recipe that is valid but for `line`, which stands in the named table."""
    match table:
        case "recipe":
            needed = {"name": ["name: n"], "steps": [ONE_STEP]}
            covered = {"stages": "steps"}.get(given.name, given.name)
            return [line, *(row for name, rows in needed.items() if name != covered for row in rows)]
        case "step":
            return ["name: n", "steps:", "-", *(f"  {row}" for row in (line, *_rest_of_step(given)))]
        case "stage":
            rest = [row for row in ("name: s", ONE_STEP) if not row.startswith(f"{given.name}:")]
            return ["name: n", "stages:", "-", *(f"  {row}" for row in (line, *rest)), LAST_STAGE]
        case "approval":
            prompt = [] if given.name == "prompt" else ["    prompt: p"]
            limit = ["    timeout: 5"] if given.name == "default" else []  # what it is the answer after
            stage = ["- name: s", f"  {ONE_STEP}", "  approval:", f"    {line}", *prompt, *limit]
            return ["name: n", "stages:", *stage, LAST_STAGE]
        case "input":
            return ["name: n", "parameters:", "  p:", f"    {line}", ONE_STEP]
        case "retry":
            return ["name: n", "steps:", "- id: a", "  command: ls", "  retry:", f"    {line}"]
        case "backoff":
            return ["name: n", "rate_limiting:", "  backoff:", f"    {line}", ONE_STEP]
        case other:
            return ["name: n", f"{other}:", f"  {line}", ONE_STEP]


def _rest_of_step(given: Field) -> list[str]:
    action = STEP_KINDS[given.kinds[0] if given.kinds else "bash"]
    if given.name == "steps":
        action = "foreach: [1]"
    if given.name == "prompt":  # one of its spellings wants to know who is asked
        action = "agent: a:b"
    if given.name in ("task", "skill", "actions", "inputs"):  # words for an agent that has no prompt
        return ["id: a", "agent: a:b", "description: d"]
    rest = {"id": "id: a", action.split(":")[0]: action}
    if given.loops:
        rest["loop"] = {"foreach": "foreach: [1]", "while_condition": "while_condition: x"}[given.loops[0]]
    return [row for name, row in rest.items() if name != given.name]


def decoded(table: str, spelling: str, value: str, given: Field) -> tuple[Decoded, int]:
    lines = lines_for(table, f"{spelling}: {value} {MARK}", given)
    number = next(n for n, line in enumerate(lines, 1) if line.endswith(MARK))
    return decode_text("\n".join(lines), "f"), number


def right_values(table: str, given: Field) -> tuple[str, ...]:
    if given.name == "type":
        return TYPES[table]
    if (table, given.name) == ("input", "env"):
        return ("HOME", "_x1")
    return NARROWER.get(given.name) or given.choices or RIGHT[given.shape]


@pytest.mark.parametrize(
    ("table", "given", "spelling"),
    [
        pytest.param(table, each, spelling, id=f"{table}.{spelling}")
        for table, each in EVERY_FIELD
        for spelling in (each.name, *each.aliases)
    ],
)
def test_right_values_are_taken_without_a_word(table: str, given: Field, spelling: str) -> None:
    for value in right_values(table, given):
        document, _ = decoded(table, spelling, value, given)
        complaints = [p.code for p in document.problems if p.code != "version-form"]
        assert complaints == (["no-effect"] if given.instead else []), value


@pytest.mark.parametrize(
    ("table", "given", "value"),
    [
        pytest.param(table, each, value, id=f"{table}.{each.name}={value[:12]}")
        for table, each in EVERY_FIELD
        for value in WRONG[each.shape]
    ],
)
def test_a_wrong_value_is_an_error_that_names_the_field_and_its_line(
    table: str, given: Field, value: str
) -> None:
    document, line = decoded(table, given.name, value, given)
    errors = [problem for problem in document.problems if problem.severity == "error"]
    named = [problem for problem in errors if given.name in problem.what and _line(problem.where) == line]
    assert any("should be" in problem.what or "cannot be read" in problem.what for problem in named)
    assert [problem for problem in named if not problem.fix] == []


def _line(where: Location | None) -> int:
    assert where is not None
    return where.line


@pytest.mark.parametrize("table", TABLES)
def test_unknown_fields_are_warned_about_in_every_table(table: str) -> None:
    given = replace(TABLES[table].fields[0], name="qqqqqq", aliases=(), kinds=())
    document, line = decoded(table, "qqqqqq", "1", given)
    (problem,) = [p for p in document.problems if p.code == "unknown-field"]
    assert problem.severity == "warning"
    assert "'qqqqqq' (possible typo)" in problem.what
    assert _line(problem.where) == line


@pytest.mark.parametrize("table", TABLES)
def test_fields_that_begin_with_x_are_the_authors_own(table: str) -> None:
    given = replace(TABLES[table].fields[0], name="x-note", aliases=(), kinds=())
    document, _ = decoded(table, "x-note", "[1, {a: b}]", given)
    assert document.problems == ()


def test_spellings_are_unique_in_each_table() -> None:
    for table in TABLES.values():
        spellings = [spelling for each in table.fields for spelling in (each.name, *each.aliases)]
        assert len(spellings) == len(set(spellings)) == len(table.known)


def test_every_nested_table_exists_and_every_choice_has_words() -> None:
    for _, each in EVERY_FIELD:
        assert (each.shape in ("table", "tables")) == bool(each.table)
        assert (each.shape == "choice") == bool(each.choices)
        assert each.table in TABLES or not each.table
        assert each.doc.endswith(".")


def test_an_empty_optional_field_might_as_well_not_be_there() -> None:
    for table, each in EVERY_FIELD:
        if each.required or each.name in ("steps", "stages", "prompt", "command", "recipe"):
            continue
        for empty in ("", "~", "null"):
            document, _ = decoded(table, each.name, empty, each)
            assert [p.code for p in document.problems if p.severity == "error"] == [], each.name
