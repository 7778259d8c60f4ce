"""Regular expressions that cost nothing until they are used.

Compiling one takes a tenth of a millisecond or more, and a command needs few of those that its modules know.
"""

from __future__ import annotations

import re
from typing import Any, cast

process_is_ours = False  # set by a command: `CompiledLater` does nothing in other people's programs


class _Pattern:
    """Stands for a compiled expression: compiles it when it is first asked, and keeps its methods."""

    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(_compile(self._text, self._flags), name)
        setattr(self, name, found)
        return found


_compile = re.compile


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return what `re.compile` returns, compiled on first use."""
    return cast("re.Pattern[str]", _Pattern(text, flags))


class CompiledLater:
    """While a module is imported, makes its expressions like ours. Only in a process of our own."""

    def __enter__(self) -> None:
        if process_is_ours:
            re.compile = pattern  # type: ignore[assignment]

    def __exit__(self, *_: object) -> None:
        re.compile = _compile
