"""Run the static check on recipe files of this disk."""

from __future__ import annotations

import os
from pathlib import Path

from amplihack.app.workspace import Opened, Validation, Workspace, open_file
from amplihack.errors import AmplihackError, NotFound, Problem
from amplihack.recipes.check import Unresolved, check_recipe
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Recipe, SubRecipe, every_step
from amplihack.records import Record
from amplihack.system.files import read_bytes
from amplihack.system.recipe_files import recipe_files
from amplihack.system.recipe_library import BundleNotResolved


class Checked(Record):
    """The findings of one recipe; if there is no such recipe, the reason."""

    findings: tuple[Problem, ...] = ()
    not_found: tuple[Problem, ...] = ()


def check(workspace: Workspace, validation: Validation, *, everything: bool = False) -> Checked:
    """Return all findings of one recipe. For a file that is no recipe, return its errors."""
    if validation.exit_code == NotFound.exit_code:
        return Checked(not_found=validation.problems)
    if validation.opened is None:
        return Checked(validation.problems)
    return Checked((*validation.problems, *check_opened(workspace, validation.opened, everything=everything)))


def check_opened(workspace: Workspace, opened: Opened, *, everything: bool = False) -> tuple[Problem, ...]:
    return check_recipe(opened.located, DiskWorld(workspace), everything=everything)


class DiskWorld(Record):
    """The recipes and agents around a file, for the static check."""

    workspace: Workspace

    def sub_recipe(self, reference: str, caller: str | None) -> Located | Unresolved:
        library = self.workspace.library
        try:
            path = library.sub_recipe(reference, Path(caller) if caller else None)
            return open_file(library, path).located
        except BundleNotResolved:
            return Unresolved("unknowable")
        except NotFound as error:
            return Unresolved("missing", tuple(line.strip(" -") for line in error.what.splitlines()[1:]))
        except AmplihackError:
            return Unresolved("unknowable")  # it is there but broken: checking that file says how

    def callers(self, path: str) -> tuple[Located, ...]:
        """Return the recipes in the same directory that call this one."""
        own = Path(path)
        return tuple(
            caller
            for sibling in _readable(own.parent)
            if sibling != own and (caller := self._caller(sibling, own))
        )

    def _caller(self, sibling: Path, own: Path) -> Located | None:
        try:
            if os.fsencode(own.stem) not in read_bytes(sibling):
                return None  # most files need no parsing
            located = open_file(self.workspace.library, sibling).located
        except AmplihackError:
            return None  # a broken neighbour calls nobody; checking that file says how it is broken
        return located if _calls(located.recipe, own.stem) else None

    def agents(self) -> frozenset[str]:
        return frozenset(self.workspace.agents.known())


def _readable(directory: Path) -> tuple[Path, ...]:
    try:
        return recipe_files(directory)
    except AmplihackError:
        return ()  # a file can be readable in a directory that cannot be listed


def _calls(recipe: Recipe, stem: str) -> bool:
    steps = every_step(recipe.steps)
    references = (step.action.recipe.text for step in steps if isinstance(step.action, SubRecipe))
    return any(Path(reference).stem == stem for reference in references)
