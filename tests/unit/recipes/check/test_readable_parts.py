"""A file that is no recipe yet: what else is wrong with it is told too, and nothing that is not."""

from __future__ import annotations

import pytest
from tests.unit.recipes.check.shelf import Shelf

from amplihack.errors import Problem
from amplihack.recipes.check.readable_parts import findings_beside
from amplihack.recipes.decode import decode, read_recipe
from amplihack.system.bash_syntax import syntax_faults

GOOD = """\
name: main
context: {task: x}
steps:
  - id: a
    command: echo {{task}}
    output: made
  - id: b
    command: echo {{made}}
"""


def beside(text: str) -> list[Problem]:
    document = read_recipe(text, "main.yaml")
    decoded = decode(document)
    assert any(each.severity == "error" for each in decoded.problems)
    return list(findings_beside(decoded, document, "main.yaml", Shelf({}), syntax_faults))


def lines(text: str) -> list[tuple[str, int]]:
    return [(each.code, each.where.line) for each in beside(text) if each.where]


def test_steps_without_an_error_are_checked_as_ever() -> None:
    text = GOOD.replace("    output: made\n", "    output: made\n    timeout: soon\n")
    text += "  - id: c\n    command: 'if [ x ; then'\n  - id: d\n    command: echo {{nobody}}\n"
    assert lines(text) == [("bash-syntax", 11), ("undefined-variable", 13)]


def test_a_step_with_an_error_is_checked_for_what_its_texts_say_alone() -> None:
    text = GOOD + "  - id: c\n    timeout: soon\n    command: 'echo {{nobody}}; fi'\n"
    assert sorted(lines(text)) == [("bash-syntax", 11), ("undefined-variable", 11)]


@pytest.mark.parametrize(
    ("good", "wrong"),
    [
        ("output: made", "output: [made]"),
        ("output: made", "output: {name: other}"),
        ("output: made", "if: made"),
        ("context: {task: x}", "context: [task]"),
        ("context: {task: x}", "context: 7"),
        ("  - id: a\n", "  - id: [made]\n"),
        ("    command: echo {{task}}\n    output: made", "    run: echo\n    output: made"),
        ("    command: echo {{task}}\n    output: made", "    recipe: [sub]"),
        ("  - id: a\n    command: echo {{task}}\n    output: made", "  - made"),
        ("  - id: a\n    command: echo {{task}}\n    output: made", "  - {}"),
        ("name: main", "name: [main]"),
    ],
)
def test_nothing_is_told_that_may_follow_from_an_error(good: str, wrong: str) -> None:
    assert good in GOOD
    assert beside(GOOD.replace(good, wrong)) == []


def test_a_loop_that_cannot_be_read_still_gives_its_names() -> None:
    text = GOOD + "  - id: c\n    while_condition: '(('\n    command: echo {{item}} {{loop.index}} {{made}}\n"
    assert beside(text) == []


def test_a_dependency_on_a_step_without_a_readable_id_is_not_told() -> None:
    text = GOOD.replace("  - id: a\n", "  - id: [a]\n") + "    depends_on: [a]\n"
    assert beside(text) == []


@pytest.mark.parametrize(
    "text", ["{}", "name: x", "name: x\nsteps: 7\n", "{name: x, steps: [{id: a}]}", "- a"]
)
def test_a_file_of_which_nothing_can_be_read_has_only_its_errors(text: str) -> None:
    assert beside(text) == []


def test_an_error_in_a_step_of_a_loop_leaves_the_others() -> None:
    loop = "  - id: l\n    foreach: [1]\n    steps:\n      - id: c\n        command: echo\n"
    text = GOOD + loop + "        timeout: soon\n"
    text += "      - id: d\n        command: echo {{nobody}} {{item}}\n"
    assert lines(text) == [("undefined-variable", 16)]
