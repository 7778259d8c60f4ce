"""Find recipes from Python. Each call asks a `Library` and adds nothing of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from threading import Lock

from amplihack.documents.durations import seconds_in
from amplihack.errors import UsageError
from amplihack.recipes.naming import unsafe_name
from amplihack.records import Record
from amplihack.system.home import Home, this_process
from amplihack.system.recipe_files import recipe_files
from amplihack.system.recipe_library import Library
from amplihack.system.recipe_listing import RecipeInfo, list_library

DEFAULT_TTL = 30.0


class DirectoryState(Record):
    path: Path
    exists: bool
    recipe_files: int


def library_of_this_process(dirs: Sequence[str | Path] | None = None) -> Library:
    """Return the library that our environment describes, or one of the given directories only."""
    refuse_one("dirs", dirs)
    environment, cwd = this_process()
    home = Home.from_environment(environment, cwd)
    if dirs is None:
        return Library.from_environment(environment, home)
    return Library(home, cwd, tuple(cwd / directory for directory in dirs))


def refuse_one(name: str, dirs: object) -> None:
    """Raise UsageError for one directory in place of several: a text is a sequence, of its letters."""
    if isinstance(dirs, str | PathLike):
        raise UsageError(f"{name} is one directory, not a list", fix=f"write {name}=[{str(dirs)!r}]")


def find_recipe(name: str, dirs: Sequence[str | Path] | None = None) -> Path | None:
    """Return the file that the name leads to; None if there is none, or if the name is unsafe."""
    if unsafe_name(name):
        return None
    return library_of_this_process(dirs).find(name)


def list_recipes(dirs: Sequence[str | Path] | None = None) -> tuple[RecipeInfo, ...]:
    """Return the recipes that can be run by name, sorted by name."""
    found = list_library(library_of_this_process(dirs)).recipes
    return tuple(info for info in found if info.shadowed_by is None)


def discover_recipes(dirs: Sequence[str | Path] | None = None) -> dict[str, RecipeInfo]:
    """Return the same recipes as `list_recipes`, by name."""
    return {info.name: info for info in list_recipes(dirs)}


def verify_global_installation() -> tuple[DirectoryState, ...]:
    """Tell for each default directory whether it exists and how many recipe files it holds."""
    return tuple(
        DirectoryState(directory, directory.is_dir(), len(recipe_files(directory)))
        for directory in library_of_this_process().directories
    )


class DiscoveryCache:
    """Caches discovered recipes for `ttl` seconds; 0 looks every time. Safe to share between threads."""

    def __init__(self, ttl: float = DEFAULT_TTL, clock: Callable[[], float] = time.monotonic) -> None:
        self._ttl, self._clock, self._lock = ttl, clock, Lock()
        self._held: tuple[float, tuple[Path, ...] | None, dict[str, RecipeInfo]] | None = None

    def discover(self, dirs: Sequence[str | Path] | None = None) -> dict[str, RecipeInfo]:
        """Return the recipes of the directories. Changing the result does not change the cache."""
        wanted = None if dirs is None else tuple(Path(directory) for directory in dirs)
        with self._lock:
            if self._held is None or self._held[1] != wanted or self._clock() - self._held[0] >= self._ttl:
                self._held = (self._clock(), wanted, discover_recipes(wanted))
            return dict(self._held[2])

    def invalidate(self) -> None:
        with self._lock:
            self._held = None


_shared: list[DiscoveryCache] = []  # made at the first use, so that importing reads no environment


def cached_discover_recipes(dirs: Sequence[str | Path] | None = None) -> dict[str, RecipeInfo]:
    """Call `discover_recipes` through one cache for the process; RECIPE_RUNNER_CACHE_TTL sets its seconds."""
    if not _shared:
        _shared.append(DiscoveryCache(cache_ttl(this_process()[0].get("RECIPE_RUNNER_CACHE_TTL"))))
    return _shared[0].discover(dirs)


def cache_ttl(text: str | None) -> float:
    """Return the seconds that a setting asks for. Raises UsageError."""
    if not text:
        return DEFAULT_TTL
    seconds = seconds_in(text)
    if seconds is None:
        raise UsageError(
            "RECIPE_RUNNER_CACHE_TTL is not a number of seconds", fix="set it to 30 or 5m, say, or unset it"
        )
    return seconds
