from __future__ import annotations

from typing import Any

import pytest

from amplihack.sessions.forks import fork_session_in_memory, preview_fork
from amplihack.sessions.lineage import lineage_of

MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": "1"},
    {"role": "user", "content": "two"},
    {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "do"}}]},
]


def test_a_fork_in_memory_holds_the_conversation_through_the_turn() -> None:
    fork = fork_session_in_memory(MESSAGES, turn=1, parent_id="parent")
    assert (fork.parent_id, fork.forked_from_turn, fork.message_count) == ("parent", 1, 2)
    assert fork.messages == MESSAGES[:2]
    assert fork.session_dir is None


def test_without_a_turn_a_fork_holds_everything_with_its_open_calls_completed() -> None:
    fork = fork_session_in_memory(MESSAGES)
    assert fork.forked_from_turn == 2
    assert fork.messages is not None
    assert fork.messages[-1]["role"] == "tool"


def test_an_empty_conversation_forks_into_an_empty_one() -> None:
    fork = fork_session_in_memory([])
    assert (fork.forked_from_turn, fork.parent_id, fork.messages) == (0, "unknown", [])


def test_every_fork_has_an_id_of_its_own() -> None:
    assert fork_session_in_memory([]).session_id != fork_session_in_memory([]).session_id


def test_a_turn_that_is_not_there_cannot_be_forked_or_previewed() -> None:
    with pytest.raises(ValueError, match="out of range"):
        fork_session_in_memory(MESSAGES, turn=3)
    with pytest.raises(ValueError, match="out of range"):
        preview_fork(MESSAGES, 0, "parent")


def test_a_preview_tells_what_a_fork_would_hold() -> None:
    assert preview_fork(MESSAGES, 2, "parent") == {
        "parent_id": "parent",
        "turn": 2,
        "max_turns": 2,
        "message_count": 4,
        "has_orphaned_tools": True,
        "orphaned_tool_count": 1,
    }


def test_a_lineage_leads_from_the_parent_upwards() -> None:
    family: dict[str, dict[str, Any]] = {
        "root": {},
        "child": {"parent_id": "root", "forked_from_turn": 2},
        "grandchild": {"parent_id": "child"},
    }
    assert lineage_of("grandchild", family)["ancestors"] == ["child", "root"]
    assert lineage_of("child", family) == {
        "session_id": "child",
        "parent_id": "root",
        "forked_from_turn": 2,
        "ancestors": ["root"],
        "children": ["grandchild"],
        "depth": 1,
    }


def test_a_lineage_ends_where_parents_form_a_circle() -> None:
    circle = {"a": {"parent_id": "b"}, "b": {"parent_id": "c"}, "c": {"parent_id": "b"}}
    assert lineage_of("a", circle)["ancestors"] == ["b", "c"]
    assert lineage_of("b", circle)["ancestors"] == ["c"]
    assert lineage_of("x", {"x": {"parent_id": "x"}})["ancestors"] == []


def test_a_parent_that_is_gone_is_still_named() -> None:
    assert lineage_of("a", {"a": {"parent_id": "gone"}})["ancestors"] == ["gone"]
