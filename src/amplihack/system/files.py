"""Read files safely, and remove directories whatever is in them."""

from __future__ import annotations

import errno
import os
import stat
from codecs import BOM_UTF8
from io import FileIO
from pathlib import Path

from amplihack.documents import MAX_BYTES
from amplihack.errors import AmplihackError, InputError, Location, NotFound

_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG})


def read_bytes(path: Path, *, limit: int = MAX_BYTES, kind: str = "Recipe file") -> bytes:
    """Read a regular file of at most `limit` bytes without blocking. Raises NotFound or InputError."""
    try:
        _require_file(path.stat(), path, kind)  # before opening: opening a device may do something
        # O_NONBLOCK: should a pipe take the file's place in between, opening it does not wait.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        with FileIO(descriptor) as file:
            before = os.fstat(descriptor)
            _require_file(before, path, kind)
            _require_size(before.st_size, path, limit, kind)
            data = up_to(file, limit + 1)
            after = os.fstat(descriptor)
    except OSError as error:
        raise _unreadable(error, path, kind) from error
    except ValueError as error:  # a NUL in the path
        raise NotFound(f"{kind} not found: {str(path)!r}", fix="check the path") from error
    _require_size(max(len(data), after.st_size), path, limit, kind)
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise InputError(f"IO error: {path} changed while it was being read", fix="try again")
    return data


def read_text(path: Path, *, limit: int = MAX_BYTES, kind: str = "Recipe file") -> str:
    """Read the UTF-8 text of a file, with the rules of `read_bytes`."""
    return decoded(read_bytes(path, limit=limit, kind=kind), path)


def decoded(data: bytes, path: Path) -> str:
    """Return the UTF-8 text that was read from a file. Raises InputError with the line."""
    try:
        return data.removeprefix(BOM_UTF8).decode()  # the codec that does both is one more module
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"IO error: the file is not UTF-8: byte 0x{error.object[error.start]:02x} cannot be read",
            where=Location(str(path), line, 1),
            fix="save it as UTF-8",
        ) from error


def real(path: Path) -> Path:
    """Return the path with all links followed; works for missing files and for links that loop."""
    return Path(os.path.realpath(path))


def inside(path: Path, directory: Path) -> bool:
    """Tell whether the path, with all links followed, is in the directory."""
    return real(path).is_relative_to(real(directory))


def leads_to_directory(entry: os.DirEntry[str]) -> bool:
    """Tell whether an entry is a directory or a link to one; a link in a circle is not."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def remove_tree(path: Path) -> None:
    """Remove a directory with all its content, also read-only content. Links are not followed."""
    import shutil  # deferred: most commands remove nothing

    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    for attempts_left in (2, 1, 0):  # a process that lost its parent may still be writing
        try:
            shutil.rmtree(path)
        except OSError as error:
            if not path.exists():
                return
            if attempts_left == 0:
                raise
            if isinstance(error, PermissionError):
                _open_up(path)
        else:
            return


def _open_up(path: Path) -> None:
    """Make directories writable: content of a read-only directory cannot be removed. They are ours."""
    for directory, _, _ in os.walk(path):
        Path(directory).chmod(stat.S_IRWXU)


def short_hash(data: bytes) -> str:
    """Return the first 16 hex digits of the SHA-256."""
    import hashlib  # deferred: only lists and manifests need it

    return hashlib.sha256(data).hexdigest()[:16]


def _require_file(status: os.stat_result, path: Path, kind: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        what = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        raise NotFound(f"{kind} not found: {path} is {what}", fix="give the path of a file")


def _require_size(size: int, path: Path, limit: int, kind: str) -> None:
    if size > limit:
        raise InputError(
            f"{kind} too large ({size} bytes). Maximum allowed: {limit} bytes",
            where=Location(str(path), 1, 1),
            fix="move large texts into files of their own, or split the file",
        )


def up_to(file: FileIO, count: int) -> bytes:
    """Read at most `count` bytes: one read may give less than there is."""
    parts: list[bytes] = []
    while count > 0 and (part := file.read(count)):
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _unreadable(error: OSError, path: Path, kind: str) -> AmplihackError:
    if error.errno in _ABSENT:
        if os.path.islink(path):  # noqa: PTH114 - a name may be too long for pathlib
            return NotFound(f"{kind} not found: {path} is a link that leads nowhere", fix="mend the link")
        return NotFound(f"{kind} not found: {path}", fix="check the path")
    fix = "make it readable for you" if isinstance(error, PermissionError) else ""
    return InputError(f"IO error: cannot read {path}: {error.strerror or error}", fix=fix)
