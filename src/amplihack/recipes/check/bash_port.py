"""Define what the check asks of bash."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from amplihack.records import Record


class SyntaxFault(Record):
    """What bash says against a script, and the line, counted from 1."""

    line: int
    what: str
    certain: bool = True  # False for a mere warning of bash


# Takes scripts and returns what is wrong with them, by their position. Nothing of them is run.
AskBash: TypeAlias = Callable[[Sequence[str]], Mapping[int, SyntaxFault]]
