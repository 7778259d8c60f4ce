"""Decode how often a step runs: the fields of a loop to a `Loop`."""

from __future__ import annotations

from amplihack.documents import Sequence, to_value
from amplihack.recipes.model import Foreach, Loop, Number, Text, While
from amplihack.recipes.reading import Fields, Report
from amplihack.recipes.rewritten_numbers import tell_rewritten
from amplihack.recipes.semantics import ITEM


def loop_of(fields: Fields, owner: str, report: Report) -> Loop | None:
    """Return the loop of a step that has `foreach` or `while_condition`; None if it cannot be read."""
    over = _over(fields, owner, report)
    if over is None:
        return None
    if isinstance(over, Foreach) and over.parallel is not None:
        _tell_between_rounds(fields, owner, report)
    limit = "max_iterations" if isinstance(over, Foreach) else "max_while_iterations"
    count = fields.count(limit)
    return Loop(
        over,
        100 if count is None else count,
        fields.word("collect"),
        fields.test("break_when"),
        fields.map("update_context"),
    )


def _tell_between_rounds(fields: Fields, owner: str, report: Report) -> None:
    """Report what is to be decided between rounds, where these run at the same time."""
    for name in ("break_when", "update_context"):
        if name in fields:
            report.add(
                "parallel-loop",
                f"{owner}'{name}' has no effect where rounds run at the same time",
                fields.where(name),
                "remove it, or remove `parallel`",
                "warning",
            )


def _over(fields: Fields, owner: str, report: Report) -> Foreach | While | None:
    condition = fields.test("while_condition")
    if condition and "foreach" in fields:
        report.add(
            "two-loops",
            f"{owner}'foreach' and 'while_condition' exclude each other",
            fields.where("while_condition"),
            "put one loop into the body of the other",
        )
    if condition:
        return While(condition)
    items = fields.values.get("foreach")
    tell_rewritten(fields.nodes.get("foreach"), report)
    if isinstance(items, Sequence):
        literal = tuple(to_value(item) for item in items.items)
        return Foreach(literal, fields.word("as") or ITEM, _width(fields))
    if isinstance(items, Text):
        return Foreach(items, fields.word("as") or ITEM, _width(fields))
    return None


def _width(fields: Fields) -> Number | None:
    value = fields.values.get("parallel")
    if value is True:
        return 0
    if value is None or value is False:
        return None
    return value if isinstance(value, int | str) else None
