"""What a child session inherits, decided from plain data."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from amplihack.bundles.child_plan import Inheritance, child_plan, with_met_policy, with_orchestrator_config

PARENT: dict[str, Any] = {
    "session": {"orchestrator": {"module": "loop", "config": {"a": 1}}, "context": "context-simple"},
    "providers": [{"module": "provider-x", "config": {"api_key": "k", "base_url": "u", "temperature": 1}}],
    "tools": [{"module": "tool-a", "config": {"n": 1}}, {"module": "tool-b"}, {"module": "tool-task"}],
    "hooks": [{"module": "hooks-a"}, {"module": "hooks-b"}],
    "agents": {"one": {"description": "1"}, "two": {"description": "2"}},
}


def tools(agent: dict[str, Any], spawn: dict[str, Any] | None = None, **asked: Any) -> list[str]:
    parent = {**PARENT, **({"spawn": spawn} if spawn else {})}
    before = deepcopy((parent, agent))
    made = child_plan(parent, agent, Inheritance(**asked))
    assert (parent, agent) == before
    return [each["module"] for each in made.plan["tools"]]


@pytest.mark.parametrize(
    ("spawn", "kept"),
    [
        (None, ["tool-a", "tool-b", "tool-task"]),
        ({"exclude_tools": ["tool-task"]}, ["tool-a", "tool-b"]),
        ({"tools": ["tool-b"]}, ["tool-b"]),
        ({"tools": ["tool-b"], "exclude_tools": ["tool-b"]}, ["tool-b"]),
        ({"tools": []}, []),
        ({"tools": [{"module": "tool-new", "source": "./x"}, "tool-a"]}, ["tool-new", "tool-a"]),
    ],
)
def test_the_policy_decides_which_tools_are_inherited(spawn: dict[str, Any] | None, kept: list[str]) -> None:
    assert tools({}, spawn) == kept


def test_what_an_agent_declares_stays_whatever_the_policy_says() -> None:
    agent = {"tools": [{"module": "tool-task", "config": {"deep": True}}]}
    assert tools(agent, {"exclude_tools": ["tool-task"]}) == ["tool-a", "tool-b", "tool-task"]
    assert tools(agent, {"tools": ["tool-a"]}) == ["tool-a", "tool-task"]


def test_an_agents_entry_lies_over_the_parents_of_that_name() -> None:
    made = child_plan(PARENT, {"tools": [{"module": "tool-a", "config": {"m": 2}}]})
    found = next(each for each in made.plan["tools"] if each["module"] == "tool-a")
    assert found["config"] == {"n": 1, "m": 2}


def test_an_agent_may_carry_a_policy_of_its_own() -> None:
    assert tools({"spawn": {"tools": ["tool-a"]}}, {"exclude_tools": ["tool-a"]}) == ["tool-a"]


def test_a_caller_may_ask_for_less_and_an_allowlist_wins() -> None:
    assert tools({}, None, tools={"exclude_tools": ["tool-a"]}) == ["tool-b", "tool-task"]
    assert tools({}, None, tools={"inherit_tools": ["tool-a"], "exclude_tools": ["tool-a"]}) == ["tool-a"]
    assert tools({}, {"exclude_tools": ["tool-a"]}, tools={"inherit_tools": ["tool-a"]}) == []
    made = child_plan(PARENT, {}, Inheritance(hooks={"exclude_hooks": ["hooks-a"]}))
    assert [each["module"] for each in made.plan["hooks"]] == ["hooks-b"]


def test_names_that_the_policy_gets_wrong_are_told() -> None:
    (problem,) = child_plan({**PARENT, "spawn": {"exclude_tools": ["tool-tsak"]}}, {}).problems
    assert "tool-tsak" in problem.what
    (problem,) = child_plan({**PARENT, "spawn": {"tools": ["tool-z", "tool-a"]}}, {}).problems
    assert "tool-z" in problem.what


def test_no_agent_changes_where_requests_go_and_in_whose_name() -> None:
    wish = {"module": "provider-x", "config": {"api_key": "stolen", "base_url": "evil", "temperature": 0}}
    made = child_plan(PARENT, {"providers": [wish]}, Inheritance(protected={"api_key", "base_url"}))
    assert made.plan["providers"] == [
        {"module": "provider-x", "config": {"api_key": "k", "base_url": "u", "temperature": 0}}
    ]


@pytest.mark.parametrize(
    ("access", "known"), [(None, ["one", "two"]), ("all", ["one", "two"]), ("none", []), (["two"], ["two"])]
)
def test_an_agent_says_whom_it_may_call(access: object, known: list[str]) -> None:
    assert list(child_plan(PARENT, {"agents": access} if access else {}).plan["agents"]) == known


def test_an_access_that_means_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="means nothing"):
        child_plan(PARENT, {"agents": "everyone"})


def test_settings_for_the_loop_reach_it_in_either_form() -> None:
    plan = with_orchestrator_config(child_plan(PARENT, {}).plan, {"b": 2})
    assert plan["session"]["orchestrator"]["config"] == {"a": 1, "b": 2}
    assert plan["session"]["context"] == {"module": "context-simple"}
    assert plan["orchestrator"]["config"] == {"b": 2}


def test_one_name_is_a_list_of_one() -> None:
    assert tools({}, {"exclude_tools": "tool-task"}) == ["tool-a", "tool-b"]
    assert tools({}, {"tools": "tool-b"}) == ["tool-b"]


@pytest.mark.parametrize("spawn", [{"tools": 3}, {"exclude_tools": True}])
def test_a_policy_that_means_nothing_is_never_taken_for_none(spawn: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="means nothing"):
        tools({}, spawn)


@pytest.mark.parametrize(
    ("spawn", "what"),
    [
        ({"exclude_tolls": ["tool-a"]}, "exclude_tolls is unknown"),
        ({"tools": ["tool-a"], "exclude_tools": ["tool-b"]}, "exclude_tools does nothing"),
        ({"max_depth": "two"}, "max_depth is 'two'"),
        ({"exclude_tools": ["tool-z"]}, "is no module; only a tool of that name is excluded"),
    ],
)
def test_what_an_author_did_not_mean_is_told(spawn: dict[str, Any], what: str) -> None:
    (problem,) = child_plan({**PARENT, "spawn": spawn}, {}).problems
    assert what in problem.what
    assert problem.fix


def test_a_wish_of_a_caller_that_is_no_list_is_taken_for_one_or_refused() -> None:
    assert tools({}, None, tools={"exclude_tools": "tool-a"}) == ["tool-b", "tool-task"]
    assert tools({}, None, tools={"inherit_tools": "tool-a"}) == ["tool-a"]
    with pytest.raises(ValueError, match="exclude_tools: 3 means nothing"):
        tools({}, None, tools={"exclude_tools": 3})


def test_a_policy_that_is_met_does_not_name_what_it_took_away() -> None:
    parent = {
        "tools": [{"module": "tool-bash"}, {"module": "tool-delegate"}],
        "spawn": {"exclude_tools": ["tool-delegate", "tool-typo"], "max_depth": 2},
    }
    made = with_met_policy(child_plan(parent, {}).plan, parent)
    assert made["spawn"] == {"exclude_tools": ["tool-typo"], "max_depth": 2}
    own = with_met_policy(child_plan(parent, {"tools": [{"module": "tool-delegate"}]}).plan, parent)
    assert own["spawn"] == parent["spawn"]  # the agent has it: its own agents do not
