from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplihack.sessions.diagnosis import (
    build_tool_index,
    diagnose_transcript,
    repair_transcript,
    rewind_transcript,
)

Message = dict[str, Any]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def said(text: str) -> Message:
    return {"role": "assistant", "content": text}


def calls(*ids: str) -> Message:
    return {"role": "assistant", "tool_calls": [{"id": one, "function": {"name": "do"}} for one in ids]}


def uses(*ids: str) -> Message:
    blocks = [{"type": "tool_use", "id": one, "name": "do", "input": {}} for one in ids]
    return {"role": "assistant", "content": blocks}


def result(one: str, content: str = "ok") -> Message:
    return {"role": "tool", "tool_call_id": one, "name": "do", "content": content}


def result_block(one: str) -> Message:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": one, "content": "ok"}]}


def result_and_words(one: str) -> Message:
    return {"role": "user", "content": [*result_block(one)["content"], {"type": "text", "text": "and go on"}]}


def numbered(*messages: Message) -> list[Message]:
    return [{**message, "line_num": number} for number, message in enumerate(messages, 1)]


def test_the_index_tells_where_calls_and_results_stand() -> None:
    index = build_tool_index(numbered(user("go"), uses("a"), result("a")))
    assert index["tool_uses"] == {"a": {"line_num": 2, "entry_index": 1, "tool_name": "do"}}
    assert index["tool_results"] == {"a": {"line_num": 3, "entry_index": 2, "tool_name": "do"}}


def test_complete_turns_are_healthy() -> None:
    entries = numbered(user("go"), calls("a"), result("a"), uses("b"), result_block("b"), said("done"))
    diagnosis = diagnose_transcript(entries)
    assert diagnosis["status"] == "healthy"
    assert diagnosis["failure_modes"] == []
    assert diagnosis["recommended_action"] == "none"


def test_calls_of_several_messages_in_a_row_are_one_round() -> None:
    entries = [user("go"), calls("a"), calls("b"), result("b"), result("a"), said("done")]
    assert diagnose_transcript(entries)["status"] == "healthy"


def test_a_reminder_between_results_and_answer_is_harmless() -> None:
    reminder = user("<system-reminder>be kind</system-reminder>")
    assert diagnose_transcript([user("go"), calls("a"), result("a"), reminder])["status"] == "healthy"


def test_an_id_that_is_used_again_is_judged_round_by_round() -> None:
    entries = [user("go"), calls("a"), result("a"), said("1"), user("on"), calls("a"), result("a")]
    assert diagnose_transcript(entries)["status"] == "healthy"


def test_calls_without_results_are_missing_results() -> None:
    diagnosis = diagnose_transcript(numbered(user("go"), calls("a"), uses("b")))
    assert diagnosis["status"] == "broken"
    assert diagnosis["failure_modes"] == ["missing_tool_results"]
    assert diagnosis["orphaned_tool_ids"] == ["a", "b"]
    assert diagnosis["recommended_action"] == "repair"


def test_a_result_after_the_users_next_words_is_misplaced() -> None:
    diagnosis = diagnose_transcript(numbered(user("go"), calls("a"), user("on"), result("a")))
    assert diagnosis["failure_modes"] == ["ordering_violation"]
    assert diagnosis["misplaced_tool_ids"] == ["a"]


def test_results_that_nobody_answers_are_an_incomplete_turn() -> None:
    entries = numbered(user("go"), calls("a"), result("a"), user("on"))
    diagnosis = diagnose_transcript(entries)
    assert diagnosis["failure_modes"] == ["incomplete_assistant_turn"]
    assert diagnosis["incomplete_turns"] == [
        {"after_line": 3, "after_index": 2, "missing": "assistant_response"}
    ]


def test_repair_leaves_a_healthy_transcript_as_it_is() -> None:
    entries = numbered(user("go"), said("done"))
    assert repair_transcript(entries, diagnose_transcript(entries)) == [user("go"), said("done")]


def test_repair_makes_up_results_and_an_answer() -> None:
    entries = numbered(user("go"), calls("a", "b"), user("on"))
    repaired = repair_transcript(entries, diagnose_transcript(entries))
    assert [each["role"] for each in repaired] == ["user", "assistant", "tool", "tool", "assistant", "user"]
    assert all("error" in each["content"] for each in repaired if each["role"] == "tool")
    assert not any("line_num" in each for each in repaired)


def test_repair_drops_a_misplaced_result() -> None:
    entries = numbered(user("go"), calls("a"), user("on"), result("a", "too late"))
    repaired = repair_transcript(entries, diagnose_transcript(entries))
    assert "too late" not in [each.get("content") for each in repaired]
    assert sum(each["role"] == "tool" for each in repaired) == 1


def test_repair_takes_only_the_misplaced_block_out_of_a_message() -> None:
    mixed = {"role": "user", "content": [*result_block("a")["content"], {"type": "text", "text": "on"}]}
    entries = numbered(user("go"), uses("a"), said("hm"), mixed)
    repaired = repair_transcript(entries, diagnose_transcript(entries))
    assert repaired[-1] == {"role": "user", "content": [{"type": "text", "text": "on"}]}


@pytest.mark.parametrize(
    "entries",
    [
        [user("go"), result("x"), said("hm")],
        [user("go"), result_block("x"), user("more")],
        [user("go"), calls("a"), result("a"), result("a"), said("done")],
        [user("go"), calls("a"), result("a"), said("done"), user("on"), result("a")],
    ],
    ids=["nobody called", "a block that nobody called", "twice", "again later"],
)
def test_a_result_that_nobody_waits_for_is_misplaced_and_left_out(entries: list[Message]) -> None:
    found = diagnose_transcript(entries)
    assert "ordering_violation" in found["failure_modes"]
    assert found["misplaced_tool_ids"] in (["x"], ["a"])
    repaired = repair_transcript(entries, found)
    assert diagnose_transcript(repaired)["status"] == "healthy"
    assert [each for each in repaired if each.get("role") == "user" and each in entries] == [
        each for each in entries if each in (user("go"), user("more"), user("on"))
    ]


def test_a_result_that_repair_makes_up_does_not_break_a_later_one() -> None:
    entries = [calls("a", "b"), {"role": "system", "content": "s"}, calls("c"), result("a")]
    repaired = repair_transcript(entries, diagnose_transcript(entries))
    assert diagnose_transcript(repaired)["status"] == "healthy"


def test_rewinding_goes_back_to_before_the_turn_that_broke() -> None:
    entries = numbered(user("one"), said("1"), user("two"), calls("a"), user("three"), said("3"))
    assert rewind_transcript(entries, diagnose_transcript(entries)) == [user("one"), said("1")]


def test_rewinding_a_broken_first_turn_leaves_nothing() -> None:
    entries = numbered(user("one"), calls("a"))
    assert rewind_transcript(entries, diagnose_transcript(entries)) == []


def test_rewinding_a_healthy_transcript_keeps_all_of_it() -> None:
    entries = numbered(user("one"), said("1"))
    assert rewind_transcript(entries, diagnose_transcript(entries)) == [user("one"), said("1")]


_ids = st.sampled_from(["a", "b", "c"])
_messages = st.lists(
    st.one_of(
        st.just(user("go")),
        st.just(user("<system-reminder>x</system-reminder>")),
        st.just(said("done")),
        st.just({"role": "system", "content": "s"}),
        st.lists(_ids, min_size=1, max_size=3).map(lambda ids: calls(*ids)),
        _ids.map(uses),
        _ids.map(result),
        _ids.map(result_block),
        _ids.map(result_and_words),
    ),
    max_size=12,
)


@given(_messages)
def test_whatever_is_repaired_is_healthy_and_keeps_the_users_words(messages: list[Message]) -> None:
    repaired = repair_transcript(messages, diagnose_transcript(messages))
    assert diagnose_transcript(repaired)["status"] == "healthy"
    assert repaired.count(user("go")) == messages.count(user("go"))


@given(_messages)
def test_whatever_is_rewound_is_a_healthy_beginning(messages: list[Message]) -> None:
    rewound = rewind_transcript(messages, diagnose_transcript(messages))
    assert rewound == messages[: len(rewound)]
    assert diagnose_transcript(rewound)["status"] == "healthy"


def test_a_result_that_comes_with_the_users_words_stays_where_another_one_is_missing() -> None:
    entries = [user("go"), uses("a", "b"), result_and_words("a")]
    repaired = repair_transcript(entries, diagnose_transcript(entries))
    assert result_and_words("a") in repaired
    assert [each["role"] for each in repaired] == ["user", "assistant", "tool", "user", "assistant"]


@pytest.mark.parametrize("after", [[], [user("on")], [user("on"), said("1")]])
def test_a_turn_with_one_of_two_results_is_incomplete_and_gets_a_closing_message(
    after: list[dict[str, Any]],
) -> None:
    entries = numbered(user("go"), calls("a", "b"), result("a"), *after)
    diagnosis = diagnose_transcript(entries)
    assert diagnosis["failure_modes"] == ["missing_tool_results", "incomplete_assistant_turn"]
    assert diagnosis["incomplete_turns"] == [
        {"after_line": 3, "after_index": 2, "missing": "assistant_response"}
    ]
    repaired = repair_transcript(entries, diagnosis)
    assert [each["role"] for each in repaired[:5]] == ["user", "assistant", "tool", "tool", "assistant"]
    assert diagnose_transcript(repaired)["status"] == "healthy"


@pytest.mark.parametrize("role", ["user", "tool"])
def test_a_result_that_comes_twice_in_one_message_stays_once(role: str) -> None:
    block = {"type": "tool_result", "tool_use_id": "a", "content": "ok"}
    entries = [user("q"), uses("a"), {"role": role, "content": [block, dict(block)]}, said("done")]
    found = diagnose_transcript(entries)
    assert (found["failure_modes"], found["misplaced_tool_ids"]) == (["ordering_violation"], ["a"])
    repaired = repair_transcript(entries, found)
    assert repaired == [user("q"), uses("a"), {"role": role, "content": [block]}, said("done")]


@pytest.mark.parametrize("made", [calls, uses])
def test_a_call_that_comes_twice_in_one_message_stays_once(made: Any) -> None:
    entries = [user("q"), made("a", "b", "a"), result("a"), result("b"), result("a"), said("done")]
    found = diagnose_transcript(entries)
    assert found["misplaced_tool_ids"] == ["a"]
    repaired = repair_transcript(entries, found)
    assert repaired == [user("q"), made("a", "b"), result("a"), result("b"), said("done")]
    assert rewind_transcript(entries, found) == []


def test_a_call_that_is_told_in_both_forms_is_one_call() -> None:
    both = {**calls("a"), "content": uses("a")["content"]}
    assert diagnose_transcript([user("q"), both, result("a"), said("done")])["status"] == "healthy"


def test_of_several_results_in_a_message_of_a_tool_only_strays_are_left_out() -> None:
    blocks = [{"type": "tool_result", "tool_call_id": each, "content": "ok"} for each in ("a", "b")]
    entries = [user("q"), uses("a"), {"role": "tool", "content": blocks}, said("done")]
    repaired = repair_transcript(entries, diagnose_transcript(entries))
    assert repaired == [user("q"), uses("a"), {"role": "tool", "content": blocks[:1]}, said("done")]


def test_repair_puts_results_before_a_reminder_that_came_first() -> None:
    reminder = user("<system-reminder>x</system-reminder>")
    entries = [user("q"), calls("a", "b"), reminder, result("a"), said("done")]
    repaired = repair_transcript(entries, diagnose_transcript(entries))
    assert [each.get("tool_call_id") for each in repaired[2:4]] == ["b", "a"]
    assert repaired[4:] == [reminder, said("done")]
