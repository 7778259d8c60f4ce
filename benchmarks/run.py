"""Every benchmark as one table of ratios: `make bench`."""

from __future__ import annotations

import sys
import timeit
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.measure import Row


def main() -> None:
    sys.path.insert(
        0, str(Path(__file__).parents[1])
    )  # run as a script, a benchmark sees only its own folder
    measure = import_module("benchmarks.measure")
    table: list[Row] = []
    for name in ("startup", "validate", "bundles"):
        table += import_module(f"benchmarks.{name}").rows()
    measure.show([*table, *_conditions(), *_templates()])


def _conditions() -> list[Row]:
    from benchmarks.conditions import CASES, SCOPE
    from benchmarks.measure import Row

    from amplihack.recipes.conditions import holds, parse_condition

    title, text, plain = next(case for case in CASES if case[0] == "typical")
    condition = parse_condition(text)
    evaluated = _seconds(lambda: holds(condition, SCOPE)) / _seconds(lambda: plain(SCOPE))
    parsed = _seconds(lambda: parse_condition(text)) / _seconds(lambda: compile(text, "condition", "eval"))
    return [
        Row(f"a {title} condition, evaluated", "the same as a Python lambda", evaluated),
        Row(f"a {title} condition, parsed", "compile() of the same text", parsed),
    ]


def _templates() -> list[Row]:
    from benchmarks.measure import Row
    from benchmarks.templates import best, render, script

    small, large = (best(partial(render, script(size))) for size in (70, 140))
    return [Row("a 140 kB script, rendered", "a 70 kB script (2 is linear)", large / small)]


def _seconds(action: Callable[[], object]) -> float:
    """Seconds for one call, the best of five rounds."""
    timer = timeit.Timer(action)
    rounds = max(1, timer.autorange()[0] // 10)
    return min(timer.repeat(5, rounds)) / rounds


if __name__ == "__main__":
    main()
