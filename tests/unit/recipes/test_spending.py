from __future__ import annotations

from amplihack.recipes.agent_port import Usage
from amplihack.recipes.spending import add_costs, add_usage


def test_unknown_is_never_zero() -> None:
    assert add_usage([None, None]) is None
    assert add_costs([None]) is None
    assert add_costs([None, 0.5, 0.25]) == 0.75
    assert add_usage([Usage(input_tokens=1), None, Usage(input_tokens=2, output_tokens=3)]) == Usage(
        input_tokens=3, output_tokens=3
    )


def test_amounts_are_added_as_people_add_them() -> None:
    assert add_costs((0.0125, 0.5, None, 0.5, 0.025)) == 1.0375
    assert add_costs((None,)) is None
