"""Unpacking archives that nobody vouches for: nothing outside the target, nothing larger than agreed."""

from __future__ import annotations

import gzip
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Literal, TypeAlias, cast

from amplihack.system.files import real
from amplihack.system.sources.errors import SourceNotFound, SourceRefused
from amplihack.system.sources.local import holds_bundle_file
from amplihack.system.sources.metadata import METADATA
from amplihack.system.sources.model import Limits
from amplihack.system.sources.threads import Stop

_CHUNK = 1_048_576
_BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, gzip.BadGzipFile,
    NotImplementedError, UnicodeError, RuntimeError,
)  # fmt: skip

Form: TypeAlias = Literal["directory", "file", "link", "same as"]


@dataclass(frozen=True, slots=True)
class Member:
    """One thing in an archive; `target` is where a link leads, `open` gives a file's bytes."""

    name: str
    form: Form
    size: int = 0
    executable: bool = False
    target: str = ""
    open: Callable[[], IO[bytes]] | None = None


def unpack(archive: Path, into: Path, limits: Limits, *, stop: Stop, uri: str) -> None:
    """Unpack a zip or tar.gz into a new directory, or raise SourceRefused; what it is, its bytes say."""
    into.mkdir(parents=True)
    unpacking = _Unpacking(into, limits, archive.stat().st_size, stop)
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as file:
                unpacking.take(_zip_members(file))
        elif _is_gzip(archive):
            with gzip.open(archive) as data, tarfile.open(fileobj=_bounded(data, limits), mode="r|") as tar:
                unpacking.take(_tar_members(tar))
        else:
            raise SourceRefused("it is neither a zip nor a tar.gz archive")
    except SourceRefused as error:
        raise SourceRefused(f"{uri}: {error.what}", uri=uri) from error.__cause__
    except _BROKEN as error:
        raise SourceRefused(f"{uri}: the archive is damaged: {error}", uri=uri) from error


def top_of(tree: Path) -> str:
    """The one directory that holds everything, as hosts pack repositories; "" when there is none."""
    children = [child for child in tree.iterdir() if child.name != METADATA]
    if holds_bundle_file(tree) or len(children) != 1:
        return ""
    only = children[0]
    return only.name if only.is_dir() and not only.is_symlink() else ""


def safe_parts(name: str) -> tuple[str, ...]:
    """The parts of a member's name. Raises SourceRefused for one that could leave the target."""
    path = PurePosixPath(name)
    odd = "\\" in name or "\0" in name or (len(name) > 1 and name[1] == ":")
    if odd or path.is_absolute() or ".." in path.parts:
        raise SourceRefused(f"it holds {name!r}, which leads out of it")
    if path.parts and path.parts[0].lower() == METADATA:
        raise SourceRefused(f"it holds {name!r}, a name that is reserved")
    return path.parts


class _Unpacking:
    """One archive on its way to the disk, and how much of it there has been so far."""

    def __init__(self, root: Path, limits: Limits, packed: int, stop: Stop) -> None:
        self._root, self._limits, self._packed, self._stop = root, limits, packed, stop
        self._seen: dict[tuple[str, ...], Form] = {}
        self._links: list[tuple[Path, str]] = []
        self._count = self._bytes = 0

    def take(self, members: Iterator[Member]) -> None:
        for member in members:
            self._stop.check()
            self._count += 1
            if self._count > self._limits.unpacked_entries:
                raise SourceRefused(f"it holds more than {self._limits.unpacked_entries} entries")
            self._place(member, safe_parts(member.name))
        if not self._seen:
            raise SourceRefused("it is empty")
        self._make_links()

    def _place(self, member: Member, parts: tuple[str, ...]) -> None:
        if not parts:
            return
        self._claim(parts, member)
        path = self._root.joinpath(*parts)
        try:
            (path if member.form == "directory" else path.parent).mkdir(parents=True, exist_ok=True)
            match member.form:
                case "file":
                    self._write(path, member)
                case "same as":
                    self._copy(path, member)
                case "link":
                    self._links.append((path, member.target))
        except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
            raise SourceRefused(f"it holds {member.name!r} in the way of another entry") from error

    def _claim(self, parts: tuple[str, ...], member: Member) -> None:
        known = self._seen.get(parts)
        if known is not None and (known, member.form) != ("directory", "directory"):
            raise SourceRefused(f"it holds {member.name!r} twice")
        for length in range(1, len(parts)):
            if self._seen.get(parts[:length], "directory") != "directory":
                raise SourceRefused(f"it holds {member.name!r} below something that is not a directory")
        self._seen[parts] = member.form

    def _write(self, path: Path, member: Member) -> None:
        self._expect(member.size)
        mode = 0o755 if member.executable else 0o644
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "wb") as out, cast("Callable[[], IO[bytes]]", member.open)() as data:
            while chunk := data.read(_CHUNK):
                self._stop.check()
                self._add(len(chunk))
                out.write(chunk)

    def _copy(self, path: Path, member: Member) -> None:
        """A hard link: its target must be a file that the archive has already given."""
        parts = safe_parts(member.target)
        if self._seen.get(parts) not in ("file", "same as"):
            raise SourceRefused(
                f"it holds {member.name!r}, a link to {member.target!r}, which it does not hold"
            )
        source = self._root.joinpath(*parts)
        size, executable = source.stat().st_size, bool(source.stat().st_mode & stat.S_IXUSR)
        self._write(path, Member(member.name, "file", size, executable, open=lambda: source.open("rb")))

    def _make_links(self) -> None:
        """Last of all, so that nothing was ever written through one."""
        for path, target in self._links:
            if PurePosixPath(target).is_absolute() or "\0" in target or not target:
                raise SourceRefused(f"it holds {path.name!r}, a link that leads out of it")
            path.symlink_to(target)
        root = real(self._root)
        for path, _ in self._links:
            if not real(path).is_relative_to(root):
                raise SourceRefused(f"it holds {path.name!r}, a link that leads out of it")

    def _expect(self, size: int) -> None:
        if self._bytes + size > self._limits.unpacked_bytes:
            raise SourceRefused(f"it is larger than {self._limits.unpacked_bytes} bytes when unpacked")

    def _add(self, size: int) -> None:
        self._expect(size)
        self._bytes += size
        if self._bytes > max(self._limits.ratio_floor, self._packed * self._limits.unpacked_ratio):
            raise SourceRefused(f"it unpacks to more than {self._limits.unpacked_ratio} times its size")


class _Bounded:
    """Unpacked bytes of a tar, refused beyond the limit even where they are only headers."""

    def __init__(self, data: gzip.GzipFile, limits: Limits) -> None:
        self._data = data
        self._left = limits.unpacked_bytes + 4096 * min(limits.unpacked_entries, 100_000)

    def read(self, size: int = -1) -> bytes:
        chunk = self._data.read(size)
        self._left -= len(chunk)
        if self._left < 0:
            raise SourceRefused("it is too large when unpacked")
        return chunk


def _bounded(data: gzip.GzipFile, limits: Limits) -> IO[bytes]:
    return cast("IO[bytes]", _Bounded(data, limits))  # reading is all that a stream of tar needs


def _zip_members(file: zipfile.ZipFile) -> Iterator[Member]:
    for info in file.infolist():
        mode = info.external_attr >> 16
        if info.flag_bits & 1:
            raise SourceRefused(f"it holds {info.filename!r}, which is encrypted")
        if info.is_dir():
            yield Member(info.filename, "directory")
        elif stat.S_ISLNK(mode):
            if info.file_size > 4096:
                raise SourceRefused(f"it holds {info.filename!r}, a link that leads nowhere")
            yield Member(info.filename, "link", target=os.fsdecode(file.read(info)))
        elif stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            raise SourceRefused(f"it holds {info.filename!r}, which is neither file nor directory nor link")
        else:
            yield Member(info.filename, "file", info.file_size, bool(mode & 0o111), open=_opener(file, info))


def _opener(file: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    return lambda: file.open(info)


def _tar_members(tar: tarfile.TarFile) -> Iterator[Member]:
    for info in tar:
        if info.isdir():
            yield Member(info.name, "directory")
        elif info.issym():
            yield Member(info.name, "link", target=info.linkname)
        elif info.islnk():
            yield Member(info.name, "same as", target=info.linkname)
        elif info.isfile():
            yield Member(info.name, "file", info.size, bool(info.mode & 0o111), open=_extractor(tar, info))
        else:
            raise SourceRefused(f"it holds {info.name!r}, which is neither file nor directory nor link")


def _extractor(tar: tarfile.TarFile, info: tarfile.TarInfo) -> Callable[[], IO[bytes]]:
    return lambda: cast("IO[bytes]", tar.extractfile(info))


def _is_gzip(archive: Path) -> bool:
    with archive.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def open_archive(path: str, uri: str) -> Path:
    """A local archive that can be read. Raises SourceNotFound."""
    archive = Path(path)
    if not archive.is_file():
        raise SourceNotFound(f"{uri}: not found: {archive}", uri=uri, fix="check the path")
    return archive
