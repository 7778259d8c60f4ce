"""Compute one hash for a directory, the same on every machine with the same content."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

from amplihack.system.sources.errors import SourceError, SourceNotFound
from amplihack.system.sources.metadata import METADATA

_CHUNK = 1_048_576
_OURS = frozenset({".git", METADATA})


def content_hash(path: Path, *, ignore: Collection[str] = ()) -> str:
    """Return the sha256 of a file, or of a directory: its paths, contents, links and executable bits.

    `.git`, our own metadata and names in `ignore` do not count. Empty directories and dates never do.
    """
    try:
        status = path.stat()
        if not stat.S_ISDIR(status.st_mode):
            return _file_hash(path)
        total = hashlib.sha256()
        for name, line in sorted(_lines(path, _OURS | frozenset(ignore))):
            total.update(b"%s %s\0" % (line, name))
        return total.hexdigest()
    except FileNotFoundError as error:
        raise SourceNotFound(f"cannot hash {path}: {error.filename} is not there", fix="try again") from error
    except OSError as error:
        what = f"cannot hash {path}: {error.filename or ''}: {error.strerror}"
        raise SourceError(what, fix="check who may read it") from error


def _lines(root: Path, ignore: frozenset[str]) -> Iterator[tuple[bytes, bytes]]:
    waiting = [root]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                path = Path(entry.path)
                if entry.name in ignore:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(path)
                else:
                    yield os.fsencode(path.relative_to(root).as_posix()), _line(path, entry)


def _line(path: Path, entry: os.DirEntry[str]) -> bytes:
    if entry.is_symlink():
        return b"link " + hashlib.sha256(os.fsencode(path.readlink())).hexdigest().encode()
    kind = b"run " if entry.stat(follow_symlinks=False).st_mode & stat.S_IXUSR else b"file "
    return kind + _file_hash(path).encode()


def _file_hash(path: Path) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            what = f"cannot hash {path}: it is neither a file nor a directory"
            raise SourceError(
                what, fix="remove it from the bundle: sockets, pipes and devices have no content"
            )
        digest = hashlib.sha256()
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
        return digest.hexdigest()
