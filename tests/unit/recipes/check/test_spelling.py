"""The name that was probably meant, among many that are alike on purpose."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplihack.documents.suggest import distance
from amplihack.recipes.check.spelling import Spelling


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("resutl_7", "result_7"),  # a slip, with the number that stands there too
        ("result_2000", None),  # another number is no slip
        ("report", None),
        ("Task-Description", "task_description"),
        ("task_descripton", "task_description"),
        ("tas", None),
    ],
)
def test_a_slip_is_told_from_a_name_of_its_own(name: str, meant: str | None) -> None:
    known = [*(f"result_{number}" for number in range(300)), "task_description"]
    assert Spelling(known).meant(name) == meant


NAMES = st.text("abst_-12", min_size=1, max_size=9)


@given(st.sets(NAMES, max_size=8), NAMES)
def test_what_is_meant_is_a_known_name_within_reach(known: set[str], name: str) -> None:
    meant = Spelling(known).meant(name)
    near = {each for each in known if each != name and distance(name, each, 2) <= 2}
    assert meant is None or meant in near or _look(meant) == _look(name)


def _look(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def test_numbered_names_use_up_no_comparisons() -> None:
    spelling = Spelling([*(f"result_{number}" for number in range(500)), "summary"])
    assert [spelling.meant(f"step_{number}") for number in range(500)] == [None] * 500
    assert spelling.meant("sumary") == "summary"
