"""Random recipes that crash at random moments and go on from their journals end as if nothing happened."""

from __future__ import annotations

import json
import os
from random import Random

import pytest
from tests.support.fake_world import Crash, CrashingJournal, FakeWorld
from tests.support.random_recipes import ANSWERS, World, random_world

from amplihack.recipes.events import Event, Recorded, from_json, to_json
from amplihack.recipes.results import RunResult, StepResult
from amplihack.recipes.run_state import RunState
from amplihack.records import replace

BLOCK = 50
BLOCKS = int(os.environ.get("SEMANTICS_EXAMPLES", "300")) // BLOCK
CRASHES = 4  # for each recipe
# A run tells these once for all rounds of a step: which of several at once tells it is nobody's promise.
TOLD_ONCE = ("; nothing sets it", "; it renders empty", "every text that is not empty holds")


def live(world: World, past: list[Recorded], crash_after: int | None) -> tuple[list[Event], RunResult | None]:
    """Return what was recorded, and the result of a run that lived to its end."""
    fake = FakeWorld({**ANSWERS}, dict(world.recipes))
    fake.journal = journal = CrashingJournal(past=past)
    journal.crash_after = crash_after
    try:
        result = fake.run(world.main, include_tags=world.include_tags, exclude_tags=world.exclude_tags)
    except (Crash, BaseExceptionGroup):
        return journal.events, None
    return journal.events, result


def stored(events: list[Recorded]) -> list[Recorded]:
    return [from_json(json.loads(json.dumps(to_json(event)))) for event in events]


def timeless(result: RunResult) -> RunResult:
    """Return the result without durations, and without the step that is told of a name once for all."""
    once = sorted(text.partition(": ")[2] for text in result.warnings if _told_once(text))
    warnings = tuple(text for text in result.warnings if not _told_once(text))
    steps = tuple(map(_timeless, result.step_results))
    return replace(result, duration=None, step_results=steps, warnings=(*warnings, *once))


def _told_once(text: str) -> bool:
    return any(each in text for each in TOLD_ONCE)


def _timeless(step: StepResult) -> StepResult:
    warnings = tuple(text for text in step.warnings if not _told_once(text))
    return replace(step, duration=None, warnings=warnings, children=tuple(map(_timeless, step.children)))


def limit_met_at_once(world: World, result: RunResult) -> bool:
    """Tell whether rounds that ran at once met the limit of steps: which of them did is nobody's promise."""
    at_once = any("parallel: " in text for text in world.recipes.values())
    return at_once and "Total step limit" in repr(result)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_a_crash_changes_nothing_about_the_end(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        world, random = random_world(seed), Random(seed)
        whole, expected = live(world, [], None)
        assert expected is not None
        assert RunState(whole).results() == expected.step_results, seed
        if limit_met_at_once(world, expected):
            continue
        for _ in range(CRASHES):
            past: list[Recorded] = []
            result: RunResult | None = None
            for life in range(3):
                crash_after = None if life == 2 else 1 + random.randrange(len(whole))
                recorded, result = live(world, past, crash_after)
                past = stored([*past, *recorded])
                if result is not None:
                    break
            assert result is not None, seed
            assert timeless(result) == timeless(expected), seed
