from __future__ import annotations

import json
from typing import Any

import pytest

from amplihack.sessions.messages import (
    add_synthetic_tool_results,
    closing_message,
    count_turns,
    find_orphaned_tool_calls,
    get_turn_boundaries,
    get_turn_summary,
    is_real_user_message,
    open_calls,
    slice_to_turn,
    was_cut_off,
)

Message = dict[str, Any]


def user(text: Any) -> Message:
    return {"role": "user", "content": text}


def said(text: Any) -> Message:
    return {"role": "assistant", "content": text}


def calls(*ids: str, text: str = "") -> Message:
    listed = [{"id": name, "function": {"name": f"tool_{name}", "arguments": "{}"}} for name in ids]
    return {"role": "assistant", "content": text, "tool_calls": listed}


def uses(*ids: str) -> Message:
    return said([{"type": "tool_use", "id": name, "name": f"tool_{name}", "input": {}} for name in ids])


def result(name: str) -> Message:
    return {"role": "tool", "tool_call_id": name, "content": "done"}


def roles(messages: list[Message]) -> list[str]:
    return [message["role"] for message in messages]


THREE = [user("one"), said("1"), user("two"), said("2"), user("three"), said("3")]


def test_a_turn_starts_at_each_user_message() -> None:
    assert get_turn_boundaries(THREE) == [0, 2, 4]
    assert count_turns([{"role": "system", "content": "be kind"}, *THREE]) == 3
    assert count_turns([]) == 0


def test_slicing_keeps_what_stands_before_the_first_turn() -> None:
    system = {"role": "system", "content": "be kind"}
    assert slice_to_turn([system, *THREE], 1) == [system, *THREE[:2]]


def test_slicing_to_the_last_turn_keeps_everything() -> None:
    assert slice_to_turn(THREE, 3) == THREE


@pytest.mark.parametrize(
    ("messages", "turn", "words"),
    [
        (THREE, 0, "Turn must be >= 1"),
        (THREE, 4, "exceeds max turns"),
        ([], 1, "No user messages"),
    ],
)
def test_a_turn_that_is_not_there_is_refused(messages: list[Message], turn: int, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        slice_to_turn(messages, turn)


def test_an_unknown_way_to_treat_orphans_is_refused_even_when_there_are_none() -> None:
    with pytest.raises(ValueError, match="Unknown handle_orphaned_tools"):
        slice_to_turn(THREE, 1, handle_orphaned_tools="ignore")


def test_orphans_are_found_in_both_forms_in_order() -> None:
    messages = [user("go"), calls("a", "b"), result("a"), uses("c", "d"), user("on")]
    assert find_orphaned_tool_calls(messages) == ["b", "c", "d"]


def test_a_result_block_answers_a_call() -> None:
    answer = user([{"type": "tool_result", "tool_use_id": "a", "content": "ok"}])
    assert find_orphaned_tool_calls([user("go"), uses("a"), answer]) == []


def test_a_slice_completes_its_open_calls() -> None:
    sliced = slice_to_turn([user("go"), calls("a"), user("on")], 1)
    assert roles(sliced) == ["user", "assistant", "tool"]
    assert json.loads(sliced[2]["content"])["forked"] is True
    assert sliced[2]["name"] == "tool_a"


def test_a_slice_can_remove_its_open_calls_and_a_message_that_was_nothing_else() -> None:
    messages = [user("go"), calls("a", "b", text="look"), result("a"), calls("c"), uses("d")]
    sliced = slice_to_turn(messages, 1, handle_orphaned_tools="remove")
    assert sliced == [user("go"), calls("a", text="look"), result("a")]
    assert messages[1] == calls("a", "b", text="look")


def test_a_slice_can_refuse_open_calls() -> None:
    with pytest.raises(ValueError, match="Orphaned tool calls at turn 1: a"):
        slice_to_turn([user("go"), calls("a")], 1, handle_orphaned_tools="error")


def test_made_up_results_follow_their_call_and_close_the_turn_before_the_next() -> None:
    messages = [user("go"), calls("a", "b"), result("b"), user("on")]
    mended = add_synthetic_tool_results(messages, ["a"])
    assert roles(mended) == ["user", "assistant", "tool", "tool", "assistant", "user"]
    assert [message.get("tool_call_id") for message in mended[2:4]] == ["a", "b"]


def test_no_closing_answer_is_made_up_when_the_assistant_goes_on_itself() -> None:
    mended = add_synthetic_tool_results([user("go"), calls("a"), said("done"), user("on")], ["a"])
    assert roles(mended) == ["user", "assistant", "tool", "assistant", "user"]


def test_made_up_results_can_have_any_content() -> None:
    mended = add_synthetic_tool_results([uses("a")], ["a"], synthetic_content="gone")
    assert mended[1] == {"role": "tool", "tool_call_id": "a", "name": "tool_a", "content": "gone"}


@pytest.mark.parametrize(
    ("entry", "real"),
    [
        (user("hello"), True),
        (user(""), True),
        (user([{"type": "text", "text": "hello"}]), True),
        (user("what is a <system-reminder> for?"), True),
        ({**user("x"), "tool_call_id": "a"}, False),
        (result("a"), False),
        (said("hello"), False),
        (user("  <system-reminder>be kind</system-reminder>"), False),
        (user('<system-reminder source="hook">x</system-reminder>'), False),
        (user([{"type": "text", "text": "<system-reminder>x"}]), False),
        (user([{"type": "tool_result", "tool_use_id": "a", "content": "ok"}]), False),
    ],
)
def test_only_what_a_person_wrote_is_a_real_user_message(entry: Message, real: bool) -> None:
    assert is_real_user_message(entry) is real


def test_a_summary_tells_what_a_turn_is_about() -> None:
    messages = [user("list"), calls("a", "b"), result("a"), result("b"), said("two files"), user("next")]
    assert get_turn_summary(messages, 1) == {
        "turn": 1,
        "user_content": "list",
        "assistant_content": "two files",
        "tool_count": 2,
        "message_count": 5,
    }


def test_a_summary_shortens_texts_and_blocks_alike() -> None:
    messages = [user([{"type": "text", "text": "x" * 200}]), said("short")]
    summary = get_turn_summary(messages, 1, max_length=50)
    assert summary["user_content"] == "x" * 50 + "..."
    assert summary["assistant_content"] == "short"


def test_a_summary_of_no_turn_is_refused() -> None:
    with pytest.raises(ValueError, match="out of range"):
        get_turn_summary(THREE, 4)


def test_a_call_is_open_until_a_later_message_answers_it_although_ids_come_twice() -> None:
    talk = [user("q"), calls("a"), result("a"), calls("a", "b"), result("b")]
    assert open_calls(talk) == [("a", "tool_a", "{}")]
    assert open_calls(talk[:3]) == []


def test_a_conversation_tells_whether_its_last_turn_came_to_an_answer() -> None:
    assert not was_cut_off([])
    assert not was_cut_off([user("q"), said("a")])
    assert was_cut_off([user("q"), closing_message()])
    assert was_cut_off([user("q"), closing_message("half an")])
    assert not was_cut_off([user("q"), closing_message(), user("again"), said("a")])
