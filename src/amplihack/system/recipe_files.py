"""Find recipe files in one directory."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from amplihack.errors import AmplihackError, InputError
from amplihack.patterns import pattern
from amplihack.system.files import inside, leads_to_directory, read_bytes, real

if TYPE_CHECKING:
    from amplihack.recipes.decode import Decoded

# A name in quotes or in a block may be spelled otherwise in the file than it reads.
_SPELLED_OTHERWISE = pattern(rb"""name["']?\s*:\s*[^\w\s]""")
# Keys of the document itself, which stand at the beginning of a line; in JSON they stand anywhere.
_WORK = pattern(rb"""^["']?(?:steps|stages|extends)["']?[ \t]*:""", re.MULTILINE)
_NAMED = pattern(rb"""^["']?name["']?[ \t]*:""", re.MULTILINE)
_IN_JSON = pattern(rb"""["']?\b(?:steps|stages|extends)["']?[ \t]*:""")


class Refused(InputError):
    """Raised for a file that exists outside the directories that may be read."""


def recipe_files(directory: Path) -> tuple[Path, ...]:
    """Return the recipe files of a directory, sorted by stem, `.yaml` before `.yml`. Raises InputError."""
    try:
        with os.scandir(directory) as entries:
            names = [entry.name for entry in entries if not leads_to_directory(entry)]
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise InputError(
            f"IO error: cannot read the directory {directory}: {error.strerror}",
            fix="make it readable for you, or take it out of the search",
        ) from error
    chosen = [name for name in names if name.endswith((".yaml", ".yml")) and not name.startswith(".")]
    return tuple(directory / name for name in sorted(chosen, key=_by_stem))


def may_be_recipe(path: Path) -> bool:
    """Tell whether a YAML file may be meant as a recipe: it has one of a recipe's fields, or cannot be read.

    Lists and maps without them are something else, such as the answers of a scripted agent.
    """
    try:
        data = read_bytes(path)
    except AmplihackError:
        return True  # opening it says why
    return data.lstrip().startswith(b"{") or any(each.search(data) for each in (_NAMED, _WORK))


def by_stem(directory: Path, name: str) -> Path | None:
    """Return the file of that name in the directory. A broken link counts, a directory does not."""
    for suffix in (".yaml", ".yml"):
        path = directory / f"{name}{suffix}"
        if os.path.lexists(path) and not path.is_dir():
            return path
    return None


def by_field(files: Iterable[Path], name: str, load: Callable[[Path], Decoded]) -> Path | None:
    """Return the first of the files whose recipe has that `name`."""
    return next((path for path in files if _calls_itself(path, name, load)), None)


def files_like_recipes(directory: Path) -> tuple[Path, ...]:
    """Return the recipes of a directory that holds all kinds of files; none if it cannot be read."""
    try:
        return tuple(path for path in recipe_files(directory) if looks_like_recipe(path, named=True))
    except InputError:
        return ()


def looks_like_recipe(path: Path, *, named: bool = False) -> bool:
    """Tell whether a file has steps or stages or extends something, however broken it may be.

    With `named`, it must have a name as well: pipelines of other tools have steps, too.
    """
    try:
        data = read_bytes(path)
    except AmplihackError:
        return False
    if data.lstrip().startswith(b"{"):
        return _IN_JSON.search(data) is not None
    return _WORK.search(data) is not None and (not named or _NAMED.search(data) is not None)


def require_inside(path: Path, allowed: tuple[Path, ...]) -> Path:
    """Return the path if it is in an allowed directory with all links followed. Raises Refused."""
    if any(inside(path, directory) for directory in allowed):
        return path
    raise Refused(
        f"{path} is refused: it leads out of the directories that recipes may come from",
        fix="copy the file there, or add its own directory with -R",
    )


def _calls_itself(path: Path, name: str, load: Callable[[Path], Decoded]) -> bool:
    if not inside(path, path.parent):
        return False
    try:
        if not _may_hold(read_bytes(path), name):
            return False
        recipe = load(real(path)).recipe
    except AmplihackError:
        return False  # without a name that can be read; listing the recipes reports the file
    return recipe is not None and recipe.name == name


def _may_hold(data: bytes, name: str) -> bool:
    """Return False only if the file cannot have that name, so that most files need no parsing."""
    words = (word.encode("utf-8", "surrogatepass") for word in name.split())
    return all(word in data for word in words) or _SPELLED_OTHERWISE.search(data) is not None


def _by_stem(name: str) -> tuple[str, bool]:
    stem, _, suffix = name.rpartition(".")
    return stem, suffix == "yml"
