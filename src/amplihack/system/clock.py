"""Give a run the time and unpredictable words."""

from __future__ import annotations

import asyncio
import time

from amplihack.system.random_tokens import token


class SystemClock:
    def now(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        if seconds > 0:
            await asyncio.sleep(seconds)

    def token(self) -> str:
        return f"AH_{token(12)}"
