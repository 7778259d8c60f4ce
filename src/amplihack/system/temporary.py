"""Make private files and directories under names that nobody can guess, and say where temporary ones go.

`tempfile` would do, but it loads generators of random numbers, which costs more than starting a shell.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from amplihack.system.random_tokens import token

_USUAL = "/tmp"  # noqa: S108 - names in it are made as `tempfile` makes them


def temporary_place() -> Path:
    """Return the directory that `tempfile` would choose. Raises OSError if none is fit."""
    loaded = sys.modules.get("tempfile")  # a program that uses us may have told it another
    named = getattr(loaded, "tempdir", None) or os.environ.get("TMPDIR") or _named_otherwise()
    if isinstance(named, str) and named.startswith("/") and _is_fit(named):
        return Path(os.path.normpath(named))
    from tempfile import gettempdir  # deferred: it looks for another one, which is seldom needed

    return Path(gettempdir())


def _is_fit(directory: str) -> bool:
    """Tell whether files can be made there and written to, without making one as `tempfile` does."""
    if not os.access(f"{directory}/.", os.W_OK | os.X_OK):
        return False
    disk = os.statvfs(directory)
    return disk.f_bavail > 0 or disk.f_blocks == 0  # a disk without a size has no end


def _named_otherwise() -> str:
    return os.environ.get("TEMP") or os.environ.get("TMP") or _USUAL


def make_directory(prefix: str, parent: Path) -> Path:
    """Make a directory that only this user can look into. Raises OSError."""
    path = parent / f"{prefix}{token(8)}"
    path.mkdir(0o700)
    return path


def make_file(prefix: str, parent: Path) -> tuple[int, Path]:
    """Make a file that only this user can read; returns its descriptor and its path. Raises OSError."""
    path = parent / f"{prefix}{token(8)}"
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600), path
