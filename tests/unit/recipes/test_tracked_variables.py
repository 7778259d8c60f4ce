"""Variables tell what was written to them."""

from __future__ import annotations

import pytest

from amplihack.recipes.tracked_variables import Follower, TrackedValues


def test_a_follower_learns_what_was_set_and_removed_since_it_asked() -> None:
    values, follower = TrackedValues({"a": 1}), Follower()
    assert follower.changes(values) is None  # the first time, everything is new
    values["b"] = 2
    values.update({"a": 3, "c": 4})
    values.pop("b")
    values.pop("nothing", None)
    del values["c"]
    assert list(follower.changes(values) or ()) == ["b", "a", "c", "b", "c"]
    assert values == {"a": 3}
    assert list(follower.changes(values) or ()) == []


def test_after_a_look_at_others_everything_is_new_again() -> None:
    one, other, follower = TrackedValues({}), TrackedValues({}), Follower()
    for values in (one, other, one, {"plain": 1}, {"plain": 1}):
        assert follower.changes(values) is None
    assert follower.changes(one) is None
    assert follower.changes(one) == []


def test_a_list_of_changes_does_not_grow_for_ever() -> None:
    values, follower = TrackedValues({}), Follower()
    follower.changes(values)
    for number in range(5_000):
        values["n"] = number
    assert len(values.changed) < 2_000
    assert follower.changes(values) is None  # told to look at everything, not half of what happened
    values["n"] = 0
    assert follower.changes(values) == ["n"]


def test_nothing_can_be_written_past_the_list() -> None:
    values = TrackedValues({"a": 1})
    for method in ("clear", "popitem", "setdefault"):
        with pytest.raises(TypeError, match="keep track"):
            getattr(values, method)()
    with pytest.raises(TypeError, match="keep track"):
        values |= {"b": 1}
    assert values == {"a": 1}
