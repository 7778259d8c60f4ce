"""A value of the wrong shape is told once, where it stands, and with how to write it: for every field."""

from __future__ import annotations

import pytest

from amplihack.recipes.decode import decode_text
from amplihack.recipes.fields import TABLES, Field

_WRONG: dict[str, tuple[str, ...]] = {
    "text": ("[a, b]", "{a: 1}"),
    "template": ("[a, b]", "{a: 1}"),
    "condition": ("[a, b]", "{a: 1}", "a = 1", "a.startsWith('b')"),
    "flag": ("maybe", "3", "[a]", "'{{x}}'"),
    "count": ("many", "-1", "1.5", "[a]", "'{{x}}'"),
    "number": ("many", "-1", "[a]"),
    "bound": ("many", "'3'", "[a]"),
    "duration": ("soon", "-1", "5min", "1:30", "PT5M", "[a]", "{a: 1}"),
    "seconds": ("soon", "-1", "5 minutes", "[a]"),
    "milliseconds": ("soon", "-1", "1.5", "5 sec", "[a]"),
    "attempts": ("many", "0", "-1", "[a]"),
    "words": ("3", "{a: 1}", "[[a]]"),
    "map": ("[a]", "word", "3"),
    "texts": ("[a]", "word"),
    "choice": ("nonsense", "[a]", "3"),
    "json": ("maybe", "[a]"),
    "items": ("{a: 1}",),
    "width": ("many", "0", "[a]"),
    "any": (),
    "table": ("word", "[a]", "true"),
    "tables": ("word", "{a: 1}", "3"),
}
_STEP = "steps:\n  - id: s\n    command: ls\n"
_MAIN = {"bash": "command: ls", "agent": "prompt: hi", "recipe": "recipe: r", "": "command: ls"}
_LOOP = {"foreach": "foreach: [a]", "while_condition": "while_condition: x"}
# The lines around a field of each table that is no step and not the whole; `%` is where it stands.
_AROUND = {
    "recursion": f"name: n\nrecursion:\n  %\n{_STEP}",
    "hooks": f"name: n\nhooks:\n  %\n{_STEP}",
    "rate_limiting": f"name: n\nrate_limiting:\n  %\n{_STEP}",
    "backoff": f"name: n\nrate_limiting:\n  backoff:\n    %\n{_STEP}",
    "orchestrator": f"name: n\norchestrator:\n  %\n{_STEP}",
    "input": f"name: n\nparameters:\n  p:\n    %\n{_STEP}",
    "retry": f"name: n\n{_STEP}    retry:\n      %\n",
    "approval": (
        "name: n\nstages:\n  - name: t\n    approval:\n      %\n    steps: [{id: s, command: ls}]\n"
        "  - name: u\n    steps: [{id: v, command: ls}]\n"
    ),
}


def _recipe_with(table: str, field: Field, wrong: str) -> str:
    line = f"{field.name}: {wrong}"
    if table in _AROUND:
        return _AROUND[table].replace("%", line)
    if table == "recipe":
        name = "" if field.name == "name" else "name: n\n"
        return name + line + "\n" + ("" if field.name in ("steps", "stages") else _STEP)
    if table == "stage":
        rest = {"name": "t", "steps": "[{id: s, command: ls}]"}
        lines = [line, *(f"{name}: {value}" for name, value in rest.items() if name != field.name)]
        return "name: n\nstages:\n  - " + "\n    ".join(lines) + "\n"
    return "name: n\nsteps:\n  - " + "\n    ".join(_lines_of_step(field, line)) + "\n"


def _lines_of_step(field: Field, line: str) -> list[str]:
    """Return the lines of a step on which the field has an effect."""
    main = _MAIN[field.kinds[0] if field.kinds else ""]
    if field.name in ("task", "skill", "actions"):
        main = "agent: a"
    if field.name == "steps":
        main = "foreach: [a]"
    loop = [_LOOP[field.loops[0]]] if field.loops else []
    own_id = [] if field.name == "id" else ["id: s"]
    return [*own_id, *loop, *([] if main.startswith(f"{field.name}:") else [main]), line]


_CASES = [
    pytest.param(name, field, wrong, id=f"{name}.{field.name}={wrong}")
    for name, table in TABLES.items()
    for field in table.fields
    for wrong in _WRONG[field.shape]
]


@pytest.mark.parametrize(("table", "field", "wrong"), _CASES)
def test_a_wrong_shape_is_told_once_with_its_place_and_a_fix(table: str, field: Field, wrong: str) -> None:
    text = _recipe_with(table, field, wrong)
    (problem,) = [each for each in decode_text(text, "r.yaml").problems if each.severity == "error"]
    before, _, _ = text.partition(f"{field.name}: {wrong}")
    assert problem.where is not None
    assert (problem.where.line, bool(problem.fix)) == (before.count("\n") + 1, True)
    assert problem.where.column > problem.where.text.index(f"{field.name}:")


_STAGE = "name: n\nstages:\n  - nmae: t\n    steps: [{id: s, command: ls}]\n"


@pytest.mark.parametrize(
    ("text", "line", "fix"),
    [
        ("nmae: n\n" + _STEP, 1, "write `name:` for `nmae:`"),
        ("name: n\nstpes:\n  - {id: s, command: ls}\n", 2, "write `steps:` for `stpes:`"),
        ("name: n\nsteps:\n  - Id: s\n    command: ls\n", 3, "write `id:` for `Id:`"),
        ("name: n\nsteps:\n  - id: s\n    comand: ls\n", 4, "write `command:` for `comand:`"),
        ("name: n\njobs:\n  - {id: s, command: ls}\n", 2, "write `steps:`"),
        (_STAGE, 3, "write `name:` for `nmae:`"),
    ],
)
def test_a_misspelt_field_that_is_needed_is_told_once_where_it_stands(text: str, line: int, fix: str) -> None:
    (problem,) = decode_text(text, "r.yaml").problems
    assert problem.where is not None
    assert (problem.severity, problem.where.line, problem.fix) == ("error", line, fix)
