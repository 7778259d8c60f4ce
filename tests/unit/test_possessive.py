"""Possessive repeats as atomic groups: the same matches, on a Python that has no fault to avoid."""

from __future__ import annotations

import itertools
import re
import sys

import pytest

from amplihack.possessive import compile_rightly

EXPRESSIONS = [
    r"(?:'[a-z]*+'|[ab ])*+",
    r"(?:[ab]|\"(?:[a ]|'b')*+\")++",
    r"(a?+b)++\1",
    r"(?P<x>a)?+(?(x)b|'*+)",
    r"(?:(?:\A'?+|(?!\A)(?:b++|a|' ?+))[ab]*+)++",
    r"(?=a*+b)(?:a|b)++|(?!b)'++",
    r"(?>a{1,2}+|'){2,}+",
]


@pytest.mark.skipif(sys.version_info < (3, 11, 7), reason="this Python has the fault")
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_the_same_is_matched(text: str) -> None:
    ours, theirs = compile_rightly(text), re.compile(text)
    for size in range(5):
        for letters in itertools.product("ab' \"", repeat=size):
            subject = "".join(letters)
            assert [found.span() for found in ours.finditer(subject)] == [
                found.span() for found in theirs.finditer(subject)
            ], subject


def test_flags_groups_and_bytes_are_kept() -> None:
    found = compile_rightly(rb"(?x) (?P<name> A++ )  # a comment", re.IGNORECASE).match(b"aab")
    assert found is not None
    assert found["name"] == b"aa"
