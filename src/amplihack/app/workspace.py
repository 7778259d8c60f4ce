"""Open a command's workspace, and the recipe files in it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from amplihack.documents.suggest import closest
from amplihack.errors import AmplihackError, NotFound, Problem, UsageError
from amplihack.records import Record
from amplihack.system.home import Home, this_process
from amplihack.system.recipe_files import recipe_files
from amplihack.system.recipe_library import Library

if TYPE_CHECKING:
    from amplihack.recipes.decode import Decoded
    from amplihack.recipes.extends import Located
    from amplihack.system.agent_files import AgentFiles


class Workspace(Record):
    """The environment, directories and recipes that a command works with."""

    environment: Mapping[str, str]
    home: Home
    library: Library

    @property
    def directory(self) -> Path:
        return self.library.working_dir

    @property
    def agents(self) -> AgentFiles:
        from amplihack.system.agent_files import AgentFiles  # deferred: reading a recipe needs no agents

        return AgentFiles.of(self.home, self.directory)


class Opened(Record):
    """A recipe file: its decoded text, and the recipe with its `extends` merged in."""

    decoded: Decoded
    located: Located


class Validation(Record):
    """Everything that is wrong with a file. `opened` is None if it is no recipe."""

    file: str
    opened: Opened | None
    problems: tuple[Problem, ...]
    exit_code: int

    @property
    def valid(self) -> bool:
        return self.opened is not None


def open_workspace(recipe_dirs: Iterable[str] = (), directory: str | None = None) -> Workspace:
    """Return the workspace of this process. Raises UsageError if its directory does not exist."""
    environment, cwd = this_process()
    home = Home.from_environment(environment, cwd)
    working_dir = home.path(directory or ".")
    if not working_dir.is_dir():
        raise UsageError(f"the working directory does not exist: {working_dir}", fix="check -C")
    library = Library.from_environment(environment, home, recipe_dirs=recipe_dirs, working_dir=working_dir)
    return Workspace(environment, home, library)


def recipe_references(workspace: Workspace, given: Iterable[str]) -> list[str]:
    """Return the given references, with directories replaced by their files. Raises NotFound."""
    found: list[str] = []
    for reference in given:
        path = workspace.home.path(reference)
        found += _files_of(path) if path.is_dir() else [reference]
    return found


def _files_of(directory: Path) -> list[str]:
    files = recipe_files(directory)
    if not files:
        raise NotFound(f"there are no recipes in {directory}", fix="name a directory with .yaml files")
    return [str(file) for file in files]


def find_recipe_file(workspace: Workspace, reference: str) -> Path:
    """Return the file that a path or a name means. Raises NotFound."""
    path = workspace.home.path(reference)
    if os.path.lexists(path):
        return path
    if "/" in reference or reference.endswith((".yaml", ".yml")):
        raise NotFound(f"Recipe file not found: {reference}", fix="check the path")
    found = workspace.library.find(reference)
    if found is None:
        raise NotFound(f"Recipe '{reference}' not found.", fix=_not_found_fix(workspace, reference))
    return found


def _not_found_fix(workspace: Workspace, reference: str) -> str:
    from amplihack.system.recipe_listing import (
        list_library,  # deferred: only a name that is not found needs it
    )

    meant = closest(reference, [info.name for info in list_library(workspace.library).recipes])
    if meant:
        return f"did you mean '{meant}'?"
    return "`amplihack recipe list` shows what there is; -R adds a directory"


def open_recipe(workspace: Workspace, reference: str) -> Opened:
    """Load a recipe by path or name and merge its `extends`.

    Raises NotFound, DocumentError, or RecipeError with every error of the file.
    """
    return open_file(workspace.library, find_recipe_file(workspace, reference))


def open_file(library: Library, path: Path) -> Opened:
    """Load a recipe file and merge its `extends`. Raises like `open_recipe`."""
    return open_decoded(library, library.load(path), path)


def open_decoded(library: Library, decoded: Decoded, path: Path | None) -> Opened:
    """Merge what a recipe extends; `path` is None for one that was read from a text."""
    # Deferred: commands for bundles have a workspace as well, and open no recipe.
    from amplihack.recipes.extends import Located, resolve_extends

    place = str(path) if path else None
    merged = resolve_extends(Located(decoded.required(), place), library.parent)
    return Opened(decoded, Located(merged, place))


def validate(workspace: Workspace, reference: str) -> Validation:
    """Validate one recipe. Errors are part of the answer, so that many recipes can be validated."""
    try:
        path = find_recipe_file(workspace, reference)
        opened = open_file(workspace.library, path)
    except AmplihackError as error:
        return Validation(reference, None, _all_problems(workspace, reference, error), error.exit_code)
    problems = tuple(each for each in opened.decoded.problems if each.severity != "note")
    return Validation(workspace.library.shown(path), opened, problems, 0)


def _all_problems(workspace: Workspace, reference: str, error: AmplihackError) -> tuple[Problem, ...]:
    """Return the errors, and the warnings of the same file."""
    try:
        warnings = workspace.library.load(find_recipe_file(workspace, reference)).warnings
    except AmplihackError:
        warnings = ()  # the file cannot be found or read at all, which the error says
    problems = {(each.where, each.what): each for each in (*error.problems, *warnings)}
    return tuple(sorted(problems.values(), key=_place))


def _place(problem: Problem) -> tuple[int, int]:
    return (problem.where.line, problem.where.column) if problem.where else (0, 0)
