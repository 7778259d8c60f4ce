"""Answer questions about files for the bundle room. An answer stays the same for the whole load."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from amplihack.bundles.ports import DirectoryListing, FileText, Unreadable
from amplihack.errors import AmplihackError
from amplihack.records import Record, field
from amplihack.system.files import read_bytes

_LARGEST = 1024 * 1024  # a larger file is no context for anybody


class BundleFiles(Record):
    """Caches its answers. Make a new one to see the disk as it is now."""

    _kinds: dict[str, str] = field(default_factory=dict)
    _texts: dict[str, FileText | Unreadable] = field(default_factory=dict)

    def real(self, path: str) -> str | None:
        try:
            return os.path.realpath(path, strict=True)
        except (OSError, ValueError):
            return None  # nothing is there, or it leads in circles

    def is_dir(self, path: str) -> bool:
        return self._kind(path) == "directory"

    def is_file(self, path: str) -> bool:
        return self._kind(path) == "file"

    def _kind(self, path: str) -> str:
        if path not in self._kinds:
            self._kinds[path] = _kind_of(path)
        return self._kinds[path]

    def read(self, path: str) -> FileText | Unreadable:
        if path not in self._texts:
            self._texts[path] = _read(Path(path))
        return self._texts[path]

    def list(self, path: str) -> DirectoryListing:
        try:
            entries = sorted(Path(path).iterdir(), key=lambda entry: entry.name.lower())
        except PermissionError:
            return DirectoryListing(denied=True)
        except (OSError, ValueError):
            return DirectoryListing()  # it went away while we looked
        return DirectoryListing(
            tuple(entry.name for entry in entries if entry.is_dir()),
            tuple(entry.name for entry in entries if not entry.is_dir()),
        )

    def stamp(self, path: str) -> tuple[int, int] | None:
        """Return the change time and size of a file; None if nothing is there."""
        try:
            status = os.stat(path)  # noqa: PTH116 - asked for thousands of files, and a Path costs more
        except (OSError, ValueError):  # nothing is there; a NUL in a path never leads anywhere
            return None
        return status.st_mtime_ns, status.st_size


def _kind_of(path: str) -> str:
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - asked for thousands of paths, and a Path costs more
    except (OSError, ValueError):  # nothing is there that we may look at
        return ""
    return "file" if stat.S_ISREG(mode) else "directory" if stat.S_ISDIR(mode) else ""


def _is_there(path: Path) -> bool:
    return os.path.exists(path)  # noqa: PTH110 - Path.exists raises for a name that is too long


def _read(path: Path) -> FileText | Unreadable:
    try:
        if not os.access(path, os.R_OK):
            return "permission_error" if _is_there(path) else "not_found"
    except ValueError:
        return "not_found"  # a NUL in the path
    try:
        data = read_bytes(path, limit=_LARGEST, kind="File")
        content = data.decode("utf-8-sig")
    except (AmplihackError, UnicodeDecodeError):
        return "unsupported" if _is_there(path) else "not_found"
    return FileText(content, hashlib.sha256(data).hexdigest())
