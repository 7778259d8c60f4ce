from __future__ import annotations

import re

import pytest

from amplihack.sessions.ids import generate_sub_session_id


@pytest.mark.parametrize(
    ("agent", "slug"),
    [
        ("researcher", "researcher"),
        ("zen-architect", "zen-architect"),
        ("My Agent!", "my-agent"),
        ("foundation:explorer", "foundation-explorer"),
        ("", "agent"),
        (None, "agent"),
        ("../..", "agent"),
    ],
)
def test_the_agents_name_becomes_a_safe_ending(agent: str | None, slug: str) -> None:
    made = generate_sub_session_id(agent_name=agent)
    assert re.fullmatch(rf"0{{16}}-[0-9a-f]{{16}}_{slug}", made)


def test_a_child_names_the_span_of_its_parent() -> None:
    parent = generate_sub_session_id("parent")
    child = generate_sub_session_id("child", parent_session_id=parent)
    assert child.split("-")[0] == parent.split("-")[1].split("_")[0]


def test_a_trace_gives_the_span_when_the_parent_does_not() -> None:
    trace = "12345678901234567890123456789012"
    made = generate_sub_session_id("x", parent_session_id="a-root-session", parent_trace_id=trace)
    assert made.startswith(trace[8:24] + "-")


def test_no_two_ids_are_the_same() -> None:
    assert len({generate_sub_session_id() for _ in range(100)}) == 100
