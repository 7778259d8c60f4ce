from __future__ import annotations

from typing import Any

import pytest

from amplihack.sessions.observability import inject_additional_events


def test_logging_hooks_are_told_and_others_are_not() -> None:
    plan: dict[str, Any] = {
        "hooks": [
            {"module": "hooks-logging"},
            {"module": "hook-context-intelligence", "config": None},
            {"module": "hooks-notify", "config": {"a": 1}},
        ]
    }
    inject_additional_events(plan, ["session:config"])
    assert plan["hooks"] == [
        {"module": "hooks-logging", "config": {"additional_events": ["session:config"]}},
        {"module": "hook-context-intelligence", "config": {"additional_events": ["session:config"]}},
        {"module": "hooks-notify", "config": {"a": 1}},
    ]


def test_the_users_events_stay_first_and_none_is_repeated() -> None:
    plan = {"hooks": [{"module": "hooks-logging", "config": {"additional_events": ["mine", "b"]}}]}
    for _ in range(2):
        inject_additional_events(plan, ["a", "b"])
    assert plan["hooks"][0]["config"] == {"additional_events": ["mine", "b", "a"]}


def test_other_hooks_can_be_meant() -> None:
    plan: dict[str, Any] = {"hooks": [{"module": "hooks-logging"}, {"module": "mine"}]}
    inject_additional_events(plan, ["a"], target_modules={"mine"})
    assert plan["hooks"] == [
        {"module": "hooks-logging"},
        {"module": "mine", "config": {"additional_events": ["a"]}},
    ]


@pytest.mark.parametrize("plan", [{}, {"hooks": None}, {"hooks": []}])
def test_a_plan_without_hooks_stays_as_it_is(plan: dict[str, Any]) -> None:
    before = dict(plan)
    inject_additional_events(plan, ["a"])
    assert plan == before
