"""Whether trying again can help, told by the words of a failure."""

from __future__ import annotations

import pytest

from amplihack.recipes.classify import Outlook, classify, may_attempt


@pytest.mark.parametrize(
    ("error", "code", "outlook"),
    [
        ("bash: /x: Permission denied", 1, "unrecoverable"),
        ("FATAL: role does not exist", None, "unrecoverable"),
        ("Cannot find module 'x'", 1, "unrecoverable"),
        ("whatever", 127, "unrecoverable"),
        ("whatever", 137, "unrecoverable"),
        ("3 Tests: TEST FAILED", 1, "recoverable"),
        ("syntax error near token", 2, "recoverable"),
        ("something else", 1, "unknown"),
        ("", None, "unknown"),
    ],
)
def test_the_words_and_the_exit_code_decide(error: str, code: int | None, outlook: Outlook) -> None:
    assert classify(error, code) == outlook


def test_attempts_are_bounded_and_hopeless_ones_are_not_made() -> None:
    assert [may_attempt("test failed", attempt) for attempt in range(3)] == [True, True, False]
    assert not may_attempt("out of memory", 0)
    assert may_attempt("odd", 4, most=5)
