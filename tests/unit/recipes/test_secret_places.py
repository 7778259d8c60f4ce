from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplihack.recipes.secret_places import SecretMissing, put_back, taken_out

MARK = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
SECRETS = {"token/0": "s3cret", "token/1": "s3cret-longer", "other/0": "x\n\"y'"}


def test_secrets_leave_places_at_any_depth_and_come_back() -> None:
    value = {"a": ["use s3cret-longer", {"s3cret": 1, "b": "x\n\"y' and s3cret"}], "n": 3, "none": None}
    kept = taken_out(value, SECRETS, MARK)
    assert not any(text in str(kept) for text in ("s3cret", '"y'))
    assert kept["a"][0] == f"use [[{MARK}:token/1]]"
    assert put_back(kept, SECRETS, MARK) == value


def test_what_looks_like_a_place_of_others_stays() -> None:
    value = "[[other:token/0]] [[token/0]]"
    assert put_back(taken_out(value, SECRETS, MARK), SECRETS, MARK) == value


def test_a_secret_that_is_gone_is_told() -> None:
    kept = taken_out("use s3cret", SECRETS, MARK)
    with pytest.raises(SecretMissing):
        put_back(kept, {}, MARK)
    assert put_back(kept, {"token/0": "n3w"}, MARK) == "use n3w"


TEXTS = st.text(alphabet='ab[]:/0\n\\"')


@given(
    value=st.recursive(TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)),
    secrets=st.dictionaries(st.sampled_from(["a/0", "b/0", "c/1"]), TEXTS),
)
def test_whatever_is_taken_out_comes_back(value: Any, secrets: dict[str, str]) -> None:
    assert put_back(taken_out(value, secrets, MARK), secrets, MARK) == value
