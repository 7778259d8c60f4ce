"""Show on a terminal what preparing a bundle does, and how long each module took."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

_WORDS = {
    "installing_package": "installing the package {name}",
    "installing": "installing what {name} needs",
    "done": "{name} is ready",
    "failed": "{name} failed",
}


class ProgressLines:
    """Writes a line for what takes time. A module that is simply there is not worth one."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._begun: dict[str, float] = {}
        self._told: set[str] = set()

    def __call__(self, action: str, name: str) -> None:
        self._begun.setdefault(name, self._clock())
        if action in ("installing", "installing_package"):
            self._told.add(name)
        if action not in _WORDS or (action == "done" and name not in self._told):
            return
        seconds = self._clock() - self._begun[name]
        after = f" ({seconds:.1f} s)" if action in ("done", "failed") else ""
        self._stream.write(f"{_WORDS[action].format(name=name)}{after}\n")
        self._stream.flush()
