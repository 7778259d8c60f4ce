"""A mount plan with the wishes of whoever opens it."""

from __future__ import annotations

from typing import Any

import pytest

from amplihack.errors import UsageError
from amplihack.sessions.host_plan import HostWishes, fitted, rule_of, with_response_format

PLAN: dict[str, Any] = {
    "session": {"orchestrator": "loop-basic", "context": {"module": "context-simple"}},
    "hooks": [
        {"module": "hooks-approval", "config": {"mode": "ask", "rules": [{"tool": "x", "action": "deny"}]}},
        {
            "module": "hooks-streaming-ui",
            "source": "git+https://example.com/ui",
            "config": {"show_tools": False},
        },
    ],
}


def hook(plan: dict[str, Any], module: str) -> dict[str, Any]:
    found = [each for each in plan["hooks"] if each["module"] == module]
    assert len(found) == 1
    return found[0]  # type: ignore[no-any-return]


def test_rules_of_the_user_stand_in_front_and_denials_first() -> None:
    made = fitted(PLAN, HostWishes(approval="yolo", allow=("bash:git *",), deny=("bash:rm *",)), shows=False)
    config = hook(made, "hooks-approval")["config"]
    assert config["mode"] == "yolo"
    assert [(each["tool"], each["action"]) for each in config["rules"]] == [
        ("bash", "deny"),
        ("bash", "allow"),
        ("x", "deny"),
    ]


def test_a_bundle_without_the_hook_gets_it_when_it_is_asked_for() -> None:
    assert (
        hook(fitted({}, HostWishes(approval="plan"), shows=False), "hooks-approval")["config"]["mode"]
        == "plan"
    )
    assert fitted({}, HostWishes(), shows=False) == {}


def test_a_host_that_shows_what_happens_has_our_display_tell_it() -> None:
    made = hook(fitted(PLAN, HostWishes(), shows=True), "hooks-streaming-ui")
    assert made == {"module": "hooks-streaming-ui", "config": {"show_tools": False}}
    assert "source" in PLAN["hooks"][1]  # the plan itself is as it was


def test_limits_reach_the_loop_and_the_counter() -> None:
    made = fitted(PLAN, HostWishes(most_steps=3, budget_usd="0.5"), shows=False)
    assert made["session"]["orchestrator"] == {"module": "loop-basic", "config": {"max_iterations": 3}}
    assert hook(made, "hooks-cost")["config"] == {"budget_usd": "0.5"}
    assert with_response_format(PLAN, "json")["session"]["orchestrator"]["config"] == {
        "response_format": "json"
    }


@pytest.mark.parametrize("wrong", ["", ":x", "bash:", " :y"])
def test_a_rule_without_a_tool_or_a_pattern_is_refused(wrong: str) -> None:
    with pytest.raises(UsageError, match="--allow"):
        rule_of(wrong, "allow")
