"""Keep large values in files that are named by the hash of their content."""

from __future__ import annotations

import errno
from pathlib import Path

from amplihack.errors import AmplihackError
from amplihack.system.replace import replace_bytes

try:  # as `random` does it: `hashlib` loads OpenSSL, which costs as much as the rest of the store
    from _sha2 import sha256  # type: ignore[import-not-found, unused-ignore]  # it has no stub
except ImportError:
    from _sha256 import sha256  # type: ignore[import-not-found, no-redef, unused-ignore]  # before 3.12

EPHEMERAL = "or run it with --ephemeral, which keeps nothing"
LARGE = 16_384  # characters of a text that is kept in a file
_FULL = (errno.ENOSPC, errno.EDQUOT)
_MANY = 1_000_000  # bytes for which OpenSSL, several times as fast, is worth its loading


def hash_of(data: bytes) -> str:
    """Return the SHA-256 of the bytes."""
    if len(data) > _MANY:
        import hashlib  # deferred, as above

        return hashlib.sha256(data, usedforsecurity=False).hexdigest()
    digest: str = sha256(data).hexdigest()
    return digest


class StoreError(AmplihackError):
    """Raised when what is kept of runs cannot be written or read."""


class DiskIsFull(StoreError):
    """Raised when there is no room for what should be kept."""


def disk_is_full(path: Path) -> DiskIsFull:
    return DiskIsFull(
        f"the disk is full: cannot write {path}; nothing that is kept is lost",
        fix="make room, for example with `amplihack runs prune --keep 100`; "
        "`amplihack runs resume` goes on with a run that ended for it",
    )


def cannot_write(path: Path, why: str) -> StoreError:
    return StoreError(
        f"the run cannot be kept: cannot write {path}: {why}",
        fix=f"make it writable for you, set AMPLIHACK_HOME to a directory that is, {EPHEMERAL}",
    )


class ValueFiles:
    """The large values of one run. A value is on the disk before anything names it."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._known: set[str] = set()
        self._last = ("", "")  # a text and its name: what a step stores and what it returns is the same

    def put(self, text: str) -> str:
        """Keep a text and return its name. The same text is kept once."""
        if text == self._last[0]:
            return self._last[1]
        data = text.encode("utf-8", "surrogatepass")
        name = hash_of(data)
        if name not in self._known:
            path = self._directory / name
            if not path.exists():
                self._make_directory()
                _write(path, data)
            self._known.add(name)
        self._last = (text, name)
        return name

    def _make_directory(self) -> None:
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(self._directory, error.strerror or str(error)) from error

    def get(self, name: str) -> str:
        """Return the text of that name. Raises StoreError if it is missing or damaged."""
        path = self._directory / name
        try:
            data = path.read_bytes()
        except OSError as error:
            raise StoreError(
                f"a value of the run is missing: {path}: {error.strerror}",
                fix="put the file back, from a backup for example; nothing else of the run is lost",
            ) from error
        if hash_of(data) != name:
            raise StoreError(
                f"a value of the run is damaged: {path} is not what its name says",
                fix="put the file back, from a backup for example; nothing else of the run is lost",
            )
        return data.decode("utf-8", "surrogatepass")


def _write(path: Path, data: bytes) -> None:
    try:
        replace_bytes(path, data)
    except OSError as error:
        if error.errno in _FULL:
            raise disk_is_full(path) from error
        raise cannot_write(path, error.strerror or str(error)) from error


class ReadableValues(ValueFiles):
    """The large values of one run as far as they can be read; `damage` receives why others cannot."""

    def __init__(self, directory: Path, damage: list[AmplihackError]) -> None:
        super().__init__(directory)
        self._damage = damage

    def get(self, name: str) -> str:
        """Return the text of that name, or a word on why it is not there."""
        try:
            return super().get(name)
        except StoreError as error:
            self._damage.append(error)
            return f"({error.what})"
