"""Where a command works, and the recipes that it opens there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from amplihack.documents.suggest import closest
from amplihack.errors import NotFound, UsageError
from amplihack.recipes.decode import Decoded
from amplihack.recipes.extends import Located, resolve_extends
from amplihack.system.home import Home, this_process
from amplihack.system.library import Library

if TYPE_CHECKING:
    from amplihack.system.agent_files import AgentFiles


@dataclass(frozen=True, slots=True)
class Workspace:
    """Everything that a command finds around it."""

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


@dataclass(frozen=True, slots=True)
class Opened:
    """A recipe file: what it says, and the recipe with everything that it extends."""

    decoded: Decoded
    located: Located


def open_workspace(recipe_dirs: Iterable[str] = (), directory: str | None = None) -> Workspace:
    """Return the workspace of this process. Raises UsageError when its directory is not there."""
    environment, cwd = this_process()
    home = Home.from_environment(environment, cwd)
    working_dir = home.path(directory or ".")
    if not working_dir.is_dir():
        raise UsageError(f"the working directory does not exist: {working_dir}", fix="check -C")
    library = Library.from_environment(environment, home, recipe_dirs=recipe_dirs, working_dir=working_dir)
    return Workspace(environment, home, library)


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
    from amplihack.system.listing import list_library  # deferred: only a name that is not found needs it

    names = [info.name for info in list_library(workspace.library).recipes]
    meant = closest(reference, names)
    return (
        f"did you mean '{meant}'?"
        if meant
        else "`amplihack recipe list` shows what there is; -R adds a directory"
    )


def open_recipe(workspace: Workspace, reference: str) -> Opened:
    """Read a recipe by path or name and merge what it extends.

    Raises NotFound, DocumentError, or RecipeError with every error of the file.
    """
    return open_file(workspace.library, find_recipe_file(workspace, reference))


def open_file(library: Library, path: Path) -> Opened:
    """Read a recipe file and merge what it extends. Raises like `open_recipe`."""
    return open_decoded(library, library.load(path), path)


def open_decoded(library: Library, decoded: Decoded, path: Path | None) -> Opened:
    """Merge what a recipe extends; `path` is None for one that was read from a text."""
    place = str(path) if path else None
    merged = resolve_extends(Located(decoded.required(), place), library.parent)
    return Opened(decoded, Located(merged, place))
