"""Add up what agents and steps have used: executed steps, tokens and money, as far as they are known."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from amplihack.recipes.agent_port import Usage
from amplihack.records import Record

_N = TypeVar("_N", int, float)


class Spending(Record, kw_only=True):
    """Executed steps, tokens and money that something used. None means unknown, which is not 0."""

    executed: int = 0
    usage: Usage | None = None
    cost_usd: float | None = None

    def __sub__(self, part: Spending) -> Spending:
        """Return what remains without one of its parts."""
        return Spending(
            executed=self.executed - part.executed,
            usage=_usage_without(self.usage, part.usage),
            cost_usd=_without(self.cost_usd, part.cost_usd),
        )

    def fields(self) -> dict[str, Any]:
        return {"executed": self.executed, "usage": self.usage, "cost_usd": self.cost_usd}


NOTHING_SPENT = Spending()


def total(parts: Iterable[Spending]) -> Spending:
    """Return the sum of the known figures."""
    every = tuple(parts)
    return Spending(
        executed=sum(part.executed for part in every),
        usage=add_usage(part.usage for part in every),
        cost_usd=add_costs(part.cost_usd for part in every),
    )


def add_usage(usages: Iterable[Usage | None]) -> Usage | None:
    """Return the sum of the known figures; None if there are none."""
    known = [usage for usage in usages if usage is not None]
    if len(known) < 2:
        return known[0] if known else None
    return Usage(
        input_tokens=_add(usage.input_tokens for usage in known),
        output_tokens=_add(usage.output_tokens for usage in known),
        cached_tokens=_add(usage.cached_tokens for usage in known),
    )


def add_costs(costs: Iterable[float | None]) -> float | None:
    """Return the sum of what is known, as people add amounts; None if nothing is."""
    known = [cost for cost in costs if cost is not None]
    return math.fsum(known) if known else None


def _add(numbers: Iterable[_N | None]) -> _N | None:
    known = [number for number in numbers if number is not None]
    return sum(known[1:], known[0]) if known else None


def _usage_without(whole: Usage | None, part: Usage | None) -> Usage | None:
    if whole is None or part is None:
        return whole
    return Usage(
        input_tokens=_without(whole.input_tokens, part.input_tokens),
        output_tokens=_without(whole.output_tokens, part.output_tokens),
        cached_tokens=_without(whole.cached_tokens, part.cached_tokens),
    )


def _without(whole: _N | None, part: _N | None) -> _N | None:
    return whole if whole is None or part is None else whole - part


def spending_text(usage: Usage | None, cost_usd: float | None, *, at_least: bool = False) -> str:
    """Return the tokens and the cost that agents reported; what is unknown is left out, and is not 0.

    `at_least` says that some of them reported tokens and no cost.
    """
    told = list(_tokens(usage)) if usage is not None else []
    parts = [f"tokens: {', '.join(told)}"] if told else []
    if cost_usd is not None:
        parts.append(f"cost: {'at least ' if at_least else ''}${cost_usd:.{2 if cost_usd >= 1 else 4}f}")
    return "; ".join(parts)


def _tokens(usage: Usage) -> Iterator[str]:
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    if usage.input_tokens is not None:
        yield f"{usage.input_tokens:,} in{cached}"
    if usage.output_tokens is not None:
        yield f"{usage.output_tokens:,} out"


def usage_json(usage: Usage | None) -> dict[str, int | None] | None:
    if usage is None:
        return None
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
    }


def usage_from_json(shown: Mapping[str, int | None] | None) -> Usage | None:
    return None if shown is None else Usage(**shown)
