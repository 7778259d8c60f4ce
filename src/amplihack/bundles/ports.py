"""Name what the bundle room needs to know about the world."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

from amplihack.records import Record

Unreadable: TypeAlias = Literal["not_found", "permission_error", "unsupported"]


class Files(Protocol):
    """Questions about files; paths are absolute."""

    def real(self, path: str) -> str | None:
        """Return the path with every link followed, or None when nothing is there."""

    def is_dir(self, path: str) -> bool: ...

    def is_file(self, path: str) -> bool: ...


class FileText(Record):
    """A file's content and its sha256."""

    content: str
    sha256: str


class DirectoryListing(Record):
    """A directory's entries; None when they may not be seen."""

    directories: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    denied: bool = False


class Texts(Files, Protocol):
    """Files whose content can be asked for."""

    def read(self, path: str) -> FileText | Unreadable: ...

    def list(self, path: str) -> DirectoryListing: ...


class StampedTexts(Texts, Protocol):
    """Texts that can tell whether a file has changed since it was read."""

    def stamp(self, path: str) -> tuple[int, int] | None:
        """Return when a file was changed and how large it is; None when nothing is there."""


class Namespace(Record):
    """A name that bundles refer to: where it comes from and, once fetched, where its files lie."""

    uri: str
    root: str | None = None


class Names(Protocol):
    """Names that this run knows."""

    def redirect(self, source: str) -> str | None:
        """Return another address to use for an include, or None."""

    def namespace(self, name: str) -> Namespace | None: ...
