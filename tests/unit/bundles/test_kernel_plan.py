"""Whatever a program put into a plan, the kernel gets clean lists and mappings."""

from __future__ import annotations

from typing import Any

from amplihack.bundles.kernel_plan import kernel_plan
from amplihack.bundles.module_needs import module_needs


def test_short_forms_become_long_ones_and_ours_are_taken_out() -> None:
    plan = {
        "session": {"orchestrator": "loop", "orchestrator_source": "./loop", "context": {"module": "c"}},
        "orchestrator": {"config": {"a": 1}},
        "providers": [{"module": "p", "id": "mine", "config": None}],
        "tools": ["tool-a", {"module": "tool-b", "source": None}],
        "hooks": None,
        "agents": None,
        "spawn": {"tools": []},
    }
    found = kernel_plan(plan)
    assert found.problems == ()
    assert found.plan["session"]["orchestrator"] == {"module": "loop", "source": "./loop", "config": {"a": 1}}
    assert found.plan["providers"] == [{"module": "p", "instance_id": "mine"}]
    assert found.plan["tools"] == [{"module": "tool-a"}, {"module": "tool-b"}]
    assert (found.plan["hooks"], found.plan["agents"]) == ([], {})
    assert "spawn" not in found.plan


def test_what_cannot_be_read_is_left_out_and_named() -> None:
    plan: dict[str, Any] = {
        "session": {"orchestrator": 5, "context": {"module": "c"}},
        "tools": [{"source": "x"}, 7, {"module": "ok", "config": [1]}],
        "hooks": {"module": "x"},
    }
    found = kernel_plan(plan)
    assert found.plan["tools"] == [{"module": "ok"}]
    assert "orchestrator" not in found.plan["session"]
    assert [each.what.split(" should")[0] for each in found.problems] == [
        "session.orchestrator", "tools[0]", "tools[1]", "tools[2].config", "hooks",
    ]  # fmt: skip


def test_the_plan_shares_nothing_with_what_it_was_made_of() -> None:
    plan: dict[str, Any] = {
        "session": {},
        "tools": [{"module": "a", "config": {"deep": [1]}}],
        "agents": {"x": {}},
    }
    made = kernel_plan(plan).plan
    made["tools"][0]["config"]["deep"].append(2)
    made["agents"]["y"] = {}
    assert plan == {"session": {}, "tools": [{"module": "a", "config": {"deep": [1]}}], "agents": {"x": {}}}


def test_a_module_is_needed_once_and_the_sessions_source_wins() -> None:
    plan = {
        "session": {"orchestrator": "loop", "orchestrator_source": "./loop", "context": {"module": "c"}},
        "tools": [{"module": "t", "source": "./t"}],
        "agents": {
            "a": {"tools": [{"module": "t", "source": "./t"}, {"module": "u", "source": "./u"}]},
            "b": {"tools": [{"module": "t", "source": "./other"}]},
        },
    }
    found = module_needs(plan)
    assert [(each.module, each.source, each.agent) for each in found.needs] == [
        ("loop", "./loop", ""),
        ("t", "./t", ""),
        ("u", "./u", "a"),
    ]
    (problem,) = found.problems
    assert "agent 'b'" in problem.what


def test_what_is_left_out_or_takes_the_place_of_another_is_told() -> None:
    twice = [{"module": "tool-a"}, {"module": "tool-a", "config": {"x": 1}}]
    several = [{"module": "provider-a"}, {"module": "provider-a", "id": "two"}]
    made = kernel_plan(
        {"agents": ["x"], "tools": twice, "providers": several, "hooks": [{"module": "hooks-a", "source": 3}]}
    )
    assert [each.what.partition(" ")[0] for each in made.problems] == ["tools", "hooks[0].source", "agents"]
    assert "tools has tool-a twice" in made.problems[0].what
    assert made.plan["hooks"] == [{"module": "hooks-a"}]
