"""What a run reads on the way: sub-recipes and agents' files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from amplihack.app.workspace import Workspace, open_file
from amplihack.errors import Problem, RecipeError
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Recipe
from amplihack.recipes.ports import Persona
from amplihack.system.agent_files import AgentFiles


@dataclass(frozen=True, slots=True)
class Book:
    """Finds sub-recipes; tells of each before it runs, and of the warnings about its file once.

    Under `strict` those warnings are errors.
    """

    workspace: Workspace
    on_recipe: Callable[[Recipe], None] = lambda _recipe: None
    on_warning: Callable[[Problem], None] = lambda _problem: None
    strict: bool = False
    told: set[Path] = field(default_factory=set)

    def sub_recipe(self, reference: str, caller: str | None) -> Located:
        path = self.workspace.library.sub_recipe(reference, Path(caller) if caller else None)
        opened = open_file(self.workspace, path)
        found = opened.decoded.warnings
        if self.strict and found:
            raise RecipeError(found[0].what, where=found[0].where, fix=found[0].fix, found=found)
        self.on_recipe(opened.located.recipe)
        if path not in self.told:
            self.told.add(path)
            for problem in found:
                self.on_warning(problem)
        return opened.located


@dataclass(frozen=True, slots=True)
class Personas:
    """Agents by their files."""

    files: AgentFiles

    def persona(self, reference: str) -> Persona:
        found = self.files.resolve(reference)
        return Persona(found.text, found.model)


def in_words(problem: Problem) -> str:
    where = f"{problem.where}: " if problem.where else ""
    return f"{where}{problem.what}" + (f" ({problem.fix})" if problem.fix else "")
