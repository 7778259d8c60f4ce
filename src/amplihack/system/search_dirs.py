"""List the directories that are searched for recipes, in order, without opening any file."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from amplihack.system.files import real
from amplihack.system.healed import PACKAGED, own_bundle
from amplihack.system.home import Home

_LEVELS = 10  # how far up from the working directory a project's own recipes are looked for
_OWN = "recipes"  # where projects keep recipes that they do not keep beside everything else
_BUNDLED = Path("amplifier-bundle", "recipes")
PACKAGED_BUNDLE = Path(own_bundle() or PACKAGED)


def environment_dirs(environment: Mapping[str, str], cwd: Path) -> tuple[Path, ...]:
    """Return the directories that two variables name. Empty entries are left out; `~` is not special."""
    entries = (
        environment.get("AMPLIHACK_PACKAGE_RECIPE_DIR", ""),
        *environment.get("RECIPE_RUNNER_RECIPE_DIRS", "").split(":"),
    )
    return tuple(cwd / entry for entry in entries if entry)


def standard_dirs(home: Home, working_dir: Path) -> tuple[Path, ...]:
    """Return the user's and the project's directories, then the staged and the packaged bundle's.

    Bundles of the directories above come after the project's own.
    """
    packaged = PACKAGED_BUNDLE / "recipes"
    return (
        home.root / ".claude" / "recipes",
        working_dir / _BUNDLED,
        working_dir / "src" / "amplihack" / _BUNDLED,
        working_dir / ".claude" / "recipes",
        *(level / _BUNDLED for level in _up_to_the_project(working_dir) if is_directory(level / _BUNDLED)),
        home.staged_bundle / "recipes",
        *((packaged,) if is_directory(packaged) else ()),
    )


def near_dirs(working_dir: Path) -> tuple[Path, ...]:
    """Return the working directory and those above it, up to the project's root, each with its `recipes`.

    Other people's files are no recipes of ours: a directory above in which others can write, such as the
    temporary one, ends the search.
    """
    found: list[Path] = []
    for level in _up_to_the_project(working_dir):
        if found and others_can_write(level):
            break
        found += (level, *((level / _OWN,) if is_directory(level / _OWN) else ()))
    return tuple(found)


def others_can_write(directory: Path) -> bool:
    """Tell whether other people, apart from the administrator, can put files into a directory."""
    try:
        status = directory.stat()
    except OSError:
        return True  # nobody knows
    return bool(status.st_mode & stat.S_IWOTH) or status.st_uid not in (0, os.getuid())


def anchored_dirs(working_dir: Path, *files: Path | None) -> tuple[Path, ...]:
    """Return the directories around a run: of the given files, of the project, and its parents' recipes."""
    around = (*(file.parent for file in files if file is not None), working_dir)
    candidates = (*around, *(level / _BUNDLED for level in _up_to_the_project(working_dir)))
    return distinct(directory for directory in candidates if is_directory(directory))


def project_of(file: Path) -> Path:
    """Return the git work tree that the file is part of, or else its own directory."""
    directory = real(file).parent
    for candidate in (directory, *directory.parents):
        if is_work_tree(candidate):
            return candidate
    return directory


def is_directory(path: Path) -> bool:
    """Tell whether there is a directory that we may know of: what lies behind a closed door is not there."""
    return os.path.isdir(path)  # noqa: PTH112 - `pathlib` raises an error at a closed door


def is_work_tree(directory: Path) -> bool:
    return os.path.exists(directory / ".git")  # noqa: PTH110 - as above


def distinct(directories: Iterable[Path]) -> tuple[Path, ...]:
    """Return the directories without repeats, also under another name."""
    seen: dict[Path, Path] = {}
    for directory in directories:
        seen.setdefault(real(directory), directory)
    return tuple(seen.values())


def _up_to_the_project(working_dir: Path) -> list[Path]:
    start = real(working_dir)
    levels: list[Path] = []
    for level in (start, *start.parents)[: _LEVELS + 1]:
        levels.append(level)
        if is_work_tree(level):
            break
    return levels
