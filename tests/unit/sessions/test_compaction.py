from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplihack.sessions.calls import Message, calls_of, is_real_user_message, results_of
from amplihack.sessions.compaction import compact, shortened, units_of
from amplihack.sessions.tokens import estimate_tokens, message_tokens


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def said(text: str) -> Message:
    return {"role": "assistant", "content": text}


def round_of(*ids: str, result: str = "x" * 4_000) -> list[Message]:
    calls = [{"id": each, "tool": "read", "arguments": {}} for each in ids]
    results = [{"role": "tool", "tool_call_id": each, "content": result} for each in ids]
    return [{"role": "assistant", "content": "", "tool_calls": calls}, *results]


def long_talk(rounds: int) -> list[Message]:
    messages: list[Message] = [{"role": "system", "content": "Be good."}, user("the task")]
    for number in range(rounds):
        messages += round_of(f"{number}a", f"{number}b")
    return [*messages, said("so far"), user("the last word")]


def open_pairs(messages: list[Message]) -> set[str]:
    called = {call.id for message in messages for call in calls_of(message)}
    answered = {found for message in messages for found in results_of(message)}
    return called ^ answered


@pytest.mark.parametrize("target", [40_000, 20_000, 10_000, 3_000, 500])
def test_the_view_fits_and_no_call_is_without_its_result(target: int) -> None:
    talk = long_talk(30)
    view = compact(talk, target)
    assert view.fits
    assert estimate_tokens(view.messages) <= target
    assert open_pairs(view.messages) == set()
    assert view.messages[0] == talk[0]
    assert [message for message in view.messages if is_real_user_message(message)] == [talk[1], talk[-1]]


def test_what_is_left_out_is_told() -> None:
    view = compact(long_talk(30), 3_000)
    notes = [each for each in view.messages if "earlier messages are left out" in str(each["content"])]
    assert len(notes) == 1
    left_out = int(notes[0]["content"].split(">")[1].split()[0])
    assert left_out + len(view.messages) - 1 == len(long_talk(30))


def test_one_huge_result_is_cut_even_if_it_is_the_newest() -> None:
    talk = [user("go"), *round_of("1", result="BEGIN" + "x" * 5_000_000 + "END")]
    view = compact(talk, 5_000)
    assert view.fits
    text = view.messages[-1]["content"]
    assert text.startswith("BEGIN")
    assert text.endswith("END")
    assert "characters left out" in text


def test_a_word_of_the_user_that_is_too_long_stays_and_is_told() -> None:
    view = compact([user("x" * 100_000)], 1_000)
    assert not view.fits
    assert view.messages == [user("x" * 100_000)]


def test_pictures_in_old_results_go_first() -> None:
    picture = {
        "role": "tool",
        "tool_call_id": "1",
        "content": [{"type": "image", "source": {"data": "A" * 99}}],
    }
    talk = [
        user("go"),
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "tool": "see"}]},
        picture,
    ]
    talk += [each for number in range(12) for each in round_of(str(number + 2))]
    view = compact(talk, estimate_tokens(talk) - 1_000)
    assert view.fits
    assert "image was left out" in str(view.messages)


def test_a_unit_is_a_round_of_calls_with_its_results() -> None:
    parts = list(units_of([user("a"), *round_of("1", "2"), said("b"), user("c")]))
    assert [len(unit) for unit in parts] == [1, 3, 1, 1]


def test_calls_that_nobody_answered_end_with_the_turn() -> None:
    parts = list(units_of([*round_of("1")[:1], said("hm"), user("next"), said("yes")]))
    assert [len(unit) for unit in parts] == [2, 1, 1]


TURNS = st.lists(
    st.one_of(
        st.text(max_size=300).map(user),
        st.text(max_size=300).map(said),
        st.tuples(st.integers(1, 3), st.text(max_size=2_000)),
    ),
    max_size=30,
)


@given(TURNS, st.integers(10, 5_000))
def test_no_view_ever_splits_a_pair_or_changes_the_conversation(turns: list[Any], target: int) -> None:
    talk: list[Message] = []
    for number, turn in enumerate(turns):
        if isinstance(turn, tuple):
            talk += round_of(*(f"{number}.{index}" for index in range(turn[0])), result=turn[1])
        else:
            talk.append(turn)
    before = repr(talk)
    view = compact(talk, target)
    assert repr(talk) == before
    assert open_pairs(view.messages) == set()
    assert view.fits == (estimate_tokens(view.messages) <= target)
    behind = {call.id for message in view.messages for call in calls_of(message)}
    for message in view.messages:
        behind -= set(results_of(message))
    assert behind == set()


@given(st.text(max_size=500), st.integers(1, 400))
def test_a_shortened_text_keeps_both_ends(text: str, most: int) -> None:
    short = shortened(text, most)
    assert short == text if len(text) <= most else short.startswith(text[: most * 2 // 3])


def test_calls_are_counted_once_though_they_are_written_twice() -> None:
    block = {"type": "tool_call", "id": "1", "name": "a", "input": {"x": "y" * 400}}
    call = {"id": "1", "tool": "a", "arguments": {"x": "y" * 400}}
    once = message_tokens({"role": "assistant", "content": [block]})
    assert message_tokens({"role": "assistant", "content": [block], "tool_calls": [call]}) == once
    assert message_tokens({"role": "assistant", "content": "", "tool_calls": [call]}) > 100
