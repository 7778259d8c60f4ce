"""Unpack untrusted archives: nothing outside the target, nothing larger than allowed."""

from __future__ import annotations

import gzip
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, TypeAlias, cast

from amplihack.system.files import real
from amplihack.system.sources.errors import SourceNotFound, SourceRefused
from amplihack.system.sources.local import holds_bundle_file
from amplihack.system.sources.metadata import METADATA
from amplihack.system.sources.model import FetchLimits
from amplihack.system.sources.threads import Stop

_CHUNK = 1_048_576
_LONGEST_LINK = 4096
_BROKEN = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, gzip.BadGzipFile,
    NotImplementedError, UnicodeError, RuntimeError,
)  # fmt: skip

# A thing in an archive of either format, and how to get its bytes.
Member: TypeAlias = tuple[tarfile.TarInfo, Callable[[], IO[bytes]]]


def unpack(archive: Path, into: Path, limits: FetchLimits, *, stop: Stop, uri: str) -> None:
    """Unpack a zip or tar.gz, recognised by its bytes, into a new directory. Raises SourceRefused."""
    if not hasattr(tarfile, "data_filter"):
        raise SourceRefused(
            f"{uri}: this Python cannot unpack it safely", uri=uri, fix="use Python 3.11.4 or later"
        )
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
    """Return the single directory that holds everything, as hosts pack repositories; "" if there is none."""
    children = [child for child in tree.iterdir() if child.name != METADATA]
    if holds_bundle_file(tree) or len(children) != 1:
        return ""
    only = children[0]
    return only.name if only.is_dir() and not only.is_symlink() else ""


def safe_parts(name: str) -> tuple[str, ...]:
    """Return the parts of a member's name. Raises SourceRefused for one that could leave the target."""
    path = PurePosixPath(name)
    odd = "\\" in name or "\0" in name or (len(name) > 1 and name[1] == ":")
    if odd or path.is_absolute() or ".." in path.parts:
        raise SourceRefused(f"it holds {name!r}, which leads out of it")
    if path.parts and path.parts[0].lower() == METADATA:
        raise SourceRefused(f"it holds {name!r}, a name that is reserved")
    return path.parts


def judged(info: tarfile.TarInfo, root: Path) -> tarfile.TarInfo:
    """Return a member with safe permissions, checked by tarfile's data filter. Raises SourceRefused.

    Zip archives go through the same filter, so that both formats have the same rules.
    """
    try:
        return tarfile.data_filter(info, str(root))
    except tarfile.SpecialFileError as error:
        raise SourceRefused(
            f"it holds {info.name!r}, which is neither file nor directory nor link"
        ) from error
    except (tarfile.FilterError, ValueError) as error:  # ValueError: a NUL in the target of a link
        raise SourceRefused(f"it holds {info.name!r}, which leads out of it") from error


class _Unpacking:
    """One archive being unpacked, and how much of it was written so far."""

    def __init__(self, root: Path, limits: FetchLimits, packed: int, stop: Stop) -> None:
        self._root, self._limits, self._packed, self._stop = root, limits, packed, stop
        self._seen: dict[tuple[str, ...], tarfile.TarInfo] = {}
        self._links: list[tuple[Path, str]] = []
        self._count = self._bytes = 0

    def take(self, members: Iterator[Member]) -> None:
        for info, opened in members:
            self._stop.check()
            self._count += 1
            if self._count > self._limits.unpacked_entries:
                raise SourceRefused(f"it holds more than {self._limits.unpacked_entries} entries")
            self._place(info, safe_parts(info.name), opened)
        if not self._seen:
            raise SourceRefused("it is empty")
        self._make_links()

    def _place(self, info: tarfile.TarInfo, parts: tuple[str, ...], opened: Callable[[], IO[bytes]]) -> None:
        if not parts:
            return
        safe = judged(info, self._root)
        self._claim(parts, safe)
        path = self._root.joinpath(*parts)
        try:
            (path if safe.isdir() else path.parent).mkdir(parents=True, exist_ok=True)
            if safe.issym():
                self._links.append((path, safe.linkname))
            elif safe.islnk():
                self._copy(path, safe)
            elif not safe.isdir():
                self._write(path, safe.size, safe.mode, opened)
        except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
            raise SourceRefused(f"it holds {info.name!r} in the way of another entry") from error

    def _claim(self, parts: tuple[str, ...], info: tarfile.TarInfo) -> None:
        known = self._seen.get(parts)
        if known is not None and not (known.isdir() and info.isdir()):
            raise SourceRefused(f"it holds {info.name!r} twice")
        for length in range(1, len(parts)):
            above = self._seen.get(parts[:length])
            if above is not None and not above.isdir():
                raise SourceRefused(f"it holds {info.name!r} below something that is not a directory")
        self._seen[parts] = info

    def _write(self, path: Path, size: int, mode: int, opened: Callable[[], IO[bytes]]) -> None:
        self._expect(size)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "wb") as out, opened() as data:
            while chunk := data.read(_CHUNK):
                self._stop.check()
                self._add(len(chunk))
                out.write(chunk)

    def _copy(self, path: Path, info: tarfile.TarInfo) -> None:
        """Copy the target of a hard link, which must be a file that was already unpacked."""
        parts = safe_parts(info.linkname)
        target = self._seen.get(parts)
        if target is None or target.isdir() or target.issym():
            raise SourceRefused(
                f"it holds {info.name!r}, a link to {info.linkname!r}, which it does not hold"
            )
        source = self._root.joinpath(*parts)
        status = source.stat()
        self._write(path, status.st_size, stat.S_IMODE(status.st_mode), lambda: source.open("rb"))

    def _make_links(self) -> None:
        """Make links last, so that nothing is written through one; then check where they lead."""
        for path, target in self._links:
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
    """Limits the unpacked bytes of a tar, even if they are only headers."""

    def __init__(self, data: gzip.GzipFile, limits: FetchLimits) -> None:
        self._data = data
        self._left = limits.unpacked_bytes + 4096 * min(limits.unpacked_entries, 100_000)

    def read(self, size: int = -1) -> bytes:
        chunk = self._data.read(size)
        self._left -= len(chunk)
        if self._left < 0:
            raise SourceRefused("it is too large when unpacked")
        return chunk


def _bounded(data: gzip.GzipFile, limits: FetchLimits) -> IO[bytes]:
    return cast("IO[bytes]", _Bounded(data, limits))  # reading is all that a stream of tar needs


_ZIP_TYPES = {0: tarfile.REGTYPE, stat.S_IFREG: tarfile.REGTYPE, stat.S_IFLNK: tarfile.SYMTYPE}


def _zip_members(file: zipfile.ZipFile) -> Iterator[Member]:
    """Yield the members as a tar archive would describe them."""
    for entry in file.infolist():
        if entry.flag_bits & 1:
            raise SourceRefused(f"it holds {entry.filename!r}, which is encrypted")
        info = tarfile.TarInfo(entry.filename)
        mode = entry.external_attr >> 16
        info.size, info.mode = entry.file_size, stat.S_IMODE(mode)
        info.type = tarfile.DIRTYPE if entry.is_dir() else _ZIP_TYPES.get(stat.S_IFMT(mode), tarfile.FIFOTYPE)
        if info.issym():
            if info.size > _LONGEST_LINK:
                raise SourceRefused(f"it holds {info.name!r}, a link that leads nowhere")
            info.linkname = os.fsdecode(file.read(entry))
        yield info, partial(file.open, entry)


def _tar_members(tar: tarfile.TarFile) -> Iterator[Member]:
    return ((info, partial(_extract, tar, info)) for info in tar)


def _extract(tar: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    return cast("IO[bytes]", tar.extractfile(info))


def _is_gzip(archive: Path) -> bool:
    with archive.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def open_archive(path: str, uri: str) -> Path:
    """Return the path of a readable local archive. Raises SourceNotFound."""
    archive = Path(path)
    if not archive.is_file():
        raise SourceNotFound(f"{uri}: not found: {archive}", uri=uri, fix="check the path")
    return archive
