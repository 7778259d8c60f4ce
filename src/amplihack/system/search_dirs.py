"""List the directories that are searched for recipes, in order, without opening any file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from amplihack.system.files import real
from amplihack.system.home import Home

_LEVELS = 10  # how far up from the working directory a project's own recipes are looked for
_BUNDLED = Path("amplifier-bundle", "recipes")
PACKAGED_BUNDLE = Path(__file__).parent.parent / "_bundle" / "amplifier-bundle"


def environment_dirs(environment: Mapping[str, str], cwd: Path) -> tuple[Path, ...]:
    """Return the directories that two variables name. Empty entries are left out; `~` is not special."""
    entries = (
        environment.get("AMPLIHACK_PACKAGE_RECIPE_DIR", ""),
        *environment.get("RECIPE_RUNNER_RECIPE_DIRS", "").split(":"),
    )
    return tuple(cwd / entry for entry in entries if entry)


def standard_dirs(home: Home, working_dir: Path) -> tuple[Path, ...]:
    """Return the user's and the project's directories, then the staged and the packaged bundle's."""
    packaged = PACKAGED_BUNDLE / "recipes"
    return (
        home.root / ".claude" / "recipes",
        working_dir / _BUNDLED,
        working_dir / "src" / "amplihack" / _BUNDLED,
        working_dir / ".claude" / "recipes",
        home.staged_bundle / "recipes",
        *((packaged,) if packaged.is_dir() else ()),
    )


def anchored_dirs(working_dir: Path, *files: Path | None) -> tuple[Path, ...]:
    """Return the directories around a run: of the given files, of the project, and its parents' recipes."""
    around = (*(file.parent for file in files if file is not None), working_dir)
    candidates = (*around, *(level / _BUNDLED for level in _up_to_the_project(working_dir)))
    return distinct(directory for directory in candidates if directory.is_dir())


def project_of(file: Path) -> Path:
    """Return the git work tree that the file is part of, or else its own directory."""
    directory = real(file).parent
    for candidate in (directory, *directory.parents):
        if (candidate / ".git").exists():
            return candidate
    return directory


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
        if (level / ".git").exists():
            break
    return levels
