"""Random recipes of every shape that can run: both dialects, groups, loops, bodies and sub-recipes."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import yaml

NAMES = ("v0", "v1", "v2", "v3")
# What the fake shell prints for a command that contains the word; a number is an exit code.
ANSWERS: dict[str, Any] = {
    "ANSWER-word": "x",
    "ANSWER-other": "y",
    "ANSWER-list": "[1, 2]",
    "ANSWER-empty": "",
    "ANSWER-false": "false",
    "ANSWER-failure": 1,
}
_ANSWERS = (*ANSWERS, *list(ANSWERS)[:4] * 2)  # most commands succeed
SUB_RECIPES = ("one", "two", "three")
CONDITIONS = (
    *(form.replace("V", name) for form in ("V", "not V", "V == 'x'", "defined(V)") for name in NAMES),
    "v0 and v1",
    "v0 == 'x' and v1",
    "v1 == 'x' or v2 == 'y'",
    "v0 == 'x' and v0 == 'y'",
    "v1 != 'x' or v1 != 'y'",
    "_loop_index == 0",
    "steps.m0.status == 'completed'",
    "inputs.v1 == 'x'",
    "true",
    "false",
    "1 == 2",
    "int('many') > 1",
)


@dataclass(frozen=True)
class World:
    """A recipe called main, and those that it may call, as YAML by their names."""

    recipes: dict[str, str]
    include_tags: frozenset[str]
    exclude_tags: frozenset[str]

    @property
    def main(self) -> str:
        return self.recipes["main"]


class _Author:
    """Writes one recipe; every step has an id that no other recipe uses."""

    def __init__(self, random: Random, name: str, callable_: tuple[str, ...]) -> None:
        self.random, self.name, self.callable = random, name, callable_
        self.count = 0

    def often(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def one_of(self, choices: Any) -> Any:
        return self.random.choice(choices)

    def recipe(self) -> dict[str, Any]:
        found: dict[str, Any] = {"name": self.name, "dialect": self.one_of(("amplihack", "amplifier"))}
        values: tuple[Any, ...] = ("x", "y", "", "false", True, [1, 2], [])
        found["context"] = {name: self.one_of(values) for name in NAMES if self.often(40)}
        if self.often(25):
            found["recursion"] = self.limits(least_steps=1)
        if self.often(10):
            found["context_validation"] = {self.one_of(NAMES): self.one_of(("nonempty", "optional"))}
        if self.often(70):
            found["steps"] = self.steps(2)
            return found
        found["stages"] = []
        for number in range(self.one_of((1, 2, 2, 3))):
            stage: dict[str, Any] = {"name": f"stage-{number}", "steps": self.steps(2)}
            if self.often(40):
                stage["condition"] = self.one_of(CONDITIONS)
            found["stages"].append(stage)
        return found

    def limits(self, least_steps: int = 0) -> dict[str, int]:
        limits = {}
        if self.often(60):
            limits["max_depth"] = self.one_of((0, 1, 1, 2, 3))
        if self.often(40):
            limits["max_total_steps"] = self.random.randint(least_steps, 20)
        return limits

    def steps(self, depth: int) -> list[dict[str, Any]]:
        before: list[str] = []
        found = []
        for _ in range(self.random.randint(1, 6 if depth == 2 else 3)):
            step = self.step(depth, before)
            before.append(step["id"])
            found.append(step)
        return found

    def step(self, depth: int, before: list[str]) -> dict[str, Any]:
        step: dict[str, Any] = {"id": f"{self.name[0]}{self.count}"}
        self.count += 1
        if self.often(25):
            step["condition"] = self.one_of(CONDITIONS)
        if self.often(8):
            step["when_tags"] = [self.one_of(("slow", "fast"))]
        if self.often(35):
            step["parallel_group"] = self.one_of(("g", "g", "h"))
        if before and self.often(20):
            step["depends_on"] = [self.one_of(before)]
        if self.often(45):
            step["output"] = self.one_of(NAMES)
        if self.often(25):
            step["on_error"] = self.one_of(("fail", "continue", "continue", "skip_remaining"))
        if self.often(12):
            step["finally"] = True
        loops = self.often(30)
        if loops:
            self.loop(step)
        if loops and depth and self.often(40):
            step["steps"] = self.steps(depth - 1)
        elif self.callable and self.often(30):
            self.call(step)
        elif self.often(12):
            step["prompt"] = f"tell me about {self.mentions(before)}"
        else:
            self.command(step, before)
        return step

    def mentions(self, before: list[str]) -> str:
        others = ("item", "_loop_index", f"{self.name[0]}1", "nobody")
        names = [
            self.one_of((*NAMES, *NAMES, *before, *before, *others)) for _ in range(self.one_of((0, 1, 2)))
        ]
        return " ".join(f"{{{{{name}}}}}" for name in names)

    def command(self, step: dict[str, Any], before: list[str]) -> None:
        step["command"] = f"{self.one_of(_ANSWERS)} {self.mentions(before)}"
        if self.often(12):
            step["output_exit_code"] = self.one_of(NAMES)
        if self.often(8):
            step["output_stderr"] = self.one_of(NAMES)

    def loop(self, step: dict[str, Any]) -> None:
        if self.often(65):
            lists: tuple[Any, ...] = (["a"], ["a", "b"], ["x"], ["a", "{{v1}}"], [], "{{v0}}", "v1")
            step["foreach"] = "x, y" if self.often(4) else self.one_of(lists)
            if self.often(30):
                step["as"] = self.one_of(("item", *NAMES))
            if self.often(35):
                step["parallel"] = self.one_of((True, 2))
        else:
            step["while_condition"] = self.one_of(CONDITIONS)
            step["max_while_iterations"] = self.one_of((0, 1, 2, 3))
        if self.often(30):
            step["collect"] = self.one_of(NAMES)
        if self.often(15):
            step["break_when"] = self.one_of(CONDITIONS)
        if self.often(20):
            step["update_context"] = {self.one_of(NAMES): self.one_of(("x", "{{v1}}", "{{nobody}}"))}

    def call(self, step: dict[str, Any]) -> None:
        step["recipe"] = "gone" if self.often(4) else self.one_of(self.callable)
        if self.often(40):
            step["context"] = {self.one_of(NAMES): self.one_of(("x", "", "{{v1}}", "a {{v0}}"))}
        if self.often(50):
            step["context_mode"] = self.one_of(("inherit", "isolated"))
        if self.often(15):
            step["recursion"] = self.limits()


def random_world(seed: int) -> World:
    """Return a main recipe and up to three others; a recipe calls those after it, and now and then itself."""
    random = Random(seed)
    names = ("main", *SUB_RECIPES[: random.randint(0, len(SUB_RECIPES))])
    recipes = {}
    for number, name in enumerate(names):
        back = names[: number + 1] if random.randrange(20) == 0 else ()
        recipe = _Author(random, name, (*names[number + 1 :], *back)).recipe()
        recipes[name] = yaml.dump(recipe, Dumper=yaml.CSafeDumper, sort_keys=False)
    tags = frozenset({random.choice(("slow", "fast"))})
    chosen = random.choice(("none", "none", "include", "exclude"))
    return World(
        recipes,
        tags if chosen == "include" else frozenset(),
        tags if chosen == "exclude" else frozenset(),
    )
