"""List, copy and compare the files of a bundle, byte for byte. Links are never followed out of it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from amplihack.errors import AmplihackError
from amplihack.install.contract import IDENTITY
from amplihack.install.errors import shown_path
from amplihack.install.identity import FILE_MODE, PROGRAM_MODE, ShippedFile, is_safe_path
from amplihack.records import Record
from amplihack.system.files import real

_CHUNK = 1_048_576
_MOST_FILES = 20_000
_MOST_BYTES = 256 * 1024 * 1024
_DEEPEST = 64
_LEFT_OUT = frozenset({"__pycache__", ".pytest_cache", "node_modules", ".git"})
_LEFT_OUT_ENDINGS = (".pyc", ".pyo")


class TreeError(AmplihackError):
    """Raised for a tree that cannot be staged as it is."""


class TreeDifference(Record, kw_only=True):
    """How a tree differs from what it should be, by paths inside it."""

    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    wrong_mode: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.missing or self.changed or self.unexpected or self.wrong_mode)

    def lines(self, most: int = 50) -> list[str]:
        """Return a line for each file, at most so many, and how many more there are."""
        named = {
            "missing": self.missing,
            "changed": self.changed,
            "unexpected": self.unexpected,
            "wrong mode": self.wrong_mode,
        }
        found = [f"{what}: {shown_path(path)}" for what, paths in named.items() for path in paths]
        return found if len(found) <= most else [*found[:most], f"and {len(found) - most} more"]


def list_files(bundle: Path) -> dict[str, Path]:
    """Return the files of a source by their paths inside it, each with the file that holds its bytes.

    A link inside the bundle stands for what it leads to. Raises TreeError for a link that leads out of it,
    for pipes and devices, and for more than a bundle has.
    """
    found: dict[str, Path] = {}
    total = 0
    for path, file in _walk(bundle, "", (real(bundle),), real(bundle)):
        if not is_safe_path(path):
            raise TreeError(f"{shown_path(file)} has a name that cannot be staged", fix="rename it")
        found[path] = file
        total += file.stat().st_size
        if len(found) > _MOST_FILES or total > _MOST_BYTES:
            what = f"{shown_path(bundle)} has more than {_MOST_FILES} files or {_MOST_BYTES} bytes"
            raise TreeError(what, fix="name a framework bundle, and take out what is no part of it")
    return found


def _walk(directory: Path, inside: str, chain: tuple[Path, ...], bundle: Path) -> Iterator[tuple[str, Path]]:
    if len(chain) > _DEEPEST:
        raise TreeError(f"{shown_path(directory)} is nested too deeply", fix="take it out of the bundle")
    with os.scandir(directory) as entries:
        named = sorted(entries, key=lambda entry: entry.name)
    for entry in named:
        path, place = f"{inside}{entry.name}", Path(entry.path)
        if entry.is_symlink():
            place = real(place)
            if not place.is_relative_to(bundle) or not place.exists():
                what = f"{shown_path(entry.path)} is a link that leads out of the bundle, or nowhere"
                raise TreeError(what, fix="put the file itself there")
        mode = place.stat().st_mode
        if stat.S_ISDIR(mode):
            if entry.name in _LEFT_OUT:
                continue
            if real(place) in chain:
                raise TreeError(f"{shown_path(entry.path)} is a link to what it is in", fix="remove it")
            yield from _walk(place, f"{path}/", (*chain, real(place)), bundle)
        elif not stat.S_ISREG(mode):
            what = f"{shown_path(entry.path)} is neither a file nor a directory"
            raise TreeError(what, fix="take it out of the bundle: pipes, sockets and devices have no content")
        elif not entry.name.endswith(_LEFT_OUT_ENDINGS):
            yield path, place


def describe_files(files: Mapping[str, Path]) -> tuple[ShippedFile, ...]:
    """Return the digest, size and mode of each file."""
    return tuple(_described(path, file) for path, file in files.items())


def _described(path: str, file: Path) -> ShippedFile:
    digest, size = hashlib.sha256(), 0
    descriptor = _open_regular(file)
    with os.fdopen(descriptor, "rb") as data:
        mode = PROGRAM_MODE if os.fstat(descriptor).st_mode & stat.S_IXUSR else FILE_MODE
        while chunk := data.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return ShippedFile(path, digest.hexdigest(), size, mode)


def copy_file(source: Path, target: Path, mode: int) -> None:
    """Copy bytes into a new file that is on the disk when this returns."""
    into = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    with os.fdopen(into, "wb") as out, os.fdopen(_open_regular(source), "rb") as data:
        while chunk := data.read(_CHUNK):
            out.write(chunk)
        out.flush()
        os.fchmod(into, mode)
        os.fsync(into)


def compare(bundle: Path, expected: Iterable[ShippedFile], *, modes: bool = True) -> TreeDifference:
    """Compare a tree with the files that it should have. BUNDLE.json is not among these.

    Without `modes`, permissions do not count: some installers lose them.
    """
    wanted = {file.path: file for file in expected}
    there = dict(plain_files(bundle))
    changed, wrong_mode = [], []
    for path in sorted(wanted.keys() & there.keys()):
        try:
            found = seen(path, there[path])
        except OSError:
            found = None  # what cannot be read is not what it should be
        if found is None or (found.sha256, found.size) != (wanted[path].sha256, wanted[path].size):
            changed.append(path)
        elif modes and stat.S_IMODE(there[path].lstat().st_mode) != wanted[path].mode:
            wrong_mode.append(path)
    return TreeDifference(
        missing=tuple(sorted(wanted.keys() - there.keys())),
        changed=tuple(changed),
        unexpected=tuple(sorted(there.keys() - wanted.keys() - {IDENTITY})),
        wrong_mode=tuple(wrong_mode),
    )


def seen(path: str, file: Path) -> ShippedFile | None:
    """Describe a regular file; None for anything else. Raises OSError for one that cannot be read."""
    try:
        if not stat.S_ISREG(file.lstat().st_mode):
            return None
        return _described(path, file)
    except (FileNotFoundError, TreeError):
        return None  # it has changed in this moment


def plain_files(bundle: Path) -> Iterator[tuple[str, Path]]:
    """Yield whatever is no directory, links included. What staging leaves out counts as not there."""
    waiting = [(bundle, "")]
    while waiting:
        directory, inside = waiting.pop()
        with os.scandir(directory) as entries:
            for entry in entries:
                is_directory = entry.is_dir(follow_symlinks=False)
                if is_directory and entry.name not in _LEFT_OUT:
                    waiting.append((Path(entry.path), f"{inside}{entry.name}/"))
                elif not is_directory and not entry.name.endswith(_LEFT_OUT_ENDINGS):
                    yield f"{inside}{entry.name}", Path(entry.path)


def _open_regular(path: Path) -> int:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise TreeError(f"{shown_path(path)} is no regular file", fix="put a file there")
    return descriptor
