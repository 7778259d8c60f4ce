from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from amplihack.recipes.agent_port import AgentFailed, AgentReply, AgentRequest
from amplihack.system.agent_tools.rate_limits import (
    MetLimit,
    Patience,
    Patient,
    patience_from,
    rate_limited,
    transient,
)

REQUEST = AgentRequest(prompt="do it", working_dir="/", model="small")


@dataclass
class Failing:
    """Fails with each error in turn, then answers."""

    errors: list[AgentFailed]
    models: list[str | None] = field(default_factory=list)
    name: str = "fake"

    async def ask(self, request: AgentRequest, on_line: Callable[[str], None]) -> AgentReply:
        del on_line
        self.models.append(request.model)
        if self.errors:
            raise self.errors.pop(0)
        return AgentReply(text="done")


def limit(retry_after: float | None = None) -> AgentFailed:
    return AgentFailed("fake failed", rate_limited=True, retry_after=retry_after)


@pytest.mark.parametrize(
    "text",
    [
        "You've hit your rate limit",
        "You've hit your session limit",
        "Error: rate limit exceeded",
        "rate_limit_error",
        "429 Too Many Requests",
        "HTTP 429",
        "APIError: 429",
        '"api_error_status":429',
        "HTTP/1.1 429",
        "status: 429",
        '{"status":429}',
        "error code: 429",
        "API Error: Request rejected (429) · slow down",
        "exceeded retry limit, last status: 429 Too Many Requests",
        "Failed to get response (total retry wait time: 5.19 seconds) Last error: 429 slow down",
        "status 503",
        "API Error: 529 Overloaded",
        '{"type":"overloaded_error"}',
        "Claude AI usage limit reached",
    ],
)
def test_a_limit_is_recognised(text: str) -> None:
    assert rate_limited(1, text) is not None
    assert rate_limited(None, f"long output\n{text.upper()}\nmore") is not None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "AssertionError at tests/test_api.py line 429",
        "AssertionError: 429 != 200",
        "see issue #429",
        "took 429 ms",
        "1429 passed, 503 skipped",
        "connection reset in handshake",
        "the counter was reset in 5 tests",
        "tests of the rate limiter failed",
        "error in 5290 places",
    ],
)
def test_other_failures_are_not_taken_for_limits(text: str) -> None:
    assert rate_limited(1, text) is None


def test_a_success_is_never_a_limit() -> None:
    assert rate_limited(0, "HTTP 429 too many requests") is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("rate limit; retry after 30", 30.0),
        ("rate limit, Retry-After: 7", 7.0),
        ('rate limit "retry_after": 1.5', 1.5),
        ("rate limit: please try again in 20s", 20.0),
        ("rate limit: try again in 250ms", 0.25),
        ("hit your rate limit, resets in 3 minutes", 180.0),
        ("rate limit resets in 2h", 7200.0),
        ("rate limit", None),
    ],
)
def test_the_wait_that_is_asked_of_us_is_understood(text: str, seconds: float | None) -> None:
    assert rate_limited(1, text) == MetLimit(seconds)


@pytest.mark.parametrize(
    "text", ["ECONNRESET", "API Error: 500 boom", "stream disconnected before completion"]
)
def test_errors_that_pass_are_transient(text: str) -> None:
    assert transient(text)
    assert not transient("SyntaxError: invalid syntax")


def test_delays_double_up_to_the_longest() -> None:
    patience = Patience()
    assert [patience.delay(n) for n in range(1, 8)] == [60, 120, 240, 480, 600, 600, 600]
    assert patience.delay(10_000) == 600
    assert Patience(base=0).delay(3, retry_after=50) == 0


def test_a_wait_that_was_asked_for_counts_up_to_the_longest() -> None:
    assert Patience().delay(1, retry_after=90) == 90
    assert Patience().delay(2, retry_after=90) == 120
    assert Patience().delay(1, retry_after=9000) == 600


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, Patience()),
        (
            {"MAX_RETRIES": "3", "BASE_DELAY_SECS": "1", "MAX_DELAY_SECS": "9"},
            Patience(retries=3, base=1, longest=9),
        ),
        ({"MAX_RETRIES": "1000"}, Patience(retries=100)),
        ({"MAX_RETRIES": "many", "BASE_DELAY_SECS": "-1", "MAX_DELAY_SECS": "٣"}, Patience()),
        ({"BASE_DELAY_SECS": "900"}, Patience(base=900, longest=900)),
        ({"BASE_DELAY_SECS": "500ms", "MAX_DELAY_SECS": "2m"}, Patience(base=0.5, longest=120)),
        ({"FALLBACK_AUTO_MODEL": "1"}, Patience(last_model="auto")),
        ({"FALLBACK_AUTO_MODEL": ""}, Patience()),
    ],
)
def test_patience_comes_from_the_environment(variables: dict[str, str], expected: Patience) -> None:
    assert (
        patience_from({f"AMPLIHACK_RATELIMIT_{name}": value for name, value in variables.items()}) == expected
    )


async def asked(agent: Failing, patience: Patience) -> tuple[AgentReply, list[str]]:
    lines: list[str] = []
    return await Patient(agent, patience).ask(REQUEST, lines.append), lines


@pytest.mark.asyncio
async def test_a_limited_agent_is_asked_again_and_every_wait_is_announced() -> None:
    agent = Failing([limit(), limit()])
    reply, lines = await asked(agent, Patience(base=0))
    assert reply.text == "done"
    assert lines == [
        "fake met a rate limit; trying again in 0s (attempt 2 of 6)",
        "fake met a rate limit; trying again in 0s (attempt 3 of 6)",
    ]


@pytest.mark.asyncio
async def test_another_failure_is_final_at_once() -> None:
    agent = Failing([AgentFailed("broken", transient=True), limit()])
    with pytest.raises(AgentFailed, match="broken"):
        await asked(agent, Patience(base=0))
    assert len(agent.models) == 1


@pytest.mark.asyncio
async def test_a_limit_that_persists_is_an_error_that_says_how_often_we_tried() -> None:
    agent = Failing([limit() for _ in range(9)])
    with pytest.raises(AgentFailed, match=r"persisted after 2 retries \(3 attempts in all\)") as caught:
        await asked(agent, Patience(retries=2, base=0))
    assert caught.value.rate_limited
    assert len(agent.models) == 3


@pytest.mark.asyncio
@pytest.mark.parametrize(("retries", "models"), [(2, ["small", "small", "auto"]), (0, ["small"])])
async def test_the_last_attempt_may_use_another_model(retries: int, models: list[str]) -> None:
    agent = Failing([limit() for _ in range(retries)])
    await asked(agent, Patience(retries=retries, base=0, last_model="auto"))
    assert agent.models == models


@pytest.mark.asyncio
async def test_a_wait_can_be_interrupted() -> None:
    announced = asyncio.Event()
    agent = Patient(Failing([limit()]), Patience())
    task = asyncio.create_task(agent.ask(REQUEST, lambda _: announced.set()))
    await announced.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
