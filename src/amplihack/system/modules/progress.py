"""Tell what preparing a bundle does, as far as it takes time, and how long each module took."""

from __future__ import annotations

import time
from collections.abc import Callable

_WORDS = {
    "fetched": "{name} is fetched",
    "installing": "installing what {name} needs",
    "done": "{name} is ready",
    "failed": "{name} failed",
}
_NOTICEABLE = 2.0  # seconds for the source of a module, after which it is told that it came


class ProgressLines:
    """Writes a line for what takes time. A module that is simply there is not worth one."""

    def __init__(self, write: Callable[[str], object], clock: Callable[[], float] = time.monotonic) -> None:
        self._write, self._clock = write, clock
        self._begun: dict[str, float] = {}
        self._told: set[str] = set()

    def __call__(self, action: str, name: str) -> None:
        begun = self._begun.setdefault(name, self._clock())
        seconds = self._clock() - begun
        if action == "installing":
            self._told.add(name)
        quick = action == "fetched" and seconds < _NOTICEABLE
        if action not in _WORDS or quick or (action == "done" and name not in self._told):
            return
        after = f" ({seconds:.1f} s)" if action != "installing" else ""
        self._write(f"{_WORDS[action].format(name=name)}{after}")
