"""Say which recipe was probably meant by a path or a name that leads to none."""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path

from amplihack.documents.suggest import alike, closest
from amplihack.errors import AmplihackError, NotFound
from amplihack.recipes.naming import unsafe_name
from amplihack.system.recipe_files import by_stem, recipe_files
from amplihack.system.recipe_library import Library
from amplihack.system.recipe_listing import list_library
from amplihack.system.search_dirs import is_directory


def file_not_found(library: Library, reference: str, path: Path) -> NotFound:
    """Return the error for a path that leads nowhere."""
    return NotFound(f"Recipe file not found: {reference}", fix=_other_file(library, reference, path))


def _other_file(library: Library, reference: str, path: Path) -> str:
    """Return the file that was probably meant by a path that leads nowhere, or the part that is missing."""
    if reference.startswith(("https://", "http://")):
        return f"recipes are not fetched: `curl -fsS {shlex.quote(reference)} | amplihack recipe run -`"
    if reference.startswith("file://"):
        return f"write the path alone: {reference.removeprefix('file://')}"
    if not is_directory(path.parent):
        return f"check the path: there is no directory {path.parent}"
    with suppress(AmplihackError):  # a directory that cannot be read has no suggestions
        files = {file.stem: file for file in recipe_files(path.parent)}
        if meant := closest(path.stem, files):
            return f"did you mean '{library.shown(files[meant])}'?"
        if path.stem and not unsafe_name(path.stem) and (found := library.find(path.stem)):
            return f"the name alone, {path.stem}, finds {library.shown(found)}"
    return f"check the path: there is no {path.name} in {path.parent}"


def name_not_found(library: Library, reference: str) -> NotFound:
    """Return the error with the name that was probably meant, or else with the places that were searched."""
    known = [info.name for info in list_library(library).recipes]
    if meant := closest(reference, known):
        return NotFound(f"Recipe '{reference}' not found.", fix=f"did you mean '{meant}'?")
    places = [f"  - {library.shown(place)}{_state(place, reference)}" for place in library.searched]
    what = f"Recipe '{reference}' not found. Searched the following directories (in order):"
    fix = "`amplihack recipe list` shows what there is; -R adds a directory"
    names = " or ".join(map(repr, alike(reference, known)))
    return NotFound("\n".join([what, *places]), fix=f"did you mean {names}? {fix}" if names else fix)


def _state(directory: Path, name: str) -> str:
    """Return why a directory gave no recipe, where that is not plain."""
    if not is_directory(directory):
        return " (does not exist)"
    other = by_stem(directory, name)
    return f" ({other.name} is no recipe: it has no `steps:`)" if other else ""
