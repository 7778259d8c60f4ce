"""Define regular expressions that cost nothing until they are used.

Compiling one takes a tenth of a millisecond or more, and a command needs few of those that its modules know.
"""

from __future__ import annotations

import re
import sys
from typing import Any, AnyStr, cast

_compile = re.compile
if sys.version_info < (3, 11, 7):
    from amplihack.possessive import compile_rightly as _compile  # type: ignore[assignment] # has no overloads


class _Pattern:
    """Stands for a compiled expression: compiles it when it is first asked, and keeps its methods."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(_compile(self._text, self._flags), name)
        setattr(self, name, found)
        return found


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what `re.compile` returns, compiled on first use."""
    return cast("re.Pattern[AnyStr]", _Pattern(text, flags))
