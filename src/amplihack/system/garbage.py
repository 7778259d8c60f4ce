"""Look for garbage less often while much is made that stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

OBJECTS = 50_000  # made since the last look; Python's own 700 are a fifth of the time of a thousand bundles


class _Calm:
    """How often Python looked for garbage before somebody asked for calm, and how many have asked."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._asked = 0
        self._before = gc.get_threshold()

    def begin(self) -> None:
        with self._lock:
            self._asked += 1
            if self._asked == 1:
                self._before = gc.get_threshold()
                if 0 < self._before[0] < OBJECTS:  # with 0, a program has turned it off
                    gc.set_threshold(OBJECTS, *self._before[1:])

    def end(self) -> None:
        """Go back to what was before, unless the program has said something else meanwhile."""
        with self._lock:
            self._asked -= 1
            if not self._asked and gc.get_threshold() == (OBJECTS, *self._before[1:]):
                gc.set_threshold(*self._before)


_CALM = _Calm()


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Let Python look for garbage less often until the end, in all threads."""
    _CALM.begin()
    try:
        yield
    finally:
        _CALM.end()
