from __future__ import annotations

from pathlib import Path

import pytest

from amplihack.cli.near import near, near_problems
from amplihack.errors import Location, Problem


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("/here/dir/a/b.md", "a/b.md"),
        ("no bundle at /here/dir/x, or '/here/dir/y'", "no bundle at x, or 'y'"),
        ("/here/dir", "/here/dir"),
        ("/here/dirt/x", "/here/dirt/x"),
        ("/other/here/dir/x", "/other/here/dir/x"),
        ("file:///here/dir/x", "file:///here/dir/x"),
        ("git+file:///here/dir/x@main", "git+file:///here/dir/x@main"),
    ],
)
def test_paths_below_the_directory_are_shortened_and_nothing_else(text: str, short: str) -> None:
    assert near(Path("/here/dir"))(text) == short


def test_all_texts_of_a_problem_are_shortened() -> None:
    problem = Problem("at /w/a", Location("/w/b.yaml", 1, 2), "see /w/c", code="x")
    (short,) = near_problems([problem], near(Path("/w")))
    assert (short.what, str(short.where), short.fix, short.code) == ("at a", "b.yaml:1:2", "see c", "x")
