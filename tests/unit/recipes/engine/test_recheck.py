"""Steps with `recheck: true` run again whenever a run goes on, although they have finished."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.fake_world import FakeWorld, statuses

from amplihack.recipes.events import RunFinished
from amplihack.recipes.results import RunResult

TOP = """
name: r
steps:
  - {id: look, command: look, recheck: true, output: seen}
  - {id: work, command: work}
  - {id: use, command: 'use {{seen}}'}
"""
CALLS = "name: r\nsteps:\n  - {id: call, recipe: child}\n  - {id: last, command: last}\n"
CHILD = "name: child\nsteps:\n  - {id: look, command: look, recheck: true}\n  - {id: work, command: work}\n"


def again(world: FakeWorld, text: str, shell: dict[str, Any], *, killed: bool = False) -> RunResult:
    """Go on with the run of a world where the shell answers otherwise."""
    later = FakeWorld(shell, world.book.texts)
    later.journal.past = [
        event for event in world.journal.events if not (killed and isinstance(event, RunFinished))
    ]
    result = later.run(text)
    world.shell, world.journal = later.shell, later.journal
    return result


@pytest.mark.parametrize("killed", [False, True])
def test_a_finished_check_is_made_again_and_its_result_counts(killed: bool) -> None:
    world = FakeWorld({"work": 1, "look": "then"})
    world.run(TOP)
    result = again(world, TOP, {"look": "now", "work": "done"}, killed=killed)
    assert world.shell.scripts == (["look"] if killed else ["look", "work", 'use "$RECIPE_VAR_seen"'])
    assert statuses(result)["work"] == ("failed" if killed else "completed")  # a killed run keeps its failure
    assert result.context["seen"] == "now"


def test_a_check_that_fails_now_ends_the_run_before_anything_else() -> None:
    world = FakeWorld({"work": 1})
    world.run(TOP)
    result = again(world, TOP, {"look": 1})
    assert (world.shell.scripts, result.ending) == (["look"], "failed")


def test_inside_a_sub_recipe_it_is_made_again_until_that_has_finished() -> None:
    world = FakeWorld({"work": 1}, {"child": CHILD})
    world.run(CALLS)
    again(world, CALLS, {"last": 1})
    assert world.shell.scripts == ["look", "work", "last"]


def test_after_its_sub_recipe_it_is_not_made_again() -> None:
    world = FakeWorld({"last": 1}, {"child": CHILD})
    world.run(CALLS)
    result = again(world, CALLS, {})
    assert (world.shell.scripts, result.ending) == (["last"], "completed")


def test_a_check_that_is_a_recipe_is_made_again_as_a_whole() -> None:
    text = "name: r\nsteps:\n  - {id: call, recipe: child, recheck: true}\n  - {id: last, command: last}\n"
    child = "name: child\nsteps:\n  - {id: one, command: one}\n  - {id: two, command: two}\n"
    world = FakeWorld({"two": 1}, {"child": child})
    world.run(text)
    again(world, text, {"last": 1})
    assert world.shell.scripts == ["one", "two", "last"]
