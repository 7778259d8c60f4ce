"""Bare names in comparisons are found where they read like texts."""

from __future__ import annotations

import pytest

from amplihack.recipes.conditions import parse_condition
from amplihack.recipes.conditions.unset import bare_words


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
