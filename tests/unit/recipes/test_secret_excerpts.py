"""Messages about a recipe file quote its lines, but not the values of its secrets."""

from __future__ import annotations

import pytest

from amplihack.errors import DocumentError, Problem
from amplihack.recipes.decode import decode_text

STEPS = "steps: [{id: a, command: echo}]\n"


def shown(problems: tuple[Problem, ...]) -> str:
    return "\n".join(f"{each.what} {each.fix} {each.where.text if each.where else ''}" for each in problems)


@pytest.mark.parametrize(
    "text",
    [
        "context: {tok: hunter2-value, x: 1}\nsecrets: [tok]\nstepz: hunter2-value\n",
        "secrets:\n  - tok # it\ncontext:\n  tok: hunter2-value\n  tok: hunter2-value\n",
        "inputs: [{name: tok, default: hunter2-value, tpye: 1}]\nsecrets: ['tok']\n",
        "context: {tok: 'hunter2-''value', y: 1}\nsecrets: [tok]\nx: {y: 'hunter2-''value'}\n",
        'context: {tok: "hunter2-\\x41value"}\nsecrets: [tok]\nx: "hunter2-\\x41value"\n',
        "context: {tok: {a: [hunter2-value]}}\nsecrets: [tok]\nzz: {tok: hunter2-value}\n",
        "context:\n  tok: |\n    first-line\n    hunter2-value\nsecrets: [tok]\nzz: hunter2-value\n",
    ],
)
def test_a_file_with_problems_shows_no_secret(text: str) -> None:
    found = decode_text(f"name: r\n{text}{STEPS}").problems
    assert found
    assert "hunter2" not in shown(found)


@pytest.mark.parametrize(
    "text",
    [
        "context: {tok: hunter2-value, x: [1}\nsecrets: [tok]\n",
        "context:\n  tok: 'hunter2-value\nsecrets: [tok]\n",
        "secrets:\n  - tok\ncontext:\n  tok: hunter2-value: x\n",
        "secrets: [tok]\ncontext:\n  tok: hunter2-value\n bad\n",
        "secrets: [tok]\ncontext:\n  'tok': @hunter2-value\n",
        "secrets: [tok]\ncontext:\n  tok:\n    a:\n    - pw: hunter2-value\n\nbroken: [hunter2-value: : x\n",
        "secrets: [tok]\ncontext:\n  tok:\n  - hunter2-value\n  - x\nbroken: 'hunter2-value\n",
    ],
)
def test_a_text_that_is_no_yaml_shows_no_secret(text: str) -> None:
    with pytest.raises(DocumentError) as raised:
        decode_text(f"name: r\n{text}{STEPS}")
    assert "hunter2" not in shown(raised.value.problems)
    assert raised.value.where is not None


def test_the_rest_of_the_line_is_shown() -> None:
    (found,) = decode_text(f"name: r\ncontxt: {{tok: abcd-1}}\nsecrets: [tok]\n{STEPS}").problems
    assert found.where is not None
    assert found.where.text == "contxt: {tok: ******}"
