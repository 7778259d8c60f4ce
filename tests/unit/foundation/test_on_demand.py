"""Fields of plain data are made when somebody looks at them; a program notices nothing of it."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import pytest

from amplifier_foundation import Bundle
from amplifier_foundation.configurator._types import Origin


def test_bundles_that_are_only_composed_are_never_translated() -> None:
    one = Bundle.from_dict({"bundle": {"name": "one"}, "tools": [{"module": "t"}]})
    two = Bundle.from_dict({"bundle": {"name": "two"}, "tools": [{"module": "u"}]})
    whole = one.compose(two).compose(one)
    assert not {"tools", "agents", "origins"} & (vars(one).keys() | vars(two).keys() | vars(whole).keys())
    assert [tool["module"] for tool in whole.tools] == ["t", "u"]
    assert whole.tools is whole.tools


def test_what_a_program_changes_after_a_look_counts() -> None:
    bundle = Bundle.from_dict({"bundle": {"name": "one"}, "tools": [{"module": "t"}], "x-note": 1})
    bundle.tools.append({"module": "u"})
    bundle.extra["more"] = [1]
    bundle.origins["tool:u"] = [Origin("me", None)]
    whole = bundle.compose(Bundle(name="two"))
    assert [tool["module"] for tool in whole.tools] == ["t", "u"]
    assert whole.extra == {"x-note": 1, "more": [1]}
    assert whole.origins["tool:u"] == [Origin("me", None)]


def test_a_copy_has_every_field_and_shares_no_data() -> None:
    bundle = Bundle.from_dict({"bundle": {"name": "one"}, "tools": [{"module": "t"}]})
    copies = (copy.deepcopy(bundle), pickle.loads(pickle.dumps(bundle)), replace(bundle))  # noqa: S301 - ours
    for each in copies:
        assert each == bundle
    copies[0].tools.clear()
    assert bundle.tools == [{"module": "t"}]


def test_a_name_that_is_no_field_is_no_attribute() -> None:
    bundle = Bundle.from_dict({"bundle": {"name": "one"}})
    with pytest.raises(AttributeError, match="'Bundle' object has no attribute 'skills'"):
        bundle.skills  # type: ignore[attr-defined]  # noqa: B018 - what is refused
