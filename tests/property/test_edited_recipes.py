"""Random recipes that crash, are edited and go on end with the values of the edited recipe."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest
import yaml
from tests.property.test_recall import stored
from tests.support.fake_world import Crash, CrashingJournal, FakeShell, FakeWorld
from tests.support.random_recipes import ANSWERS, World, random_world

from amplihack.recipes.decode import decode_text
from amplihack.recipes.events import Event, RecipeEntered, Recorded
from amplihack.recipes.ports import OnLines, ShellOutcome, ShellRequest
from amplihack.recipes.recipe_changes import Changes, Work, compare
from amplihack.recipes.results import RunResult
from amplihack.recipes.run_state import RunState
from amplihack.recipes.values import to_json
from amplihack.records import replace

BLOCK = 50
BLOCKS = int(os.environ.get("SEMANTICS_EXAMPLES", "300")) // BLOCK
MAIN = "/here/recipe.yaml"


class Echoing(FakeShell):
    """Prints the values that a script refers to as well, so that what is stale shows."""

    async def run(self, request: ShellRequest, on_lines: OnLines) -> ShellOutcome:
        outcome = await super().run(request, on_lines)
        names = [name for name in sorted(request.scope) if f"RECIPE_VAR_{name}" in request.script.source]
        values = "".join(f" {to_json(request.scope[name])}" for name in names)
        return replace(outcome, stdout=f"{outcome.stdout}{values}")


def live(world: World, past: list[Recorded], crash_after: int | None) -> tuple[list[Event], RunResult | None]:
    """Return what was recorded, and the result of a run that lived to its end."""
    fake = FakeWorld({}, dict(world.recipes))
    fake.shell = Echoing(fake.clock, {**ANSWERS})
    fake.journal = journal = CrashingJournal(past=past)
    journal.crash_after = crash_after
    try:
        result = fake.run(world.main, include_tags=world.include_tags, exclude_tags=world.exclude_tags)
    except (Crash, BaseExceptionGroup):
        return journal.events, None
    return journal.events, result


def edited(text: str, random: Random) -> str:
    """Change the answer of a step, or take a step away."""
    recipe: dict[str, Any] = yaml.safe_load(text)
    lists = [stage["steps"] for stage in recipe.get("stages", [recipe])]
    steps = random.choice(lists)
    step = random.choice(steps)
    if random.random() < 0.3 and len(steps) > 1:
        steps.remove(step)
    elif "command" in step:
        step["command"] = (
            step["command"].replace("ANSWER-word", "ANSWER-other").replace("ANSWER-list", "ANSWER-word")
        )
    else:
        step["output"] = "v3"
    return yaml.safe_dump(recipe, sort_keys=False)


def compared(before: World, after: World, past: list[Recorded]) -> Changes:
    entered = {each.identity: each.path for each in past if isinstance(each, RecipeEntered) and each.path}
    work = Work(RunState(past).instances(), entered, frozenset())

    def shelf(world: World) -> Any:
        found = {f"/books/{name}.yaml": text for name, text in world.recipes.items()} | {MAIN: world.main}
        return lambda path: decode_text(found[path]).required()

    return compare(work, MAIN, shelf(before), shelf(after))


@pytest.mark.parametrize("block", range(BLOCKS))
def test_a_run_that_is_edited_and_goes_on_ends_as_one_of_the_edited_recipe(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        world, random = random_world(seed), Random(seed)
        recipes = {**world.recipes, "main": edited(world.main, random)}
        after = World(recipes, world.include_tags, world.exclude_tags)
        _, expected = live(after, [], None)
        whole, _ = live(world, [], None)
        assert expected is not None
        late = len(whole) // 2 + 1 + random.randrange(len(whole) // 2 + 1)
        recorded: list[Event] = live(world, [], late)[0]
        past = stored([*recorded])
        changes = compared(world, after, past)
        result = live(after, [*past, *changes.undone], None)[1]
        if (
            result is not None and result.ending == "failed"
        ):  # a failure from before the crash is a fact at first
            again, _ = live(after, [*past, *changes.undone], None)
            result = live(after, stored([*past, *changes.undone, *again]), None)[1]
        assert result is not None
        assert (result.ending, dict(result.context)) == (expected.ending, dict(expected.context)), seed
