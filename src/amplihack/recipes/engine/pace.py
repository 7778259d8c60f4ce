"""Limit how many agents run at once and how soon they follow each other, for the whole run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from amplihack.recipes.model import RateLimit
from amplihack.recipes.ports import Clock


class Pace:
    """Gives each agent its turn. After a rate-limited answer the next ones wait longer."""

    def __init__(self, clock: Clock, rule: RateLimit | None, *, most: int) -> None:
        self._clock = clock
        self._rule = rule or RateLimit(backoff=None)
        self._slots = asyncio.Semaphore(min(most, self._rule.max_concurrent or most))
        self._last_end: float | None = None
        self._delay = 0.0  # grows while the provider complains
        self._successes = 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until an agent may start, and note when it has ended."""
        async with self._slots:
            await self._clock.sleep(self._pause())
            try:
                yield
            finally:
                self._last_end = self._clock.now()

    def _pause(self) -> float:
        wanted = max(self._rule.min_delay_ms / 1000, self._delay)
        if self._last_end is None or wanted == 0:
            return 0.0
        return max(0.0, self._last_end + wanted - self._clock.now())

    def succeeded(self) -> None:
        self._successes += 1
        if self._rule.backoff and self._successes >= self._rule.backoff.reset_after_success:
            self._delay = 0.0

    def rate_limited(self) -> None:
        self._successes = 0
        if backoff := self._rule.backoff:
            # The first complaint starts with the initial delay; each further one multiplies it.
            grown = self._delay * backoff.multiplier * 1000 or backoff.initial_delay_ms
            self._delay = min(grown, backoff.max_delay_ms) / 1000
