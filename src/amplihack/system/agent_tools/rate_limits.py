"""Recognise rate limits, and retry after a pause."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Callable, Mapping

from amplihack.documents.durations import seconds_in
from amplihack.patterns import pattern
from amplihack.recipes.agent_port import AgentFailed, AgentReply, AgentRequest, AgentRunner
from amplihack.records import Record, replace

_PREFIX = "AMPLIHACK_RATELIMIT_"
_MOST_RETRIES = 100
_JITTER = 0.1  # up to a tenth longer, so that parallel agents do not come back at the same moment

_WORDS = pattern(
    r"\brate[ _-]?limit(?:s|ed|_error|_exceeded)?\b|\btoo many requests\b|\boverloaded(?:_error)?\b"
    r"|\bhit your (?:\w+ ){0,2}limit\b|\b(?:usage|session|weekly|quota) limit (?:reached|exceeded)\b",
    re.IGNORECASE,
)
# A bare 429 is as likely a line number; it counts next to a word that makes it a status.
_NEARBY = r"(?<![a-z./])(?:(?:api|http|client|server)?error|http|status|api|code|response|request|rejected)"
_BEFORE = rf"{_NEARBY}(?:/[\d.]+)?(?:[^\n\w]{{1,5}}(?:{_NEARBY}|is|was|with))*[^\n\w]{{1,5}}"
_BUSY = r"(?:429|503|529)\b"
_STATUS = pattern(rf"{_BEFORE}{_BUSY}|\b{_BUSY}[^\n\w]{{1,5}}{_NEARBY}\b", re.IGNORECASE)
_TRANSIENT = pattern(
    r"\b(?:ECONNRESET|ECONNREFUSED|ETIMEDOUT|connection (?:reset|refused|error|closed)|stream disconnected"
    r"|network error|temporar(?:y|ily)|timed out|internal server error|bad gateway|server-side issue)\b"
    rf"|{_BEFORE}(?:500|502|504)\b",
    re.IGNORECASE,
)
_WAIT = pattern(
    r"(?:retry[- _]?after|(?:try|retry) again in|resets? in)\W{1,3}(\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE
)
_UNITS = {"ms": 0.001, "mi": 60.0, "m": 60.0, "h": 3600.0, "ho": 3600.0}


class MetLimit(Record):
    """A rate limit that was reported. `retry_after` is in seconds; None if not given."""

    retry_after: float | None = None


def rate_limited(exit_code: int | None, text: str) -> MetLimit | None:
    """Find a rate limit in the output of a failed tool. A tool that succeeded met none."""
    if exit_code == 0 or not (_WORDS.search(text) or _STATUS.search(text)):
        return None
    return MetLimit(_retry_after(text))


def transient(text: str) -> bool:
    """Tell whether the same request may succeed a little later."""
    return _TRANSIENT.search(text) is not None


def _retry_after(text: str) -> float | None:
    found = _WAIT.search(text)
    if found is None:
        return None
    unit = found[2].lower()
    return float(found[1]) * _UNITS.get(unit[:2], _UNITS.get(unit[:1], 1.0))


class Patience(Record, kw_only=True):
    """How often to retry, and how long to wait before each retry."""

    retries: int = 5
    base: float = 60.0
    longest: float = 600.0
    last_model: str | None = None  # what the last attempt asks for instead of the step's model

    def delay(self, retry: int, retry_after: float | None = None) -> float:
        """Return the seconds before retry 1, 2, …: doubling, at least `retry_after`, at most `longest`."""
        # 0 switches the waiting off.
        if self.base == 0:
            return 0.0
        doubled = self.base * 2.0 ** min(retry - 1, 60)
        return min(max(doubled, retry_after or 0.0), self.longest)


def patience_from(environment: Mapping[str, str]) -> Patience:
    """Read the `AMPLIHACK_RATELIMIT_*` settings. Invalid values count as not given."""

    def number(name: str, default: int) -> int:
        text = environment.get(_PREFIX + name, "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default

    def seconds(name: str, default: float) -> float:
        found = seconds_in(environment.get(_PREFIX + name, ""))
        return default if found is None else found

    base = seconds("BASE_DELAY_SECS", 60.0)
    return Patience(
        retries=min(number("MAX_RETRIES", 5), _MOST_RETRIES),
        base=base,
        longest=max(base, seconds("MAX_DELAY_SECS", 600.0)),
        last_model="auto" if environment.get(_PREFIX + "FALLBACK_AUTO_MODEL") else None,
    )


class Patient(Record):
    """An agent that waits and asks again when it meets a rate limit, and reports it."""

    agent: AgentRunner
    patience: Patience

    @property
    def name(self) -> str:
        return self.agent.name

    async def ask(self, request: AgentRequest, on_line: Callable[[str], None]) -> AgentReply:
        for retry in range(1, self.patience.retries + 1):
            try:
                return await self.agent.ask(request, on_line)
            except AgentFailed as error:
                if not error.rate_limited:
                    raise
                await self._wait(retry, error, on_line)
        return await self._ask_last(request, on_line)

    async def _wait(self, retry: int, error: AgentFailed, on_line: Callable[[str], None]) -> None:
        delay = self.patience.delay(retry, error.retry_after)
        delay += delay * _JITTER * random.random()  # noqa: S311 - spreading load needs no secrecy
        total = self.patience.retries + 1
        on_line(
            f"{self.name} met a rate limit; trying again in {delay:.0f}s (attempt {retry + 1} of {total})"
        )
        await asyncio.sleep(delay)

    async def _ask_last(self, request: AgentRequest, on_line: Callable[[str], None]) -> AgentReply:
        if self.patience.last_model and self.patience.retries:
            request = replace(request, model=self.patience.last_model)
        try:
            return await self.agent.ask(request, on_line)
        except AgentFailed as error:
            if error.rate_limited and self.patience.retries:
                raise _worn_out(error, self.patience.retries) from error
            raise


def _worn_out(error: AgentFailed, retries: int) -> AgentFailed:
    return AgentFailed(
        f"{error.what}; the rate limit persisted after {retries} retries ({retries + 1} attempts in all)",
        fix=f"try again later, or allow for more with {_PREFIX}MAX_RETRIES",
        tool_exit_code=error.tool_exit_code,
        stdout=error.stdout_tail,
        stderr=error.stderr_tail,
        rate_limited=True,
        retry_after=error.retry_after,
    )
