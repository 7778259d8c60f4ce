"""Bare names in comparisons are found where they read like texts."""

from __future__ import annotations

import pytest

from amplihack.recipes.conditions import AMPLIFIER, AMPLIHACK, parse_condition
from amplihack.recipes.conditions.unset import bare_words, text_words, unset_names


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("status == ok", ["status", "ok"]),
        ("host == example.org", ["host", "example.org"]),
        ("version != v1.2", ["version", "v1.2"]),
        ("report.verdict == 'pass'", []),
        ("name.lower() == main.py", ["main.py"]),
        ("status in [ok, done]", ["status", "ok", "done"]),
        ("not ok", []),
    ],
)
def test_bare_words_are_what_an_author_may_have_meant_as_text(condition: str, words: list[str]) -> None:
    assert [word for word, _ in bare_words(parse_condition(condition).tree)] == words


def test_a_bare_word_beside_a_placeholder_is_a_text_where_variables_have_braces() -> None:
    tree = parse_condition("{{status}} == ok and state != done").tree
    assert unset_names(tree, {"status": "ok", "state": 1}, AMPLIFIER) == ("done",)
    assert unset_names(tree, {"status": None, "state": 1}, AMPLIHACK) == ("ok", "done")
    assert [tree.inner[0].inner[1].column] == list(text_words(tree, AMPLIFIER))
    assert list(text_words(tree, AMPLIHACK)) == []
