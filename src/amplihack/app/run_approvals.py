"""Put what tools of a step's session want to do to whoever answers the gates of the run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from amplihack.recipes.agent_port import Decision
from amplihack.sessions.answers import ALLOW_ONCE, DENY
from amplihack.sessions.calls import REMINDER
from amplihack.system.terminal_text import spelled_out

_LOOK = 0.05  # seconds between two looks at what still runs
_SHARE = 0.8  # of the time that the asking hook gives: after it, the tool would be denied


class RunApprovals:
    """What holds for all steps of a run. `all_allowed` is `--yes`; `mask` hides secrets in what is asked.

    `secrets` returns those that variables hold, by name.
    """

    def __init__(
        self, mask: Callable[[str], str], secrets: Callable[[], Mapping[str, str]], *, all_allowed: bool
    ) -> None:
        self.mask, self.secrets, self.all_allowed = mask, secrets, all_allowed
        self.alone = asyncio.Lock()

    def of(
        self, allow: Callable[[str], Awaitable[Decision | None]], tell: Callable[[str], None]
    ) -> StepApprovals:
        return StepApprovals(self, allow, tell)


class StepApprovals:
    """The approval system of one step's session. `denied` is what was not allowed."""

    def __init__(
        self,
        run: RunApprovals,
        allow: Callable[[str], Awaitable[Decision | None]],
        tell: Callable[[str], None],
    ) -> None:
        self._run, self._allow, self._tell = run, allow, tell
        self.denied: list[str] = []
        self.answered = 0  # questions that somebody has answered
        self.advise: Callable[[str], None] | None = None  # tells the agent why something is denied
        self.waiting = 0  # questions that a person may answer when this process has ended
        self._opened = asyncio.Event()
        self._limit = float("inf")

    async def request_approval(
        self,
        prompt: str,
        options: Sequence[str],
        timeout: float,  # noqa: ASYNC109 - the kernel calls it so
        default: str,
    ) -> str:
        """Return the answer. Where it may come later this never returns, and `only_waits` does."""
        del options, default
        asked = spelled_out(self._run.mask(prompt))
        if self._run.all_allowed:
            self._tell(f"allowed by --yes: {asked}")
            return ALLOW_ONCE
        async with self._run.alone:
            try:
                decision = await self._allow(asked)
            except asyncio.CancelledError:
                self._deny(asked, "as nobody answered in time")
                raise
        if decision is None:
            return await self._wait(timeout)
        self.answered += 1
        if not decision.approved:
            if decision.by and decision.message and self.advise is not None:
                why = f"The person who answered no to '{asked}' says: {decision.message}"
                self.advise(f"{REMINDER}>{why}</system-reminder>")  # no new prompt: the turn goes on
            return self._deny(asked, f"by {decision.by}" if decision.by else f"as {decision.message}")
        self._tell(f"allowed by {decision.by or 'a person'}: {asked}")
        return ALLOW_ONCE

    def _deny(self, asked: str, why: str) -> str:
        self._tell(f"denied, {why}: {asked}")
        self.denied.append(asked.removeprefix("Allow ").removesuffix("?"))
        return DENY

    async def _wait(self, seconds: float) -> str:
        loop = asyncio.get_running_loop()
        if seconds and seconds > 0:
            self._limit = min(self._limit, loop.time() + seconds * _SHARE)
        self.waiting += 1
        self._opened.set()
        try:
            await loop.create_future()
        finally:
            self.waiting -= 1
        return DENY

    async def only_waits(self, running: Callable[[], int]) -> None:
        """Return when a question waits for a person and nothing runs beside it that would be cut off.

        `running` tells how much does, what waits included. What takes too long is not waited for.
        """
        await self._opened.wait()
        loop = asyncio.get_running_loop()
        while running() > self.waiting and loop.time() < self._limit:  # noqa: ASYNC110 - the kernel tells nobody
            await asyncio.sleep(_LOOK)
