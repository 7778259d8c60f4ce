"""What is asked for is found in words that no parser has understood."""

from __future__ import annotations

import pytest

from amplihack.cli.asked import wanted_colour, wants_json


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", False),
        ("recipe run x --json", True),
        ("recipe run --json --bogus", True),
        ("bundle show --js", True),
        ("x --output-format json", True),
        ("x --output-format=json", True),
        ("x --output json", True),
        ("x --output-format text", False),
        ("x --format json", True),
        ("x --format=text", False),
        ("x --output-format", False),
        ("run -- --json", False),
        ("run --jsonl", False),
        ("run --", False),
    ],
)
def test_json_is_asked_for_by_two_flags(words: str, expected: bool) -> None:
    assert wants_json(words.split()) is expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("x --color always", "always"),
        ("x --color=never --bogus", "never"),
        ("x --color purple", "auto"),
        ("x", "auto"),
        ("x --color", "auto"),
    ],
)
def test_colours_are_asked_for_by_one(words: str, expected: str) -> None:
    assert wanted_colour(words.split()) == expected
