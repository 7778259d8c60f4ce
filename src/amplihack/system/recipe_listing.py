"""List every recipe of a library with what shadows it, and every broken recipe file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from amplihack.errors import AmplihackError, Location, Problem
from amplihack.recipes.naming import unsafe_name
from amplihack.records import Record
from amplihack.system.files import real
from amplihack.system.recipe_files import require_inside
from amplihack.system.recipe_library import Library, ReadRecipe
from amplihack.system.search_dirs import is_directory


class RecipeInfo(Record):
    name: str  # what runs it: its own name, or the file's if its own cannot be looked up
    path: Path
    description: str
    version: str  # "" if the file does not state one
    step_count: int
    tags: tuple[str, ...]
    sha256: str  # the first 16 hex digits
    shadowed_by: Path | None = None  # what running this name runs instead


class RecipeListing(Record):
    """The recipes by name, reachable ones before shadowed ones, and the broken files."""

    recipes: tuple[RecipeInfo, ...]
    broken: tuple[Problem, ...]

    @property
    def replaced(self) -> tuple[RecipeInfo, ...]:
        """Return the shadowed recipes that say something else than what runs instead; a copy is no loss."""
        texts = {info.path: info.sha256 for info in self.recipes}
        return tuple(
            info for info in self.recipes if info.shadowed_by and texts.get(info.shadowed_by) != info.sha256
        )


class _Entry(Record):
    """A file of a directory: its content, or the reason why it cannot be read."""

    path: Path  # as found, links not followed
    target: Path  # what running it opens; the path itself for a link that is refused
    read: ReadRecipe | None
    problem: Problem | None

    @property
    def name(self) -> str | None:
        """Return the recipe's own name, if it can be run by that name."""
        recipe = self.read.decoded.recipe if self.read else None
        return recipe.name if recipe and not unsafe_name(recipe.name) else None


def list_library(library: Library) -> RecipeListing:
    """List what the library holds, in the search order of `Library.find`."""
    problems: list[Problem] = [_missing(path) for path in library.first if not is_directory(path)]
    shelves: list[list[_Entry]] = []
    for directory in library.searched:
        try:
            shelves.append([_entry(library, path) for path in library.files(directory)])
        except AmplihackError as error:
            problems.append(_problem(error, str(directory)))
    entries = [entry for shelf in shelves for entry in shelf]
    problems.extend(entry.problem for entry in entries if entry.problem)
    return RecipeListing(tuple(sorted(_infos(entries, _winners(shelves)), key=_order)), tuple(problems))


def _entry(library: Library, path: Path) -> _Entry:
    try:
        target = real(require_inside(path, (path.parent,)))
        read = library.read(target)
    except AmplihackError as error:
        return _Entry(path, path, None, _problem(error, library.shown(path)))
    errors = [problem for problem in read.decoded.problems if problem.severity == "error"]
    return _Entry(path, target, read, errors[0] if errors else None)


def _winners(shelves: list[list[_Entry]]) -> dict[str, Path]:
    """Return the file that each name leads to: by directory, and in each by stem before name."""
    winners: dict[str, Path] = {}
    for shelf in shelves:
        for entry in shelf:
            winners.setdefault(entry.path.stem, entry.target)
        for entry in shelf:
            if entry.name is not None:
                winners.setdefault(entry.name, entry.target)
    return winners


def _infos(entries: list[_Entry], winners: dict[str, Path]) -> Iterator[RecipeInfo]:
    seen: set[Path] = set()
    for entry in entries:
        if entry.problem or entry.read is None or entry.target in seen:
            continue
        seen.add(entry.target)
        recipe = entry.read.decoded.required()
        name = entry.name or entry.path.stem
        winner = winners[name]
        yield RecipeInfo(
            name=name,
            path=entry.target,
            description=recipe.description,
            version=entry.read.version,
            step_count=len(recipe.steps),
            tags=recipe.tags,
            sha256=entry.read.sha256,
            shadowed_by=None if winner == entry.target else winner,
        )


def _order(info: RecipeInfo) -> tuple[str, bool, str]:
    return info.name, info.shadowed_by is not None, str(info.path)


def _problem(error: AmplihackError, name: str) -> Problem:
    first = error.problems[0]
    return Problem(first.what, first.where or Location(name, 1, 1), first.fix, code="unreadable")


def _missing(directory: Path) -> Problem:
    return Problem(
        f"the recipe directory {directory} does not exist",
        fix="check -R",
        severity="warning",
        code="no-directory",
    )
