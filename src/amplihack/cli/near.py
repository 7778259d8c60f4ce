"""Shorten paths below the current directory to relative ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

from amplihack.errors import Location, Problem
from amplihack.records import replace

Near: TypeAlias = Callable[[str], str]


def near(cwd: Path) -> Near:
    """Return a function that shortens the paths below the directory in a text; URLs stay whole."""
    below = re.compile(rf"(?<![\w./:~-]){re.escape(str(cwd))}/(?=[^\s'\"])")
    return lambda text: below.sub("", text)


def near_problems(problems: Iterable[Problem], shorten: Near) -> list[Problem]:
    return [
        replace(
            each,
            what=shorten(each.what),
            fix=shorten(each.fix),
            where=_near_place(each.where, shorten) if each.where else None,
        )
        for each in problems
    ]


def _near_place(where: Location, shorten: Near) -> Location:
    return replace(where, file=shorten(where.file))
