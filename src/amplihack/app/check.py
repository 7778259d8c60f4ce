"""The static check of recipes on this disk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from amplihack.app.language import validate
from amplihack.app.workspace import Opened, Workspace, open_file
from amplihack.errors import AmplihackError, NotFound, Problem
from amplihack.recipes.check import Unresolved, check_recipe
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Recipe, SubRecipe, every_step
from amplihack.system.files import read_bytes
from amplihack.system.library import BundleNotResolved
from amplihack.system.shelves import recipe_files


def check(workspace: Workspace, reference: str, *, everything: bool = False) -> tuple[Problem, ...]:
    """All findings of one recipe; a file that is no recipe gives its errors."""
    validation = validate(workspace, reference)
    if validation.opened is None:
        if validation.exit_code == NotFound.exit_code:
            raise NotFound(validation.problems[0].what, fix=validation.problems[0].fix)
        return validation.problems
    return (*validation.problems, *check_opened(workspace, validation.opened, everything=everything))


def check_opened(workspace: Workspace, opened: Opened, *, everything: bool = False) -> tuple[Problem, ...]:
    return check_recipe(opened.located, DiskWorld(workspace), everything=everything)


def recipe_references(workspace: Workspace, given: Iterable[str]) -> list[str]:
    """What was given, with directories replaced by the recipe files in them."""
    found: list[str] = []
    for reference in given:
        path = workspace.home.path(reference)
        found += [str(file) for file in recipe_files(path)] if path.is_dir() else [reference]
    return found


@dataclass(frozen=True, slots=True)
class DiskWorld:
    """The recipes and agents around a file, for the static check."""

    workspace: Workspace

    def sub_recipe(self, reference: str, caller: str | None) -> Located | Unresolved:
        library = self.workspace.library
        try:
            path = library.sub_recipe(reference, Path(caller) if caller else None)
            return open_file(self.workspace, path).located
        except BundleNotResolved:
            return Unresolved("unknowable")
        except NotFound as error:
            return Unresolved("missing", tuple(line.strip(" -") for line in error.what.splitlines()[1:]))
        except AmplihackError:
            return Unresolved("unknowable")  # it is there but broken: checking that file says how

    def callers(self, path: str) -> tuple[Located, ...]:
        """Recipes in the same directory that have a step for this one."""
        own = Path(path)
        found: list[Located] = []
        for sibling in recipe_files(own.parent):
            if sibling != own and own.stem.encode() in read_bytes(sibling, limit=10_000_000):
                try:
                    located = open_file(self.workspace, sibling).located
                except AmplihackError:
                    continue  # a broken neighbour calls nobody; checking that file says how it is broken
                if _calls(located.recipe, own.stem):
                    found.append(located)
        return tuple(found)

    def agents(self) -> frozenset[str]:
        return frozenset(self.workspace.agents.known())


def _calls(recipe: Recipe, stem: str) -> bool:
    steps = every_step(recipe.steps)
    references = (step.action.recipe.text for step in steps if isinstance(step.action, SubRecipe))
    return any(Path(reference).stem == stem for reference in references)
