"""Colours: the flag decides, then the environment, then whether a person looks."""

from __future__ import annotations

import pytest

from amplihack.system.colour import use_colours


@pytest.mark.parametrize(
    ("choice", "environment", "terminal", "pipe"),
    [
        ("auto", {}, True, False),
        ("always", {"NO_COLOR": "1", "TERM": "dumb"}, True, True),
        ("never", {"FORCE_COLOR": "1"}, False, False),
        ("auto", {"NO_COLOR": "1"}, False, False),
        ("auto", {"NO_COLOR": ""}, True, False),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
        ("auto", {"FORCE_COLOR": "1"}, True, True),
        ("auto", {"FORCE_COLOR": "3", "TERM": "dumb"}, True, True),
        ("auto", {"FORCE_COLOR": "0"}, False, False),
        ("auto", {"FORCE_COLOR": "false"}, False, False),
        ("auto", {"FORCE_COLOR": ""}, True, False),
        ("auto", {"FORCE_COLOR": "0", "CLICOLOR_FORCE": "1"}, True, True),
        ("auto", {"CLICOLOR_FORCE": "1"}, True, True),
        ("auto", {"CLICOLOR_FORCE": "0"}, True, False),
        ("auto", {"CLICOLOR": "0"}, False, False),
        ("auto", {"CLICOLOR": "1"}, True, False),
        ("auto", {"TERM": "dumb"}, False, False),
    ],
)
def test_the_first_that_says_something_decides(
    choice: str, environment: dict[str, str], terminal: bool, pipe: bool
) -> None:
    found = [use_colours(choice, environment, is_terminal=each) for each in (True, False)]
    assert found == [terminal, pipe]
