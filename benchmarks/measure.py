"""Commands timed side by side: what counts is their ratio within one run, never a number of seconds."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PYTHON = sys.executable
AMPLIHACK = str(Path(sys.executable).with_name("amplihack"))


@dataclass(frozen=True, slots=True)
class Row:
    """A ratio and the bar that it should stay below, if there is one."""

    what: str
    compared_with: str
    ratio: float
    bar: float | None = None


def best_of(rounds: int, *commands: Sequence[str]) -> list[float]:
    """The shortest time of each command. They take turns, so that a busy machine slows all of them alike."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    best = [float("inf")] * len(commands)
    for _ in range(rounds + 1):  # the first round also fills the bytecode cache
        for index, command in enumerate(commands):
            start = time.perf_counter()
            subprocess.run(
                command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True
            )
            best[index] = min(best[index], time.perf_counter() - start)
    return best


def show(rows: Sequence[Row]) -> None:
    print(f"{'what':<52}{'compared with':<38}{'ratio':>8}{'bar':>8}")
    print("-" * 110)
    for row in rows:
        bar = "" if row.bar is None else f"≤ {row.bar:g}"
        verdict = "" if row.bar is None else "  met" if row.ratio <= row.bar else "  MISSED"
        print(f"{row.what:<52}{row.compared_with:<38}{row.ratio:>7.2f}×{bar:>8}{verdict}")
