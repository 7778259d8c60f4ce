"""Count what the models of a session used."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from amplihack.records import Record, replace
from amplihack.sessions.costs import cost_of

CHILD_COMPLETED = "session:child_completed"  # our own event: what a child used counts for its parent
_COUNTED = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


class TokenUsage(Record):
    """Tokens and calls; the cost is None as long as no price is known, which is not the same as 0."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: Decimal | None = None

    def plus(self, other: TokenUsage) -> TokenUsage:
        costs = [each for each in (self.cost_usd, other.cost_usd) if each is not None]
        sums = {name: getattr(self, name) + getattr(other, name) for name in ("calls", *_COUNTED)}
        return replace(self, **sums, cost_usd=sum(costs, Decimal()) if costs else None)

    def minus(self, other: TokenUsage) -> TokenUsage:
        """Return what was used since an earlier count."""
        sums = {name: getattr(self, name) - getattr(other, name) for name in ("calls", *_COUNTED)}
        if self.cost_usd is None or other.cost_usd is None:
            return replace(self, **sums)
        return replace(self, **sums, cost_usd=self.cost_usd - other.cost_usd)

    def to_dict(self) -> dict[str, Any]:
        counted = {name: getattr(self, name) for name in ("calls", *_COUNTED)}
        return {**counted, "cost_usd": str(self.cost_usd) if self.cost_usd is not None else None}


def usage_of(data: Mapping[str, Any]) -> TokenUsage:
    """Return the usage that one answer of a model reports."""
    found = data.get("usage")
    if not isinstance(found, Mapping):
        return TokenUsage(calls=1)
    counts = {name: _count(found.get(name)) for name in _COUNTED}
    return TokenUsage(calls=1, **counts, cost_usd=cost_of(found))


def usage_from(data: object) -> TokenUsage:
    """Read back what `to_dict` wrote; anything else is nothing used."""
    if not isinstance(data, Mapping):
        return TokenUsage()
    counts = {name: _count(data.get(name)) for name in ("calls", *_COUNTED)}
    return TokenUsage(**counts, cost_usd=cost_of(data))


class Tally:
    """Adds up answers. Providers report each of theirs, loops report each again: only one side counts."""

    def __init__(self) -> None:
        self._by_event = {"llm:response": TokenUsage(), "provider:response": TokenUsage()}
        self._others = TokenUsage()

    def hear(self, event: str, data: Mapping[str, Any]) -> None:
        if event in self._by_event:
            self._by_event[event] = self._by_event[event].plus(usage_of(data))

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
