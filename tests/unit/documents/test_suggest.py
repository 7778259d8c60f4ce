from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplihack.documents.suggest import alike, closest, distance

words = st.text("abcd_", max_size=8)


@pytest.mark.parametrize(
    ("left", "right", "mistakes"),
    [
        ("", "", 0), ("a", "", 1), ("same", "same", 0), ("comand", "command", 1), ("tmeout", "timeout", 1),
        ("versoin", "version", 1), ("prarse_json", "parse_json", 1), ("descrption", "description", 1),
        ("ab", "ba", 1), ("abcd", "badc", 2), ("kitten", "sitting", 3),
    ],
)  # fmt: skip
def test_mistakes_are_letters_more_less_other_or_swapped(left: str, right: str, mistakes: int) -> None:
    assert distance(left, right, 5) == distance(right, left, 5) == mistakes


def test_more_mistakes_than_the_limit_are_not_counted_on() -> None:
    assert distance("kitten", "sitting", 2) == 3
    assert distance("a", "abcdefgh", 2) == 3


@given(words, words)
def test_distance_is_symmetric_and_zero_only_for_the_same_word(left: str, right: str) -> None:
    assert distance(left, right, 20) == distance(right, left, 20)
    assert (distance(left, right, 20) == 0) == (left == right)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("step", "steps"), ("nmae", "name"), ("tgas", "tags"), ("tuples", None), ("time_out", "timeout"),
        ("TimeOut", "timeout"), ("working-dir", "working_dir"), ("workingDir", "working_dir"), ("cnd", "cwd"),
        ("cxx", None), ("timout", "timeout"), ("tiemotu", "timeout"), ("nothing_like_it", None), ("", None),
    ],
)  # fmt: skip
def test_the_nearest_word_is_meant(word: str, meant: str | None) -> None:
    assert closest(word, ["name", "steps", "tags", "timeout", "working_dir", "cwd"]) == meant


def test_one_letter_is_like_no_other() -> None:
    assert (closest("r", ["b", "x"]), closest("B", ["b", "x"])) == (None, "b")


def test_nothing_is_near_to_no_words() -> None:
    assert closest("word", []) is None


def test_of_two_equally_near_words_the_first_by_alphabet_is_meant() -> None:
    assert closest("catx", ["caty", "cata"]) == "cata"


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("task", ("task_description",)), ("repo", ("repo_path",)), ("path", ("repo_path",)),
        ("issue", ("issue_number", "issue_title")), ("the_version", ("version",)), ("versoin", ("version",)),
        ("Task-Desc", ("task_description",)), ("number", ("issue_number",)), ("ve", ()), ("zebra", ()),
        ("ask", ()), ("", ()),
    ],
)  # fmt: skip
def test_words_that_share_a_word_are_alike(word: str, meant: tuple[str, ...]) -> None:
    known = ["task_description", "repo_path", "issue_number", "issue_title", "version"]
    assert alike(word, known) == meant
