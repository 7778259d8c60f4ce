"""Run the static check on recipe files of this disk."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from amplihack.app.workspace import (
    STDIN_NAME,
    Opened,
    Validation,
    Workspace,
    find_recipe_file,
    open_file,
)
from amplihack.errors import AmplihackError, NotFound, Problem
from amplihack.recipes.check import certain
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Recipe, SubRecipe, every_step
from amplihack.records import Record, field
from amplihack.system.files import read_bytes
from amplihack.system.own_bundles import own_agents
from amplihack.system.recipe_files import recipe_files
from amplihack.system.recipe_library import BundleNotResolved

if TYPE_CHECKING:
    from amplihack.recipes.check.bash_port import SyntaxFault
    from amplihack.recipes.check.neighbours import Unresolved


class Checked(Record):
    """The findings of one recipe; if there is no such recipe, the reason."""

    findings: tuple[Problem, ...] = ()
    not_found: tuple[Problem, ...] = ()


def check(workspace: Workspace, validation: Validation, *, everything: bool = False) -> Checked:
    """Return all findings of one recipe. For a file that is no recipe, return its errors."""
    if validation.exit_code == NotFound.exit_code:
        return Checked(not_found=validation.problems)
    if validation.opened is None:
        return Checked(_all_problems(workspace, validation))
    return Checked((*validation.problems, *check_opened(workspace, validation.opened, everything=everything)))


def _all_problems(workspace: Workspace, validation: Validation) -> tuple[Problem, ...]:
    """Return the errors of a file that is no recipe, and what else the check finds in the rest of it."""
    # Deferred: most files can be read.
    from amplihack.recipes.check.readable_parts import findings_beside
    from amplihack.recipes.decode import read_recipe

    if validation.file == STDIN_NAME and not workspace.piped:
        return validation.problems
    try:
        if validation.file == STDIN_NAME:
            piped, path = workspace.piped[0], None
            decoded, data = piped.decoded, piped.data
        else:
            path = find_recipe_file(workspace, validation.file)
            read = workspace.library.read(path)
            decoded, data = read.decoded, read.data
        document = read_recipe(data, workspace.library.shown(path) if path else STDIN_NAME)
    except AmplihackError:
        return validation.problems  # it is no YAML, which these say
    place = str(path) if path else None
    found = findings_beside(decoded, document, place, DiskWorld(workspace), ask_bash)
    return tuple(sorted((*validation.problems, *found), key=certain.place))


def check_opened(workspace: Workspace, opened: Opened, *, everything: bool = False) -> tuple[Problem, ...]:
    from amplihack.recipes.check.recipe import check_recipe  # deferred: a run asks for less

    return check_recipe(opened.located, DiskWorld(workspace), everything=everything, bash=ask_bash)


def ask_bash(scripts: Sequence[str]) -> Mapping[int, SyntaxFault]:
    """Return what is wrong with scripts by bash's own grammar."""
    from amplihack.system.bash_syntax import syntax_faults  # deferred: plain commands need no bash

    return syntax_faults(scripts)


def failures(workspace: Workspace, located: Located, *, bash: bool) -> tuple[Problem, ...]:
    """Return what is certain to fail in a recipe that is about to be run with the values that it has."""
    return certain.certain_failures(located, DiskWorld(workspace), bash=ask_bash if bash else None)


def meaningless(workspace: Workspace, located: Located) -> tuple[Problem, ...]:
    """Return what a recipe that is about to be run says without any effect."""
    from amplihack.recipes.check import remarks  # deferred: `check` asks for more

    return remarks.meaningless(located, DiskWorld(workspace))


def unset_variables(workspace: Workspace, located: Located) -> tuple[Problem, ...]:
    """Return the variables of a recipe about to be run that nothing sets, as far as that is known before."""
    # Deferred: only strict runs pay for the whole check.
    from amplihack.recipes.check.recipe import findings
    from amplihack.recipes.check.subject import study

    inherited = frozenset(workspace.environment)
    found = findings(study(located, DiskWorld(workspace), final=True, inherited=inherited))
    return tuple(each for each in found if each.code == "undefined-variable")


class DiskWorld(Record):
    """The recipes and agents around a file, for the static check."""

    workspace: Workspace
    texts: dict[Path, bytes] = field(
        default_factory=dict, compare=False
    )  # one look at each file for one check

    def sub_recipe(self, reference: str, caller: str | None) -> Located | Unresolved:
        from amplihack.recipes.check.neighbours import Unresolved  # deferred: few recipes call others

        library = self.workspace.library
        try:
            path = library.sub_recipe(reference, Path(caller) if caller else None)
            return open_file(library, path).located
        except BundleNotResolved as error:
            return Unresolved("missing", problem=error.problems[0])
        except NotFound as error:
            return Unresolved("missing", tuple(line.strip(" -") for line in error.what.splitlines()[1:]))
        except AmplihackError as error:
            return Unresolved("unreadable", problem=error.problems[0])

    def callers(self, path: str) -> tuple[Located, ...]:
        """Return the recipes that call this one: in its directory, else in those searched by name."""
        own = Path(path)
        return self._callers_in(own, (own.parent,)) or self._callers_in(
            own, self.workspace.library.directories
        )

    def _callers_in(self, own: Path, directories: Iterable[Path]) -> tuple[Located, ...]:
        files = dict.fromkeys(file for directory in directories for file in _readable(directory))
        return tuple(caller for file in files if file != own and (caller := self._caller(file, own)))

    def _caller(self, sibling: Path, own: Path) -> Located | None:
        try:
            if sibling not in self.texts:
                self.texts[sibling] = read_bytes(sibling)
            if os.fsencode(own.stem) not in self.texts[sibling]:
                return None  # most files need no parsing
            located = open_file(self.workspace.library, sibling).located
        except AmplihackError:
            return None  # a broken neighbour calls nobody; checking that file says how it is broken
        return located if _calls(located.recipe, own.stem) else None

    def agents(self) -> frozenset[str]:
        return frozenset((*self.workspace.agents.known(), *own_agents()))


def _readable(directory: Path) -> tuple[Path, ...]:
    try:
        return recipe_files(directory)
    except AmplihackError:
        return ()  # a file can be readable in a directory that cannot be listed


def _calls(recipe: Recipe, stem: str) -> bool:
    steps = every_step(recipe.steps)
    references = (step.action.recipe.text for step in steps if isinstance(step.action, SubRecipe))
    return any(Path(reference).stem == stem for reference in references)
