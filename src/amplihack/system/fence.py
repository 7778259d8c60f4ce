"""Open files that a path names only if they lie inside allowed directories, whatever links lead there.

A path is walked from the root of the file system, one directory at a time, each opened relative to the one
before and never through a link: links are read and walked in the same way. What was checked is what is held
open, so nothing that changes meanwhile can lead elsewhere. Directories are compared by identity, so that
another spelling of a name makes no difference. A hard link inside is the file itself, and so is inside.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TypeAlias

from amplihack.errors import InputError, NotFound
from amplihack.records import Record, field
from amplihack.system.files import leads_to_directory

_DIRECTORY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_LINKS = 40
FileState: TypeAlias = tuple[int, int, int, int]  # device, inode, size, time of the last change


class ChangedMeanwhile(InputError):
    """Raised when a file is no longer the one that was read."""


class OutsideFence(InputError):
    """Raised when a path leads to where it may not."""


class Fence(Record, kw_only=True):
    """Where paths may lead. What is denied is denied inside an allowed directory too."""

    allowed: tuple[Path, ...]
    denied: tuple[Path, ...] = ()
    setting: str = field(default="allowed paths")  # what the user would change, for the message

    @contextmanager
    def reading(self, path: Path) -> Iterator[IO[bytes]]:
        """Open a regular file. Raises OutsideFence, NotFound, InputError or OSError."""
        with self._reached(path) as place:
            descriptor = os.open(place.name, _READ, dir_fd=place.directory)
            with os.fdopen(descriptor, "rb") as file:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise InputError(f"{path} is no regular file", fix="give the path of a file")
                yield file

    def real(self, path: Path) -> Path:
        """Return where the path leads, with all links followed."""
        with self._reached(path) as place:
            return place.real

    def kind(self, path: Path) -> str:
        """Return `file`, `directory`, `other` or `` for what is not there."""
        with self._reached(path) as place:
            mode = place.mode()
        if mode is None:
            return ""
        return "file" if stat.S_ISREG(mode) else "directory" if stat.S_ISDIR(mode) else "other"

    def list(self, path: Path) -> list[str]:
        """Return the names in a directory, sorted; those of directories end with a slash."""
        with self._reached(path) as place:
            descriptor = os.open(
                place.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=place.directory
            )
            try:
                with os.scandir(descriptor) as entries:
                    return sorted(each.name + ("/" if leads_to_directory(each) else "") for each in entries)
            finally:
                os.close(descriptor)

    def write(self, path: Path, data: bytes, *, in_place_of: FileState | None = None) -> Path:
        """Replace a file, or make it with its directories, in one step, and return where it is.

        `in_place_of` is the file as it was read: raises ChangedMeanwhile if it is another one by now.
        """
        with self._reached(path, create=True) as place:
            mode = place.mode()
            if mode is not None and not stat.S_ISREG(mode):
                raise InputError(f"{path} is no regular file", fix="give the path of a file")
            if in_place_of is not None and in_place_of != place.state():
                raise ChangedMeanwhile(f"{path} was changed meanwhile", fix="read it again")
            place.replace(data, None if mode is None else stat.S_IMODE(mode))
            return place.real

    @contextmanager
    def _reached(self, path: Path, *, create: bool = False) -> Iterator[_Place]:
        with ExitStack() as stack:
            yield _Walk(self, stack, path, create=create).run()


class _Place:
    """A name in a directory that is held open."""

    def __init__(self, directory: int, name: str, real: Path) -> None:
        self.directory, self.name, self.real = directory, name, real

    def mode(self) -> int | None:
        try:
            return os.stat(self.name, dir_fd=self.directory, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return None

    def state(self) -> FileState | None:
        try:
            return file_state(os.stat(self.name, dir_fd=self.directory, follow_symlinks=False))
        except FileNotFoundError:
            return None

    def replace(self, data: bytes, mode: int | None) -> None:
        """Put a file in its place, with this mode or that of any new file."""
        new = f".new-{secrets.token_hex(6)}"
        descriptor = os.open(new, _NEW, 0o666 if mode is None else 0o600, dir_fd=self.directory)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                if mode is not None:
                    os.fchmod(descriptor, mode)
                os.fsync(descriptor)
            os.rename(new, self.name, src_dir_fd=self.directory, dst_dir_fd=self.directory)
        except BaseException:
            with suppress(OSError):
                os.unlink(new, dir_fd=self.directory)
            raise


class _Walk:
    """One walk from the root to a path."""

    def __init__(self, fence: Fence, stack: ExitStack, path: Path, *, create: bool) -> None:
        self._fence, self._stack, self._path, self._create = fence, stack, path, create
        self._allowed = set(filter(None, map(_identity, fence.allowed)))
        self._denied = set(filter(None, map(_identity, fence.denied)))
        self._open: list[int] = []
        self._names: list[str] = []
        self._inside: list[bool] = []
        self._links = 0

    def run(self) -> _Place:
        if "\0" in str(self._path):
            raise NotFound("a path cannot contain a NUL", fix="check the path")
        self._enter("/", None)
        waiting = list(reversed(self._path.parts[1:]))
        name = "."
        while waiting:
            name = waiting.pop()
            if name == "..":
                self._up()
            elif name not in (".", ""):
                target = self._link(name)
                if target is not None:
                    waiting += self._followed(target)
                elif waiting or self._is_directory(name):
                    self._down(name)
                else:
                    return self._last(name)
        return self._last(".")

    @property
    def _here(self) -> int:
        return self._open[-1]

    def _enter(self, name: str, above: int | None) -> None:
        descriptor = os.open(name, _DIRECTORY, dir_fd=above)
        self._stack.callback(os.close, descriptor)
        status = os.fstat(descriptor)
        identity = (status.st_dev, status.st_ino)
        if above is not None:
            self._names.append(name)
        if identity in self._denied or self._real() in self._fence.denied:
            raise self._outside("is denied")
        self._open.append(descriptor)
        self._inside.append(identity in self._allowed or (bool(self._inside) and self._inside[-1]))

    def _down(self, name: str) -> None:
        try:
            self._enter(name, self._here)
        except FileNotFoundError:
            if not self._create:
                raise NotFound(f"{self._path} does not exist", fix="check the path") from None
            if not self._inside[-1]:
                raise self._outside("is outside") from None
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=self._here)
            self._enter(name, self._here)
        except NotADirectoryError:
            raise NotFound(f"{self._real() / name} is no directory", fix="check the path") from None

    def _up(self) -> None:
        if len(self._open) > 1:
            self._open.pop()
            self._names.pop()
            self._inside.pop()

    def _link(self, name: str) -> str | None:
        try:
            return os.readlink(name, dir_fd=self._here)
        except OSError:  # no link, or nothing there
            return None

    def _followed(self, target: str) -> Sequence[str]:
        self._links += 1
        if self._links > _MOST_LINKS:
            raise NotFound(f"{self._path} leads in a circle of links", fix="check the path")
        if target.startswith("/"):
            while len(self._open) > 1:
                self._up()
        return [part for part in reversed(target.split("/")) if part]

    def _is_directory(self, name: str) -> bool:
        try:
            return stat.S_ISDIR(os.stat(name, dir_fd=self._here, follow_symlinks=False).st_mode)
        except FileNotFoundError:
            return False

    def _last(self, name: str) -> _Place:
        real = self._real() if name == "." else self._real() / name
        own = self._identity_of(name)
        if own in self._denied or real in self._fence.denied:
            raise self._outside("is denied")
        if not self._inside[-1] and own not in self._allowed:
            raise self._outside("is outside")
        return _Place(self._here, name, real)

    def _identity_of(self, name: str) -> tuple[int, int] | None:
        try:
            status = os.stat(name, dir_fd=self._here, follow_symlinks=False)
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _real(self) -> Path:
        return Path("/", *self._names)

    def _outside(self, how: str) -> OutsideFence:
        where = ", ".join(map(str, self._fence.allowed)) or "nothing"
        what = f"{self._path} {how} what may be used here"
        if how == "is denied":
            what = f"{self._path} is denied by the settings"
        return OutsideFence(what, fix=f"{self._fence.setting}: {where}")


def file_state(status: os.stat_result) -> FileState:
    """Return what is another one when a file was changed or replaced."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
