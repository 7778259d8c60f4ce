"""Tell whether weights are the pinned ones, without reading a gigabyte at every start."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path

from amplihack.system.replace import replace_bytes

_NOTE = ".checked"


def note_of(weights: Path) -> Path:
    """Return where it is noted which file was checked last."""
    return weights.with_name(f"{weights.name}{_NOTE}")


def are_pinned(weights: Path, sha256: str) -> bool:
    """Tell whether a file has this hash; it is read only if it is not as it was when it was read last.

    Raises OSError.
    """
    known = _identity(weights, sha256)
    return _noted(weights) == known or have_hash(weights, sha256)


def have_hash(weights: Path, sha256: str) -> bool:
    """Tell whether a file has this hash, by reading it, and note that it has. Raises OSError."""
    known = _identity(weights, sha256)
    if sha256_of(weights) != sha256:
        return False
    _note(weights, known)
    return True


def note_checked(weights: Path, sha256: str) -> None:
    """Note that a file, as it is now, has this hash. Raises OSError."""
    _note(weights, _identity(weights, sha256))


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _note(weights: Path, known: list[object]) -> None:
    with suppress(OSError):  # a place that cannot be written: then the file is read again the next time
        replace_bytes(note_of(weights), json.dumps(known).encode())


def _identity(weights: Path, sha256: str) -> list[object]:
    """Return what changes with every change of a file: nobody can set the time of its last change."""
    status = weights.stat()
    return [sha256, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_dev, status.st_ino]


def _noted(weights: Path) -> object:
    try:
        return json.loads(note_of(weights).read_bytes())
    except (OSError, ValueError):  # not noted, or not readable: it is read again
        return None
