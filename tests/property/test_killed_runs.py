"""Random recipes that are killed, perhaps edited, and resumed with the real commands end as they should."""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.crash_points import Place
from tests.support.crash_stories import Ended, Story, tell

# The threads of the test runner hold nothing that a life needs.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
EXAMPLES = int(os.environ.get("KILLED_RECIPES", "6"))
KINDS = ("plain", "plain", "group", "rounds", "together", "body", "flaky", "call", "skipped", "large")


@dataclass
class Draft:
    """Recipes as they are built: files by name, and the words that steps print, by the id of the step."""

    draw: st.DrawFn
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    timed: set[str] = field(default_factory=set)  # steps whose results tell how long things took

    def steps(self, prefix: str, depth: int) -> list[dict[str, Any]]:
        count = self.draw(st.integers(1, 3))
        return [step for _ in range(count) for step in self.step(prefix, depth)]

    def step(self, prefix: str, depth: int) -> list[dict[str, Any]]:
        kind = self.draw(st.sampled_from(KINDS))
        name = f"s{len(self.words)}"
        step = self.plain(name, f"{prefix}{name}")
        match kind:
            case "group":
                other = f"s{len(self.words)}"
                both = (step, self.plain(other, f"{prefix}{other}"))
                return [{**each, "parallel_group": f"g{name}"} for each in both]
            case "rounds" | "together":
                again = self.command(name, f"{prefix}{name}[{{{{item}}}}]")
                return [{**step, **again, "foreach": [0, 1, 2], "collect": f"{name}_all"} | _parallel(kind)]
            case "body" if depth:
                self.timed.add(name)
                inner = self.steps(f"{prefix}{name}[{{{{it{depth}}}}}]/", depth - 1)
                return [{"id": name, "foreach": [0, 1], "as": f"it{depth}", "steps": inner}]
            case "flaky":
                effect = f"{prefix}{name}"
                test = f'[ "$(grep -cFx "{effect}" "$LOG")" -gt 1 ]'
                script = f'echo "{effect}" >> "$LOG"; {test} && echo {self.words[-1]}'
                return [{"id": name, "command": script, "retry": {"max_attempts": 3, "initial_delay": 0}}]
            case "call" if depth:
                self.timed.add(name)
                file = f"{name}.yaml"
                self.files[file] = {"name": name, "steps": self.steps(f"{prefix}{name}/", depth - 1)}
                return [{"id": name, "recipe": f"./{file}"}]
            case "skipped":
                return [{**step, "condition": "1 == 2"}]
            case "large":
                return [{**step, "command": f"{step['command']}; seq 5000"}]
            case _:
                return [step]

    def plain(self, name: str, effect: str) -> dict[str, Any]:
        """Return a step that prints its own word and that of an earlier step."""
        self.words.append(f"word-{name}")
        return {"id": name, **self.command(name, effect)}

    def command(self, name: str, effect: str) -> dict[str, Any]:
        earlier = f"s{self.draw(st.integers(0, max(0, len(self.words) - 1)))}"
        read = f"{{{{{earlier}}}}}" if earlier not in (name, *self.timed) else "none"
        return {"command": f'echo "{effect}" >> "$LOG"; echo "word-{name}" {read} | cut -c 1-60'}


def _parallel(kind: str) -> dict[str, Any]:
    return {"parallel": True} if kind == "together" else {}


@st.composite
def recipes(draw: st.DrawFn) -> dict[str, str]:
    draft = Draft(draw)
    draft.files["main.yaml"] = {"name": "main", "steps": draft.steps("", 2)}
    return {name: yaml.safe_dump(recipe, sort_keys=False) for name, recipe in draft.files.items()}


class Random(Story):
    """A run of random recipes, which are edited after their first life if there is an edit."""

    name = "random"
    in_flight = 6

    def __init__(self, files: dict[str, str], edit: tuple[str, str] | None = None) -> None:
        self.files, self.edit = files, edit
        self.first_life = True
        self.too_late = False  # the run was over before the edit, and stays as it was

    def begin(self, place: Place) -> None:
        place.write(self.files)

    def next(self, place: Place, code: int | None) -> Sequence[str] | None:
        if self.edit is not None and code is not None:
            place.write(edited(self.files, self.edit))
        words = super().next(place, code)
        if self.first_life and code is not None:
            self.first_life, self.too_late = False, self.edit is not None and words is None
        return words if words in (None, self.first) else (*(words or ()), "--accept-changes")

    def repeats(self, done: set[str], again: Counter[str]) -> set[str]:
        return {name for name in done if again[name]} if self.edit is None else set()

    def check(self, ended: Ended, expected: Ended) -> None:
        if self.edit is None:
            super().check(ended, expected)
        if self.too_late:
            return
        assert ended.context == expected.context
        assert sorted(ended.statuses) == sorted(expected.statuses)


def edited(files: dict[str, str], edit: tuple[str, str]) -> dict[str, str]:
    return {name: text.replace(f'"{edit[0]}"', f'"{edit[1]}"') for name, text in files.items()}


def end_of(
    files: dict[str, str], folder: Path, kills: list[int], story: Random, expected: Ended | None
) -> Ended:
    place = Place(folder)
    story.begin(place)
    place.save()
    return tell(story, place, kills, expected)


kill_lists = st.lists(st.integers(10, 250), min_size=1, max_size=4)


@settings(max_examples=EXAMPLES, deadline=None)
@given(recipes(), kill_lists)
def test_a_random_recipe_that_is_killed_ends_as_if_nothing_had_happened(
    files: dict[str, str], kills: list[int]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        expected = end_of(files, Path(folder, "whole"), [], Random(files), None)
        end_of(files, Path(folder, "killed"), kills, Random(files), expected)


@settings(max_examples=EXAMPLES, deadline=None)
@given(recipes(), kill_lists, st.integers(0, 8))
def test_a_random_recipe_that_is_killed_and_edited_ends_as_the_edited_one(
    files: dict[str, str], kills: list[int], step: int
) -> None:
    edit = f"word-s{step}", "another"
    with tempfile.TemporaryDirectory() as folder:
        after = edited(files, edit)
        expected = end_of(after, Path(folder, "whole"), [], Random(after), None)
        end_of(files, Path(folder, "killed"), kills, Random(files, edit), expected)


def test_there_is_something_in_the_recipes() -> None:
    """The strategy builds every kind of step that it knows."""
    found: set[str] = set()

    @settings(max_examples=60, database=None)
    @given(recipes())
    def look(files: dict[str, str]) -> None:
        text = json.dumps(files)
        found.update(
            word for word in ("parallel_group", "parallel:", "as:", "retry", "recipe:") if word in text
        )

    look()
    assert len(found) == 5
