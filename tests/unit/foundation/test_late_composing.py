"""A composition is worked out when somebody looks; a program cannot tell."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest

from amplifier_foundation import Bundle
from amplifier_foundation.configurator._types import Origin


def small(number: int, **more: Any) -> Bundle:
    return Bundle.from_dict(
        {
            "bundle": {"name": f"b{number}"},
            "tools": [{"module": f"tool-{number}"}],
            "providers": [{"module": "provider-x", "config": {"model": f"m{number}"}}],
            **more,
        }
    )


def modules(bundle: Bundle) -> list[str]:
    return [tool["module"] for tool in bundle.tools]


def test_an_operand_that_changes_afterwards_changes_nothing() -> None:
    one, two = small(1), small(2)
    whole = one.compose(two)
    one.tools.append({"module": "late"})
    two.providers[0]["config"]["model"] = "late"
    two.name, two.instruction = "late", "Late."
    two.context["late"] = Path("/late")
    assert (whole.name, whole.instruction, whole.context) == ("b2", None, {})
    assert modules(whole) == ["tool-1", "tool-2"]
    assert whole.providers == [{"module": "provider-x", "config": {"model": "m2"}}]
    assert "tool:late" not in whole.origins


def test_data_that_a_constructor_was_given_may_change_afterwards() -> None:
    tools = [{"module": "tool-x", "config": {"deep": [1]}}]
    whole = Bundle("made", tools=tools).compose(small(1))
    tools[0]["config"] = {"deep": [2]}
    assert whole.to_mount_plan()["tools"][0]["config"] == {"deep": [1]}


def test_a_composition_on_the_way_may_be_changed_before_it_is_composed_on() -> None:
    whole = small(1).compose(small(2))
    whole.name = "renamed"
    whole = whole.compose(small(3, bundle={}))
    assert whole.name == "renamed"
    assert whole.origins["tool:tool-1"] == [Origin("b1", None)]


def test_a_malformed_entry_is_refused_when_it_is_composed() -> None:
    broken = Bundle("broken", tools=["tool-x"])  # type: ignore[list-item] # what is refused
    with pytest.raises(TypeError, match="Malformed module config at index 0"):
        small(1).compose(broken)


def test_two_looks_share_nothing() -> None:
    whole = small(1).compose(small(2))
    plan = whole.to_mount_plan()
    plan["providers"][0]["config"]["model"] = "changed"
    whole.tools.clear()
    again = small(1).compose(small(2))
    assert again.to_mount_plan()["providers"][0]["config"] == {"model": "m2"}
    assert modules(again) == ["tool-1", "tool-2"]
    assert "tools" not in whole.to_mount_plan()


@pytest.mark.parametrize("look", [str, lambda whole: whole.extra, lambda whole: whole.tools])
def test_thousands_are_composed_one_by_one_on_either_side(look: Any) -> None:
    left = right = small(0)
    for number in range(1, 600):
        left, right = left.compose(small(number)), small(number).compose(right)
        look(left), look(right)
    assert modules(left) == [f"tool-{number}" for number in range(600)]
    assert modules(right) == [f"tool-{number}" for number in reversed(range(600))]
    assert left.origins["tool:tool-7"] == [Origin("b7", None)]
    assert len(right.origins["tool:tool-7"]) > 1


def test_a_composition_is_composed_on_itself() -> None:
    whole = small(1).compose(small(2))
    for _ in range(500):
        whole = whole.compose(whole)
    assert modules(whole) == ["tool-1", "tool-2"]


def test_a_long_composition_can_be_copied() -> None:
    whole = small(0)
    for number in range(1, 3000):
        whole = whole.compose(small(number))
    copied = copy.deepcopy(whole)
    assert modules(copied) == modules(whole)
    assert copied.origins == whole.origins


def test_a_composition_can_be_pickled() -> None:
    whole = small(0)
    for number in range(1, 60):
        whole = whole.compose(small(number))
    again = pickle.loads(pickle.dumps(whole))  # noqa: S301 - our own
    assert modules(again) == modules(whole)
    assert again.origins == whole.origins


def test_what_a_load_told_of_the_parts_is_told_of_the_whole() -> None:
    one, two = small(1), small(2)
    one.load_report.append({"source": "x", "chain": ["b1"], "reason": "gone", "exception": None})
    two._source_uri = "file:///two"
    whole = one.compose(two)
    assert [each["reason"] for each in whole.load_report] == ["gone"]
    assert whole._source_uri == "file:///two"
    whole.load_report.clear()
    assert len(one.load_report) == 1


def test_a_class_of_a_program_keeps_its_own_fields() -> None:
    class Own(Bundle):
        note = "mine"

    bundle = Own.from_dict({"bundle": {"name": "own", "version": "2"}, "tools": [{"module": "t"}]})
    assert (type(bundle), bundle.name, bundle.version, bundle.tools) == (Own, "own", "2", [{"module": "t"}])


def test_a_field_that_was_deleted_is_made_again() -> None:
    whole = small(1).compose(small(2))
    del whole.tools[:]
    del whole.tools
    assert modules(whole) == ["tool-1", "tool-2"]
    made = Bundle("made")
    del made.tools
    with pytest.raises(AttributeError, match="'Bundle' object has no attribute 'tools'"):
        made.tools  # noqa: B018 - what is refused
