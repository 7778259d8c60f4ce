"""Read paths as people write them, and find Amplifier's home and files by pattern."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from amplihack.bundles.includes import BUNDLE_FILES
from amplihack.system.files import real
from amplihack.system.home import Home


def amplifier_home(environment: Mapping[str, str], cwd: Path) -> Path:
    """Return the home that Amplifier's own tools use: `$AMPLIFIER_HOME`, else `~/.amplifier`."""
    home = Home.from_environment(environment, cwd)
    return real(home.path(environment.get("AMPLIFIER_HOME") or "~/.amplifier"))


def normalize_path(path: str | Path, relative_to: Path | None = None) -> Path:
    """Return the absolute path with `~` and every link followed; relative ones start at `relative_to`."""
    expanded = Path(path).expanduser()
    return real(relative_to / expanded if relative_to is not None else expanded)


async def find_files(base: Path, pattern: str, recursive: bool = True) -> list[Path]:
    """Return the files that match, sorted, below the directory or in it alone."""
    everywhere = recursive and not pattern.startswith("**/")
    return await asyncio.to_thread(_glob, base, f"**/{pattern}" if everywhere else pattern)


async def find_bundle_root(start: Path) -> Path | None:
    """Return the nearest directory with a bundle file, from the path upwards, or None."""
    return await asyncio.to_thread(_bundle_above, start)


def _glob(base: Path, pattern: str) -> list[Path]:
    return sorted(path for path in base.glob(pattern) if path.is_file()) if base.is_dir() else []


def _bundle_above(start: Path) -> Path | None:
    path = real(start)
    candidates = [path, *path.parents] if path.is_dir() else list(path.parents)
    for directory in candidates:
        if any((directory / name).is_file() for name in BUNDLE_FILES):
            return directory
    return None
