"""The table: what was measured, against what, and whether it met its bar."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

_HEADS = ("work", "compared with", "now", "bar", "", "others")


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: a ratio, or a number with a unit. `others` are other runners, None for one that failed."""

    what: str
    compared_with: str
    figure: float
    bar: float | None = None
    unit: str = "×"
    others: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        if self.bar is None:
            return ""
        return "met" if self.figure <= self.bar else "MISSED"

    def cells(self) -> tuple[str, ...]:
        others = ", ".join(
            f"{name} {'failed' if other is None else amount(other, self.unit)}"
            for name, other in self.others.items()
        )
        bar = "" if self.bar is None else f"≤ {amount(self.bar, self.unit)}"
        return (self.what, self.compared_with, amount(self.figure, self.unit), bar, self.verdict, others)


def amount(number: float, unit: str) -> str:
    """Return a number with as many digits as matter."""
    whole = abs(number) >= (100 if unit == "×" else 10)
    digits = 0 if whole else 1 if abs(number) >= 10 else 2
    text = f"{number:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{text}{unit if unit == '×' else ' ' + unit}"


def layout(lines: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines with their cells below each other."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def show(rows: Iterable[Row]) -> str:
    """Return the table, for a terminal."""
    first, *rest = layout([_HEADS, *(row.cells() for row in rows)])
    return "\n".join([first, "─" * max(len(line) for line in (first, *rest)), *rest])


def show_markdown(rows: Iterable[Row]) -> str:
    """Return the table, for a page of the documentation."""
    lines = [_HEADS, ("---",) * len(_HEADS), *(row.cells() for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def summary(rows: Sequence[Row]) -> str:
    judged = [row for row in rows if row.bar is not None]
    return f"{sum(row.verdict == 'met' for row in judged)} of {len(judged)} bars are met"
