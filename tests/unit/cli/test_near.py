from __future__ import annotations

from pathlib import Path

import pytest

from amplihack.cli.near import near, near_problems
from amplihack.errors import Location, Problem


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("/work/dir/a/b.md", "a/b.md"),
        ("no bundle at /work/dir/x, or '/work/dir/y'", "no bundle at x, or 'y'"),
        ("/work/dir", "/work/dir"),
        ("/work/dirt/x", "/work/dirt/x"),
        ("/other/work/dir/x", "/other/work/dir/x"),
        ("file:///work/dir/x", "file:///work/dir/x"),
        ("git+file:///work/dir/x@main", "git+file:///work/dir/x@main"),
    ],
)
def test_paths_below_the_directory_are_shortened_and_nothing_else(text: str, short: str) -> None:
    assert near(Path("/work/dir"))(text) == short


def test_all_texts_of_a_problem_are_shortened() -> None:
    problem = Problem("at /w/a", Location("/w/b.yaml", 1, 2), "see /w/c", code="x")
    (short,) = near_problems([problem], near(Path("/w")))
    assert (short.what, str(short.where), short.fix, short.code) == ("at a", "b.yaml:1:2", "see c", "x")
