"""Random recipes that are forked at any step and go on end as the run that they come from."""

from __future__ import annotations

import os
from random import Random

import pytest
from tests.property.test_recall import limit_met_at_once, live, stored, timeless
from tests.support.random_recipes import random_world

from amplihack.recipes.compared_run import RunSide
from amplihack.recipes.events import Recorded, StepFinished, StepStarted
from amplihack.recipes.run_diff import compare_runs
from amplihack.recipes.run_fork import beginnings, shared_events, subject
from amplihack.recipes.run_state import RunState

BLOCK = 50
BLOCKS = int(os.environ.get("SEMANTICS_EXAMPLES", "300")) // BLOCK
FORKS = 4  # of each run


@pytest.mark.parametrize("block", range(BLOCKS))
def test_a_fork_that_changes_nothing_ends_as_its_source(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        world, random = random_world(seed), Random(seed)
        whole, expected = live(world, [], None)
        assert expected is not None
        if limit_met_at_once(world, expected):
            continue
        events = [(float(number), event) for number, event in enumerate(whole)]
        begun = sorted(name for name in RunState(whole).instances() if name in beginnings(events))
        for _ in range(FORKS if begun else 0):
            step = random.choice(begun)
            shared = [event for _, event in shared_events(events, step, {})]
            recorded, result = live(world, stored(shared), None)
            assert result is not None, (seed, step)
            assert timeless(result) == timeless(expected), (seed, step)
            done = {name for name, each in RunState(shared).instances().items() if each.finished}
            again = {subject(event) for event in recorded}
            assert step in again, (seed, step)
            begun_again = {subject(event) for event in recorded if isinstance(event, StepStarted)}
            assert not done & begun_again, (seed, step)
            # What had ended when the outermost part of the step began is not done again.
            before = events[: beginnings(events)[_outermost(step)]]
            ended = {subject(event) for _, event in before if _succeeded(event)}
            failed = {each.identity for each in expected.step_results if each.status == "failed"}
            assert not {name for name in ended if _outermost(name) not in failed} & begun_again, (seed, step)
            joined = [(float(number), each) for number, each in enumerate([*shared, *recorded], len(whole))]
            sides = [RunSide(each, lambda _: None, "", {}) for each in (events, joined)]
            assert compare_runs(*sides) == [], (seed, step)


def _succeeded(event: Recorded) -> bool:
    return isinstance(event, StepFinished) and event.result.status != "failed"


def _outermost(name: str) -> str:
    return name.split("/")[0].split("[")[0]
