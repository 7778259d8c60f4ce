"""Find numbers among values that a text shows in another way than the file: `3.10` is the number 3.1."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.documents import Mapping, Node, Scalar, Sequence
from amplihack.recipes.reading import Report
from amplihack.recipes.values import to_text

_MAY_BEGIN = frozenset("0123456789+-.")


def tell_rewritten(node: Node | None, report: Report) -> None:
    """Warn of every number inside a value that would be shown differently."""
    for scalar, shown in _rewritten(node):
        what = f"{scalar.text} is a number, and reads {shown} wherever it is put"
        fix = f"write '{scalar.text}' in quotes to keep it as it is, or {shown}"
        report.add("rewritten-number", what, scalar.where, fix, "warning")


def _rewritten(node: Node | None) -> Iterator[tuple[Scalar, str]]:
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Mapping):
            waiting += each.entries.values()
        elif isinstance(each, Sequence):
            waiting += each.items
        elif isinstance(each, Scalar) and each.style == "plain" and each.text[:1] in _MAY_BEGIN:
            value = each.value
            if isinstance(value, int | float) and to_text(value) != each.text:
                yield each, to_text(value)
