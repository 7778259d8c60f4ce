from __future__ import annotations

from typing import Any

import pytest
from tests.support.kernel_sessions import opened, plan

pytestmark = pytest.mark.asyncio


def priced(*costs: str | None, **config: Any) -> dict[str, Any]:
    steps = [
        {"text": "x", "usage": {"input_tokens": 10, "output_tokens": 5, "cost_usd": cost}} for cost in costs
    ]
    return plan(steps=steps, hooks=[{"module": "hooks-cost", "config": config}])


async def test_figures_add_up_for_a_turn_and_for_all() -> None:
    async with opened(priced("0.10", "0.25")) as stage:
        await stage.say("a")
        await stage.say("b")
        figures = stage.coordinator.session_state["cost"]
        assert (figures["cost_usd"], figures["turn_cost_usd"]) == ("0.35", "0.25")
        assert (figures["input_tokens"], figures["output_tokens"], figures["requests"]) == (20, 10, 2)


async def test_what_has_no_price_is_not_free() -> None:
    async with opened(priced(None)) as stage:
        await stage.say("a")
        figures = stage.coordinator.session_state["cost"]
        assert (figures["cost_usd"], figures["unpriced_requests"]) == (None, 1)


async def test_a_spent_budget_is_told_and_ends_the_asking() -> None:
    async with opened(priced("0.85", "0.20", "1", budget_usd=1)) as stage:
        assert await stage.say("a") == "x"
        assert any("$0.85 of the budget of $1" in line for line in stage.shown.lines)
        assert await stage.say("b") == "x"
        assert await stage.say("c") == "Stopped: the budget of $1 is spent ($1.05)"
        assert len(stage.recorder.of("llm:request")) == 2


async def test_what_children_cost_counts() -> None:
    async with opened(priced("0.1", budget_usd="0.5")) as stage:
        stage.coordinator.register_contributor("session.cost", "delegate:x", lambda: {"cost_usd": "0.6"})
        assert "is spent" in await stage.say("a")


async def test_tokens_can_be_limited_where_there_are_no_prices() -> None:
    async with opened(priced(None, None, budget_tokens=12)) as stage:
        await stage.say("a")
        assert await stage.say("b") == "Stopped: the budget of 12 tokens is spent (15)"


@pytest.mark.parametrize("wrong", [{"budget_usd": "much"}, {"budget_usd": -1}, {"budget_tokens": -1}])
async def test_a_wrong_budget_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(AssertionError, match=next(iter(wrong))):
        async with opened(priced("1", **wrong)):
            pass


async def test_a_budget_that_cannot_be_held_ends_the_asking() -> None:
    async with opened(priced(None, None, budget_usd=1)) as stage:
        assert await stage.say("a") == "x"
        assert any("the budget of $1 cannot be held" in line for line in stage.shown.lines)
        assert "pricing" in await stage.say("b")
        assert len(stage.recorder.of("llm:request")) == 1
