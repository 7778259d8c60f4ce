"""Replace a file in one step: readers, and a crash, see the old content or the new, never a part of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from amplihack.errors import AmplihackError
from amplihack.system.temporary import make_file

PRIVATE = 0o600
UNFINISHED = ".new-"  # how the names of files begin that are not whole yet


def write_atomic(path: Path, data: bytes, mode: int = PRIVATE, *, sync: bool = True) -> None:
    """Replace the file. Raises AmplihackError. Without `sync`, a power cut may lose old and new content."""
    try:
        with _replacing(path, mode, sync=sync) as file:
            file.write(data)
    except OSError as error:
        raise AmplihackError(
            f"IO error: cannot write {path}: {error.strerror}", fix="check the directory and the free space"
        ) from error


def replace_bytes(
    path: Path, data: bytes, *, new_mode: int = PRIVATE, sync: bool = True, sync_name: bool = True
) -> None:
    """Replace the file; an existing one keeps its permissions. Raises OSError, as libraries do.

    Without `sync`, a power cut may lose old and new content; without `sync_name`, the old one may come back.
    """
    with _replacing(path, _mode(path, new_mode), sync=sync, sync_name=sync_name) as file:
        file.write(data)


def replace_text(
    path: Path, text: str, *, new_mode: int = PRIVATE, sync: bool = True, sync_name: bool = True
) -> None:
    """Replace the file by text as UTF-8, like `replace_bytes`."""
    data = text.encode("utf-8", "surrogatepass")
    replace_bytes(path, data, new_mode=new_mode, sync=sync, sync_name=sync_name)


def replace_lines(path: Path, lines: Iterable[str]) -> int:
    """Write the lines as they come and return their number. The file changes when all are written."""
    count = 0
    with _replacing(path, _mode(path, PRIVATE)) as file:
        for line in lines:
            file.write(line.encode("utf-8", "surrogatepass") + b"\n")
            count += 1
    return count


@contextmanager
def _replacing(path: Path, mode: int, *, sync: bool = True, sync_name: bool = True) -> Iterator[IO[bytes]]:
    """Open a new file that replaces `path` at the end of the block, or is removed if the block fails."""
    descriptor, temporary = make_file(UNFINISHED, path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            # Content is synced before the rename: a crash could otherwise leave an empty file under the name.
            os.fchmod(descriptor, mode)
            if sync:
                os.fsync(descriptor)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if sync and sync_name:
        sync_path(path.parent)


def _mode(path: Path, new_mode: int) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return new_mode


def sync_path(path: Path) -> None:
    """Put a file on the disk, or the names in a directory: what was made, renamed or removed in it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
