from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplihack.system.lines import LineSplitter


def split(pieces: list[bytes], longest: int = 1_000_000) -> list[str]:
    splitter = LineSplitter(longest)
    return [line for piece in pieces for line in splitter.feed(piece)] + splitter.end()


@given(st.lists(st.binary(max_size=40), max_size=10))
def test_where_the_pieces_end_makes_no_difference(pieces: list[bytes]) -> None:
    assert split(pieces) == split([b"".join(pieces)])


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (b"", []),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\n\nb", ["a", "", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        ("é\n".encode(), ["é"]),
        (b"\xff\n", ["\ufffd"]),
    ],
)
def test_lines_end_at_newlines(text: bytes, lines: list[str]) -> None:
    assert split([text]) == lines
    assert split([text[i : i + 1] for i in range(len(text))]) == lines


def test_a_long_line_is_cut_and_the_next_one_is_whole() -> None:
    assert split([b"x" * 30, b"y" * 30 + b"\nnext\n"], longest=10) == ["x" * 10 + "…", "next"]
