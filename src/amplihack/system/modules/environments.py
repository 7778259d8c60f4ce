"""Keep environments for what modules depend on, none of which ever changes; ours is never touched.

`<cache>/environment/<python>/<name>/` is an environment, whole once it says what is in it. Whoever uses it
holds a shared lock on the directory, so that nobody removes it.
"""

from __future__ import annotations

import hashlib
import os
import site
import sys
import time
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from importlib import invalidate_caches
from pathlib import Path
from threading import Lock

from amplihack.records import Record
from amplihack.system.files import remove_tree
from amplihack.system.locks import HeldLock, LockError, locked_async, try_lock_directory
from amplihack.system.modules import entry_points
from amplihack.system.modules.environment_contents import (
    EnvironmentContents,
    Kind,
    installed_in,
    read_contents,
)
from amplihack.system.modules.errors import ModuleError
from amplihack.system.modules.requirements import installed_version
from amplihack.system.random_tokens import token

_LAYOUT = "2"  # an earlier one had a single environment that changed
_PATIENCE = 900.0  # seconds for another process that installs
_UNUSED = 30 * 24 * 3600.0  # seconds after which an environment that nobody used is removed
_entering = Lock()
_held: dict[Path, HeldLock] = {}  # what this process uses, until it ends


class ModuleEnvironment(Record):
    """One virtual environment."""

    directory: Path

    @property
    def python(self) -> Path:
        return self.directory / "bin" / "python"

    @property
    def site_packages(self) -> Path:
        there = sorted(self.directory.glob("lib/python3*/site-packages"))  # of whichever interpreter
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return there[0] if there else self.directory / "lib" / version / "site-packages"

    @property
    def contents(self) -> EnvironmentContents | None:
        return read_contents(self.directory, self.site_packages) if self.python.exists() else None

    def is_held(self) -> bool:
        """Take hold of it for as long as this process lives, and tell whether it is there and whole."""
        if self.directory in _held and _held[self.directory].is_current():
            return self.contents is not None
        try:
            lock = try_lock_directory(self.directory, shared=True)
        except LockError:  # a file system without locks: then nobody removes anything either
            return self.contents is not None
        except OSError:
            return False
        if lock is None or self.contents is None:
            return False
        _held[self.directory] = lock
        with suppress(OSError):  # a cache that cannot be written to is not cleaned up either
            os.utime(self.directory)
        return True

    def is_entered(self, *, own: Collection[str] = ()) -> bool:
        """Let this process import what is in it, and tell whether it does: not over other versions.

        Packages that are here already come first. `own` are projects that may be here in another version.
        """
        path = str(self.site_packages)
        with _entering:
            if path in sys.path:
                return True
            found = self.contents
            if found is None or not found.agrees(
                lambda name: None if name in own else installed_version(name)
            ):
                return False
            site.addsitedir(path)
            invalidate_caches()
            entry_points.forget()
            return True


class Environments(Record):
    """The environments of one interpreter."""

    root: Path

    @classmethod
    def here(cls, cache_dir: Path) -> Environments:
        """Return those of a cache for the interpreter that runs us."""
        words = f"{_LAYOUT} {sys.prefix} {sys.base_prefix} {sys.abiflags}"
        mark = hashlib.sha256(words.encode()).hexdigest()[:8]
        return cls(Path(cache_dir) / "environment" / f"{sys.implementation.cache_tag}-{mark}")

    @property
    def lock_file(self) -> Path:
        return self.root.with_suffix(".lock")

    def serving(self, wanted: Collection[str], constraints: str, kind: Kind) -> Iterator[ModuleEnvironment]:
        """Give whole environments with all that is wanted, those made for exactly that first."""
        found = [(each, contents) for each in self._all() if (contents := each.contents) is not None]
        exact = frozenset(wanted)
        for each, contents in sorted(found, key=lambda pair: (pair[1].wanted != exact, pair[0].directory)):
            same = contents.kind == kind and contents.constraints == constraints
            if same and contents.serves(wanted):
                yield each

    @asynccontextmanager
    async def held(self, variables: Mapping[str, str]) -> AsyncIterator[dict[str, str]]:
        """Be the only one who makes environments here, and give the variables for whoever fills them.

        Other processes wait. What a killed one left behind is ended and removed first.
        """
        from amplihack.system.limit_marks import Sign  # slow: most bundles install nothing
        from amplihack.system.process_marks import VARIABLE, with_mark
        from amplihack.system.process_tree import end_tree

        mark = f"install-{hashlib.sha256(str(self.root).encode()).hexdigest()[:16]}:"
        async with locked_async(self.lock_file, patience=_PATIENCE):
            if not await end_tree(Sign(mark), grace=0):  # whoever holds the lock starts them, and that is us
                what = f"an installer that was left running in {self.root} does not end"
                raise ModuleError(what, fix="end it by hand, then try again")
            yield {**variables, VARIABLE: with_mark(variables, mark)}

    def make(self) -> ModuleEnvironment:
        """Make an empty environment, which is not whole yet. Needs the lock. Raises ModuleError."""
        made = ModuleEnvironment(self.root / token(8))
        try:
            from venv import EnvBuilder  # slow, and most bundles install nothing

            self.root.mkdir(parents=True, exist_ok=True)
            EnvBuilder(symlinks=True).create(made.directory)
        except (OSError, ImportError) as error:
            self.discard(made)
            said = error.strerror if isinstance(error, OSError) else str(error)
            fix = f"check the space in {self.root}, and that this Python has its `venv` module"
            raise ModuleError(f"cannot make an environment for modules: {said}", fix=fix) from error
        return made

    def finish(
        self, made: ModuleEnvironment, wanted: Collection[str], constraints: str, kind: Kind
    ) -> ModuleEnvironment:
        """Say what an environment has become; from now on nobody changes it. Raises ModuleError.

        One that is just the same, and was there before, is used in its place.
        """
        try:
            contents = EnvironmentContents(
                kind=kind,
                wanted=frozenset(wanted),
                constraints=constraints,
                installed=installed_in(made.site_packages),
            )
            twin = next((each for each in self._all() if each.contents == contents and each.is_held()), None)
            if twin is not None:
                self.discard(made)
                return twin
            contents.write(made.directory)
        except OSError as error:
            self.discard(made)
            what = f"cannot finish an environment for modules: {error.strerror or error}"
            raise ModuleError(what, fix=f"check the space in {self.root}") from error
        return made

    def discard(self, made: ModuleEnvironment) -> None:
        """Remove an environment that is not whole. What cannot be removed now is removed the next time."""
        with suppress(OSError):
            remove_tree(made.directory)

    def clean(self, *, dry_run: bool = False) -> list[Path]:
        """Remove what nobody can use or has used for long. Needs the lock. Returns what was removed."""
        return [
            each.directory for each in self._all() if _is_spent(each) and _is_removed(each, dry_run=dry_run)
        ]

    def _all(self) -> list[ModuleEnvironment]:
        found = sorted(self.root.iterdir()) if self.root.is_dir() else []
        return [ModuleEnvironment(each) for each in found if each.is_dir()]


def entered() -> list[str]:
    """Return the directories of packages for modules that this process imports from."""
    ours = (str(ModuleEnvironment(each).site_packages) for each in list(_held))
    return [each for each in ours if each in sys.path]


def enter_again(site_packages: Iterable[str]) -> None:
    """Let this process import from environments that another one had entered, as far as they are here."""
    for each in site_packages:
        environment = ModuleEnvironment(Path(each).parents[2])
        if environment.is_held():
            environment.is_entered()


def version_outside(name: str) -> str | None:
    """Return the version of a package that this process has, but not from environments for modules."""
    from importlib import metadata  # slow as well

    ours = {str(ModuleEnvironment(each).site_packages) for each in list(_held)}
    outside = [each for each in sys.path if each not in ours]
    return next((each.version for each in metadata.distributions(name=name, path=outside)), None)


def _is_spent(environment: ModuleEnvironment) -> bool:
    contents = environment.contents
    if contents is None or contents.is_outdated:
        return True
    with suppress(OSError):
        return time.time() - environment.directory.stat().st_mtime > _UNUSED
    return False


def _is_removed(environment: ModuleEnvironment, *, dry_run: bool) -> bool:
    """Remove an environment unless somebody uses it, and tell whether it is gone, or would be."""
    try:
        lock = try_lock_directory(environment.directory)
        if lock is None:
            return False
        try:
            if not dry_run:
                remove_tree(environment.directory)
        finally:
            lock.release()
    except (OSError, LockError):
        return False
    return True
