"""A finding says what was meant, where that can be known."""

from __future__ import annotations

import pytest
from tests.unit.recipes.check.shelf import check

CONTEXT = "name: main\ncontext: {mode: fast, l: [1]}\nsteps:\n"


@pytest.mark.parametrize(
    ("step", "fix"),
    [
        ("{id: a, prompt: 'in {{context.mode}}'}", "write mode alone: a variable has no word in front of it"),
        ("{id: a, prompt: 'in {{vars.mode}}'}", "write mode alone: a variable has no word in front of it"),
        ("{id: a, condition: mode == TRUE, command: ls}", "write true: in conditions, TRUE is the name"),
        (
            "{id: a, condition: Mode == 'x', command: ls}",
            "did you mean mode? Or if the text is meant",
        ),
    ],
)
def test_the_fix_names_what_was_meant(step: str, fix: str) -> None:
    (found,) = check(f"{CONTEXT}  - {step}\n")
    assert fix in found.fix
