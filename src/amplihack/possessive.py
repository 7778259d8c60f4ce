"""Compile expressions with possessive repeats on a Python that matches them wrongly.

Python 3.11.2, which Debian 12 has, lets `(?:'a'|b)*+` match what it should not. The same repeat inside of an
atomic group, `(?>(?:'a'|b)*)`, means the same and is matched rightly.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

_PARTS: dict[str, Callable[[Any], Any]] = {  # where the parts of an operation are, in what it is given
    "MAX_REPEAT": lambda given: [given[2]],
    "MIN_REPEAT": lambda given: [given[2]],
    "POSSESSIVE_REPEAT": lambda given: [given[2]],
    "SUBPATTERN": lambda given: [given[3]],
    "ATOMIC_GROUP": lambda given: [given],
    "ASSERT": lambda given: [given[1]],
    "ASSERT_NOT": lambda given: [given[1]],
    "BRANCH": lambda given: given[1],
    "GROUPREF_EXISTS": lambda given: [part for part in given[1:] if part is not None],
}


def compile_rightly(text: str | bytes, flags: int = 0) -> re.Pattern[Any]:
    """Return what `re.compile` returns, with atomic groups in the place of possessive repeats."""
    parser: Any = import_module("re._parser")
    compiler: Any = import_module("re._compiler")
    parts = _with_atoms(parser.parse(text, flags), parser)
    found: re.Pattern[Any] = compiler.compile(parts, flags)
    return found


def _with_atoms(parts: Any, parser: Any) -> Any:
    for number, (operation, given) in enumerate(parts.data):
        parts_of = _PARTS.get(str(operation))
        for part in parts_of(given) if parts_of else ():
            _with_atoms(part, parser)
        if str(operation) == "POSSESSIVE_REPEAT":
            repeat = parser.SubPattern(parts.state, [(parser.MAX_REPEAT, given)])
            parts.data[number] = (parser.ATOMIC_GROUP, repeat)
    return parts
