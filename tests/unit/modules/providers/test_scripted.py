from __future__ import annotations

from typing import Any

import pytest
from amplifier_core import InvalidRequestError
from tests.support.kernel_sessions import opened, plan

pytestmark = pytest.mark.asyncio


async def test_rules_come_before_steps() -> None:
    given = plan(steps=[{"text": "step"}], provider={"rules": [{"when": "hello", "text": "Hello!"}]})
    async with opened(given) as stage:
        assert await stage.say("Hello there") == "Hello!"
        assert await stage.say("go on") == "step"


async def test_the_end_of_the_script_is_told() -> None:
    async with opened(plan(steps=[{"text": "one"}])) as stage:
        await stage.say("a")
        with pytest.raises(RuntimeError, match="has 1 steps, and this is question 2"):
            await stage.say("b")
        assert isinstance(stage.coordinator.session_state["last_error"], InvalidRequestError)


@pytest.mark.parametrize(("at_end", "answer"), [("repeat", "one"), ("echo", "b")])
async def test_the_script_may_go_on(at_end: str, answer: str) -> None:
    async with opened(plan(steps=[{"text": "one"}], provider={"at_end": at_end})) as stage:
        await stage.say("a")
        assert await stage.say("b") == answer


async def test_a_message_that_the_script_does_not_expect_is_an_error() -> None:
    async with opened(plan(steps=[{"text": "one", "expect": "ready"}])) as stage:
        with pytest.raises(RuntimeError, match="expected 'ready' in the last message, which is: no"):
            await stage.say("no")


@pytest.mark.parametrize(
    ("step", "said"),
    [({"txet": "x"}, "unknown field .*txet.* .did you mean .*text"), ({"tools": 1}, "tools.* must be")],
)
async def test_a_wrong_step_is_refused_when_mounted(step: dict[str, Any], said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        async with opened(plan(steps=[step])):
            pass


async def test_costs_are_contributed_exactly() -> None:
    steps = [{"text": "a", "usage": {"cost_usd": "0.10"}}, {"text": "b", "usage": {"cost_usd": "0.20"}}]
    async with opened(plan(steps=steps)) as stage:
        await stage.say("a")
        await stage.say("b")
        assert await stage.coordinator.collect_contributions("session.cost") == [{"cost_usd": "0.30"}]
