"""Find the recipes on this machine: one search order for running, listing, sub-recipes and parents."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from amplihack.documents import Mapping as MappingNode
from amplihack.documents import Scalar
from amplihack.documents.suggest import closest
from amplihack.errors import NotFound
from amplihack.recipes.naming import (
    ByName,
    ByPath,
    InBundle,
    InvalidReference,
    recipe_reference,
    unsafe_name,
)
from amplihack.records import Record, field
from amplihack.system.files import read_bytes, real, short_hash
from amplihack.system.home import Home
from amplihack.system.recipe_files import (
    by_field,
    by_stem,
    files_like_recipes,
    looks_like_recipe,
    recipe_files,
    require_inside,
)
from amplihack.system.search_dirs import (
    anchored_dirs,
    distinct,
    environment_dirs,
    is_directory,
    near_dirs,
    project_of,
    standard_dirs,
)

if TYPE_CHECKING:
    from amplihack.recipes.decode import Decoded
    from amplihack.recipes.extends import Located
    from amplihack.recipes.model import Text


class BundleNotResolved(NotFound):
    """Raised for a reference into a bundle that is not here, or has no such file."""


class ReadRecipe(Record):
    """A recipe file that was read: its bytes, its decoded recipe, and the version it states."""

    decoded: Decoded
    data: bytes = field(repr=False)
    version: str

    @property
    def sha256(self) -> str:
        return short_hash(self.data)


class Library(Record):
    """Finds and loads recipes. `first` comes before the directories around a run, `rest` after them.

    `near` are the working directory and those above it. They hold all kinds of files, so that only what looks
    like a recipe counts there.
    """

    home: Home
    working_dir: Path
    first: tuple[Path, ...] = ()
    rest: tuple[Path, ...] = ()
    named: tuple[Path, ...] = ()  # by the environment
    near: tuple[Path, ...] = ()
    gone: Mapping[Path, bytes] = field(
        default_factory=dict, repr=False
    )  # files that a run has read, as they were
    _known: dict[Path, tuple[tuple[int, int, int], ReadRecipe]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @classmethod
    def from_environment(
        cls,
        environment: Mapping[str, str],
        home: Home,
        *,
        recipe_dirs: Iterable[str | Path] = (),
        working_dir: Path | None = None,
    ) -> Library:
        """Build a command's library.

        Its `-R` directories come first, then the environment's, then those here and above, then the standard
        ones.
        """
        run_dir = home.cwd / working_dir if working_dir else home.cwd
        return cls(
            home,
            run_dir,
            tuple(home.path(directory) for directory in recipe_dirs),
            rest=standard_dirs(home, run_dir),
            named=environment_dirs(environment, home.cwd),
            near=near_dirs(run_dir),
        )

    @property
    def directories(self) -> tuple[Path, ...]:
        """Return the directories that are there for recipes, in the order of the search."""
        return distinct((*self.first, *self.named, *self.rest))

    @property
    def searched(self) -> tuple[Path, ...]:
        """Return all directories of `find` and the list, in order: also those here and above."""
        return distinct((*self.first, *self.named, *self.near, *self.rest))

    def files(self, directory: Path) -> tuple[Path, ...]:
        """Return the recipe files of a search directory. Raises InputError."""
        if directory in self.directories:
            return recipe_files(directory)
        return files_like_recipes(directory)

    def find(self, name: str) -> Path | None:
        """Return the file that `name` means, by stem, then by `name` field; the first directory wins.

        Raises InvalidReference for an unsafe name, Refused for a link that leaves its directory.
        """
        if reason := unsafe_name(name):
            raise InvalidReference(f"{name!r} is not the name of a recipe: {reason}", fix="give a plain name")
        for_recipes = self.directories
        for directory in self.searched:
            find = self._in if directory in for_recipes else self._near
            if hit := find(directory, name):
                return real(require_inside(hit, (directory,)))
        return None

    def load(self, path: Path) -> Decoded:
        """Load a recipe file; it is read again only when it has changed. Raises AmplihackError."""
        return self.read(path).decoded

    def read(self, path: Path) -> ReadRecipe:
        """Do as `load` does, with the hash of the file and the version that it states."""
        from amplihack.recipes.decode import decode, read_recipe  # deferred: commands for bundles read none

        stamp = _stamp(path)
        if stamp is None and path in self.gone:
            stamp = _GONE
        known = self._known.get(path)
        if stamp and known and known[0] == stamp:
            return known[1]
        data = self.gone[path] if stamp == _GONE else read_bytes(path)
        document = read_recipe(data, self.shown(path))
        root = document.root
        version = root.entries.get("version") if isinstance(root, MappingNode) else None
        stated = version.text if isinstance(version, Scalar) and not version.absent else ""
        found = ReadRecipe(decode(document), data, stated)
        if stamp:
            self._known[path] = (stamp, found)
        return found

    def shown(self, path: Path) -> str:
        """Return the path for messages: relative if it is below the current directory."""
        return str(path.relative_to(self.home.cwd) if path.is_relative_to(self.home.cwd) else path)

    def sub_recipe(self, reference: str, caller: Path | None = None, top: Path | None = None) -> Path:
        """Return the file that a recipe step means, called from `caller` in a run of `top`.

        Raises NotFound with the directories searched, BundleNotResolved for a bundle not here and Refused for
        a file outside the project, the run directory and the search directories.
        """
        caller = self.home.cwd / caller if caller else None
        around = anchored_dirs(self.working_dir, caller, top)
        directories = distinct((*self.first, *around, *self.named, *self.rest))
        try:
            wanted = recipe_reference(reference)
        except InvalidReference as error:
            raise _not_found(reference, directories, f"{error.what}: {error.fix}") from error
        if self.gone and (hit := self._gone(wanted, caller, directories)):
            return hit  # another file of that name would not fit what the run has done
        match wanted:
            case InBundle():
                hit = self._in_bundle(wanted, directories)
            case ByName(name):
                hit = self._by_name(name, directories)
            case ByPath():
                hit = self._by_path(wanted, caller, directories)
        if hit is None:
            raise _not_found(reference, directories, _did_you_mean(reference, directories))
        return real(hit)

    def parent(self, wanted: Text, child: str | None) -> Located | None:
        """Return the recipe that a file extends, found like a sub-recipe of that file. Raises RecipeError."""
        from amplihack.recipes.extends import Located  # deferred: as above

        caller = Path(child) if child is not None else None
        try:
            path = self.sub_recipe(wanted.text, caller)
        except BundleNotResolved:
            raise
        except NotFound:
            return None
        return Located(self.load(path).required(), str(path))

    def _in(self, directory: Path, name: str) -> Path | None:
        return by_stem(directory, name) or by_field(recipe_files(directory), name, self.load)

    def _near(self, directory: Path, name: str) -> Path | None:
        """Look among files of all kinds, in a directory that may not be readable."""
        hit = by_stem(directory, name)
        if hit is not None and looks_like_recipe(hit):
            return hit
        return by_field(files_like_recipes(directory), name, self.load)

    def _by_name(self, name: str, directories: tuple[Path, ...]) -> Path | None:
        hits = (self._in(directory, name) for directory in directories)
        hit = next((hit for hit in hits if hit), None)
        return require_inside(hit, directories) if hit else None

    def _in_bundle(self, wanted: InBundle, directories: tuple[Path, ...]) -> Path | None:
        from amplihack.system.recipe_bundles import in_bundle  # deferred: few recipes name bundles

        if hit := in_bundle(wanted, directories):
            return hit
        raise BundleNotResolved(
            f"Sub-recipe '@{wanted.bundle}:{wanted.path}' not found: no directory of recipes here lies in a "
            f"bundle '{wanted.bundle}' with that file",
            fix=f"get the bundle and add a directory of it, as in `-R <{wanted.bundle}>/recipes`",
        )

    def _by_path(self, wanted: ByPath, caller: Path | None, directories: tuple[Path, ...]) -> Path | None:
        allowed = (*((project_of(caller),) if caller else ()), self.working_dir, *directories)
        for path in self._places(wanted, caller, directories):
            if os.path.lexists(path) and not is_directory(path):
                return require_inside(path, allowed)
        return None

    def _places(self, wanted: ByPath, caller: Path | None, directories: tuple[Path, ...]) -> Iterator[Path]:
        """Yield every place that a path may mean, the nearest first."""
        near = (caller.parent, self.working_dir) if caller else (self.working_dir,)
        for base in (*near, *directories) if wanted.searchable else near:
            yield from (base / candidate for candidate in wanted.candidates)

    def _gone(
        self, wanted: ByName | ByPath | InBundle, caller: Path | None, directories: tuple[Path, ...]
    ) -> Path | None:
        """Return the file that a reference meant when the run read it, if that is gone."""
        match wanted:
            case ByName(name):
                places = (path for path in self.gone if path.stem == name and path.parent in directories)
            case ByPath():
                places = (real(place) for place in self._places(wanted, caller, directories))
            case InBundle():
                return None
        return next((place for place in places if place in self.gone), None)


_GONE = (0, 0, 0)  # in place of the stamp of a file


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None  # reading the file explains what is wrong with it
    return status.st_mtime_ns, status.st_size, status.st_ino


def _not_found(reference: str, directories: tuple[Path, ...], fix: str) -> NotFound:
    lines = [
        f"  - {directory}" if is_directory(directory) else f"  - {directory} (does not exist)"
        for directory in directories
    ]
    what = f"Sub-recipe '{reference}' not found. Searched the following directories (in order):"
    return NotFound("\n".join([what, *lines]), fix=fix)


def _did_you_mean(reference: str, directories: tuple[Path, ...]) -> str:
    stems = {path.stem for directory in directories for path in recipe_files(directory)}
    near = closest(reference, stems)
    return f'did you mean "{near}"?' if near else "check the name, or add its directory with -R"
