"""Count what the models of a session used."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from amplihack.records import Record, replace
from amplihack.sessions.costs import cost_of

CHILD_COMPLETED = "session:child_completed"  # our own event: what a child used counts for its parent
_COUNTED = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
_SUMMED = ("calls", *_COUNTED, "uncounted")
USAGE_UNKNOWN = "usage_unknown"  # says of a call that its answer was cut off, or told no tokens


class TokenUsage(Record):
    """Tokens and calls; the cost is None as long as no price is known, which is not the same as 0.

    `uncounted` are calls that were answered, or began to be, and whose tokens nobody told, or not all of
    them: then the rest is what was used at least.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: Decimal | None = None
    uncounted: int = 0

    def plus(self, other: TokenUsage) -> TokenUsage:
        costs = [each for each in (self.cost_usd, other.cost_usd) if each is not None]
        sums = {name: getattr(self, name) + getattr(other, name) for name in _SUMMED}
        return replace(self, **sums, cost_usd=sum(costs, Decimal()) if costs else None)

    def minus(self, other: TokenUsage) -> TokenUsage:
        """Return what was used since an earlier count."""
        sums = {name: getattr(self, name) - getattr(other, name) for name in _SUMMED}
        if self.cost_usd is None or other.cost_usd is None:
            return replace(self, **sums)
        return replace(self, **sums, cost_usd=self.cost_usd - other.cost_usd)

    def known(self, name: str) -> int | None:
        """Return how many tokens of a kind were used at least; None if nothing is known, which is not 0."""
        found: int = getattr(self, name)
        return None if self.uncounted and not found else found

    def to_dict(self) -> dict[str, Any]:
        counted = {"calls": self.calls, **{name: self.known(name) for name in _COUNTED}}
        unknown = {"uncounted": self.uncounted} if self.uncounted else {}
        return {**counted, "cost_usd": str(self.cost_usd) if self.cost_usd is not None else None, **unknown}


def usage_of(data: Mapping[str, Any]) -> TokenUsage:
    """Return the usage that one answer of a model reports."""
    found = data.get("usage")
    if not isinstance(found, Mapping):
        is_answer = data.get("status") != "error" or bool(data.get(USAGE_UNKNOWN))
        return TokenUsage(calls=1, uncounted=int(is_answer))
    counts = {name: _count(found.get(name)) for name in _COUNTED}
    is_partial = bool(data.get(USAGE_UNKNOWN))
    return TokenUsage(calls=1, **counts, cost_usd=cost_of(found), uncounted=int(is_partial))


def usage_from(data: object) -> TokenUsage:
    """Read back what `to_dict` wrote; anything else is nothing used."""
    if not isinstance(data, Mapping):
        return TokenUsage()
    counts = {name: _count(data.get(name)) for name in _SUMMED}
    return TokenUsage(**counts, cost_usd=cost_of(data))


class Tally:
    """Adds up answers. Providers report each of theirs, loops report each again: only one side counts."""

    def __init__(self) -> None:
        self._by_event = {"llm:response": TokenUsage(), "provider:response": TokenUsage()}
        self._others = TokenUsage()
        self.model = ""  # the one that was asked last

    def hear(self, event: str, data: Mapping[str, Any]) -> None:
        if event in self._by_event:
            self._by_event[event] = self._by_event[event].plus(usage_of(data))
            self.model = str(data.get("model") or self.model)

    def add(self, used: TokenUsage) -> None:
        """Add what a child used, or what was used before the session was resumed."""
        self._others = self._others.plus(used)

    @property
    def own(self) -> TokenUsage:
        by_provider, by_loop = self._by_event["llm:response"], self._by_event["provider:response"]
        return by_provider if by_provider.calls else by_loop

    @property
    def total(self) -> TokenUsage:
        return self.own.plus(self._others)


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
