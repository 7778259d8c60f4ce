from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from amplihack.sessions.costs import bridge_child_cost, sum_cost_usd


class Child:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    async def collect_contributions(self, channel: str, /) -> Any:
        assert channel == "session.cost"
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Parent:
    def __init__(self) -> None:
        self.contributors: dict[tuple[str, str], Callable[[], Any]] = {}

    def register_contributor(self, channel: str, name: str, callback: Callable[[], Any], /) -> None:
        self.contributors[channel, name] = callback


def test_costs_add_up_exactly() -> None:
    parts = [{"cost_usd": Decimal("0.1")}, {"cost_usd": "0.2"}, {"cost_usd": 0}]
    assert sum_cost_usd(parts) == Decimal("0.3")


def test_what_is_no_figure_is_passed_over() -> None:
    parts = [{"cost_usd": "free"}, {"cost_usd": None}, {"cost_usd": "NaN"}, {}, "x", None, {"cost_usd": True}]
    assert sum_cost_usd(parts) is None
    assert sum_cost_usd([*parts, {"cost_usd": "1.5"}]) == Decimal("1.5")


def test_no_figure_is_not_the_same_as_free() -> None:
    assert sum_cost_usd([]) is None
    assert sum_cost_usd(None) is None
    assert sum_cost_usd([{"cost_usd": "0"}]) == Decimal(0)


@pytest.mark.asyncio
async def test_the_parent_reports_what_the_child_cost() -> None:
    parent = Parent()
    await bridge_child_cost(Child([{"cost_usd": "0.06"}]), parent, "child-1")
    assert parent.contributors["session.cost", "delegate:child-1"]() == {"cost_usd": Decimal("0.06")}


@pytest.mark.asyncio
async def test_a_child_without_figures_adds_nothing() -> None:
    parent = Parent()
    await bridge_child_cost(Child([]), parent, "child-1")
    assert parent.contributors == {}


@pytest.mark.asyncio
async def test_a_bill_that_cannot_be_had_is_told_and_not_raised() -> None:
    told: list[str] = []
    await bridge_child_cost(Child(RuntimeError("closed")), Parent(), "child-1", warn=told.append)
    assert told == ["the cost of child-1 is not known to its parent: closed"]
