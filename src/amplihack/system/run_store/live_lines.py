"""Gather what steps print, for those who follow a run: in batches, and no more than anybody would read."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from itertools import chain

from amplihack.recipes.events import LinesPrinted

_PAUSE = 0.25  # seconds between two batches
_BATCH = 65_536  # characters of one batch of a step
_LONGEST = 4_000  # characters of one line
_ROOM = 16_000_000  # characters of a whole run; a step's result has all of its output anyway


class _Heard:
    """The newest lines of one stream of one step. Old ones are dropped as they came, many at once."""

    def __init__(self) -> None:
        self._batches: deque[tuple[tuple[str, ...], int]] = deque()  # lines, and their characters
        self._size = self._left_out = 0

    def add(self, lines: tuple[str, ...]) -> None:
        size = sum(map(len, lines)) + len(lines)
        self._batches.append((lines, size))
        self._size += size
        while self._size - self._batches[0][1] > _BATCH:
            old, size = self._batches.popleft()
            self._size -= size
            self._left_out += len(old)

    def lines(self) -> tuple[str, ...]:
        """Return what there is room for, after a word on what there was no room for."""
        kept: list[str] = []
        room = _BATCH
        for line in chain.from_iterable(reversed(batch) for batch, _ in reversed(self._batches)):
            kept.append(line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…")
            room -= len(kept[-1]) + 1
            if room < 0:
                break
        left_out = self._left_out + sum(len(batch) for batch, _ in self._batches) - len(kept)
        return (*((f"… {left_out} lines left out here",) if left_out else ()), *reversed(kept))


class LiveLines:
    """Collects lines and hands them on a few times a second, masked."""

    def __init__(self, write: Callable[[LinesPrinted], None]) -> None:
        self.mask: Callable[[LinesPrinted], LinesPrinted] = lambda event: event
        self._write = write
        self._heard: dict[tuple[str, str], _Heard] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._room = _ROOM
        self._told: set[str] = set()  # steps whose first lines have been handed on

    def add(self, event: LinesPrinted) -> None:
        if self._room < 0:
            return
        self._heard.setdefault((event.identity, event.stream), _Heard()).add(event.lines)
        if self._timer is None:
            try:
                self._timer = asyncio.get_running_loop().call_later(_PAUSE, self.flush)
            except RuntimeError:  # nothing runs, so nobody follows
                self.flush()

    def ended(self, identity: str) -> None:
        """Hand on the last lines of a step, or forget all of them if it was quick: its result has them.

        The result does not have those of hooks, which are handed on in any case.
        """
        known = identity in self._told
        self._told.discard(identity)
        if not known and self._heard:
            self._heard = {
                key: each
                for key, each in self._heard.items()
                if key[0] != identity or LinesPrinted(*key, ()).of_hook
            }
        if known or any(key[0] == identity for key in self._heard):
            self.flush()
            self._told.discard(identity)

    def flush(self) -> None:
        """Hand on what has been gathered."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        heard, self._heard = self._heard, {}
        for (identity, stream), each in heard.items():
            self._told.add(identity)
            event = self.mask(LinesPrinted(identity, stream, each.lines()))
            self._room -= sum(map(len, event.lines)) + len(event.lines)
            full = ("… no more lines are kept of this run; its results are",) if self._room < 0 else ()
            self._write(LinesPrinted(identity, stream, (*event.lines, *full)))

    def close(self) -> None:
        self.flush()
        if self._timer is not None:
            self._timer.cancel()
