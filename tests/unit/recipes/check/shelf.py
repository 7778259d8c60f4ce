"""A world made of texts: recipes by file name, and the agents that are installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from amplihack.errors import AmplihackError, Problem
from amplihack.recipes.check import Unresolved, check_recipe
from amplihack.recipes.decode import decode_text
from amplihack.recipes.extends import Located
from amplihack.recipes.model import SubRecipe, every_step
from amplihack.system.bash_syntax import syntax_faults


@dataclass
class Shelf:
    """Finds `name` and `name.yaml`; whatever starts with @ is out of its reach."""

    files: Mapping[str, str] = field(default_factory=dict)
    known_agents: frozenset[str] = frozenset()
    read: dict[str, Located] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)

    def located(self, name: str) -> Located:
        if name not in self.read:
            self.read[name] = Located(decode_text(self.files[name], name).required(), name)
        return self.read[name]

    def sub_recipe(self, reference: str, caller: str | None) -> Located | Unresolved:
        self.asked.append((reference, caller))
        if reference.startswith("@"):
            return Unresolved("unknowable")
        for name in (reference, f"{reference}.yaml"):
            if name in self.files:
                try:
                    return self.located(name)
                except AmplihackError as error:
                    return Unresolved("unreadable", problem=error.problems[0])
        return Unresolved("missing", ("recipes",))

    def callers(self, path: str) -> tuple[Located, ...]:
        readable = [self.located(name) for name, text in self.files.items() if "steps" in text]
        return tuple(other for other in readable if _calls(other, path))

    def agents(self) -> frozenset[str]:
        return self.known_agents


def _calls(located: Located, path: str) -> bool:
    calls = (step.action for step in every_step(located.recipe.steps) if isinstance(step.action, SubRecipe))
    return any(f"{call.recipe.text.removesuffix('.yaml')}.yaml" == path for call in calls)


def check(
    text: str,
    *,
    others: Mapping[str, str] | None = None,
    agents: frozenset[str] = frozenset(),
    all_: bool = False,
) -> tuple[Problem, ...]:
    """The findings of a recipe that lies as main.yaml among others."""
    shelf = Shelf({"main.yaml": text, **(others or {})}, agents)
    return check_recipe(shelf.located("main.yaml"), shelf, everything=all_, bash=syntax_faults)


def codes(text: str, *, others: Mapping[str, str] | None = None, all_: bool = False) -> list[str]:
    return [problem.code for problem in check(text, others=others, all_=all_)]
