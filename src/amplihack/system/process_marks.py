"""Mark processes by a variable in their environment, to find them after their parents are gone.

A program may detach what it starts from its session, its group and its parent; the environment that it was
started with stays. The variable holds one mark after the other, the outermost run first, each with a `;`:

    20261116T120000Z-1f2e3d4c.5b6a7988;0a1b2c3d4e5f6071-3:build;
    a run                              a process of it: who started it, its number, its step
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from functools import lru_cache

from amplihack.system.random_tokens import token

VARIABLE = "AMPLIHACK_PROCESS_MARK"
_numbers = itertools.count(1)


@lru_cache(maxsize=1)
def _of_process(pid: int) -> str:
    del pid  # a fork has another one, and so gets a mark of its own
    return token(8)


def starter() -> str:
    """Return the common beginning of the marks of all processes that this one starts."""
    return f"{_of_process(os.getpid())}-"


def command_mark(step: str) -> str:
    """Return a new mark for a process of a step."""
    return f"{starter()}{next(_numbers)}:{step.replace(';', ',')}"


def with_mark(environment: Mapping[str, str], mark: str) -> str:
    """Return the value of the variable with one more mark."""
    return f"{environment.get(VARIABLE, '')}{mark};"


def run_mark(environment: Mapping[str, str]) -> str:
    """Return the mark, with its `;`, of the run that this environment belongs to; empty if none."""
    mark = environment.get(VARIABLE, "").rstrip(";").rpartition(";")[2]
    return f"{mark};" if mark and ":" not in mark else ""  # with a `:` it is a process around us


def carries(marks: str, wanted: str) -> bool:
    """Tell whether one of the marks is, or begins with, the wanted one."""
    return marks.startswith(wanted) or f";{wanted}" in marks


def command_after(marks: str, run: str) -> str:
    """Return the mark of a run's process in these marks; `run` includes its `;`."""
    return marks.partition(run)[2].partition(";")[0]


def step_of(mark: str) -> str:
    """Return the step of the process with this mark."""
    return mark.partition(":")[2]
