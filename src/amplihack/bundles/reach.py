"""Decide which files the text of a bundle may name: a downloaded one its own, the user's own all of them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping

from amplihack.bundles.ports import DirectoryListing, Files, FileText, Texts, Unreadable
from amplihack.bundles.schemes import SCHEMES
from amplihack.bundles.uris import parse_uri
from amplihack.errors import Location, Problem
from amplihack.records import Record, field

ESCAPES = "escapes"
_FIX = "a downloaded bundle may name what lies in it and in the bundles that it includes"


class Download(Record):
    """What one downloaded source may read besides itself and other downloaded sources.

    `directories` are those of the local namespaces that it includes. One that came over a network must not
    name repositories and archives of this disk either.
    """

    directories: frozenset[str] = frozenset()
    networked: bool = False


class Reach(Record):
    """The downloaded sources of a composition, by directory; whatever lies elsewhere is the user's own."""

    downloads: Mapping[str, Download] = field(default_factory=dict)

    def source_of(self, path: str) -> str | None:
        """Return the directory of the downloaded source that a path lies in, None for the user's own."""
        here = path
        while self.downloads:
            if here in self.downloads:
                return here
            above = posixpath.dirname(here)
            if above == here:
                break
            here = above
        return None

    def allows(self, file: str, path: str, files: Files) -> bool:
        """Tell whether the text in `file` may name `path`; links are followed."""
        source = self.source_of(file)
        if source is None:
            return True
        real = files.real(path) or posixpath.normpath(path)
        return self.source_of(real) is not None or any(
            is_within(real, files.real(each) or each) for each in self.downloads[source].directories
        )

    def allows_source(self, file: str, uri: str, files: Files) -> bool:
        """Tell whether the text in `file` may name an address; a relative path has been made absolute."""
        source = self.source_of(file)
        if source is None:
            return True
        parsed = parse_uri(uri)
        if parsed.is_file:
            path = posixpath.join(parsed.path, parsed.subpath.strip("/"))
            # A path that is not there may mean another one, with its %2e decoded.
            is_plain = path.startswith("/") and ("%" not in path or files.real(path) is not None)
            return is_plain and self.allows(file, path, files)
        return may_name(uri, networked=self.downloads[source].networked)

    def widened(self, source: str, directories: Iterable[str]) -> Reach:
        """Return the reach with directories that a downloaded source may read, because it includes them."""
        before = self.downloads[source]
        local = before.directories.union(each for each in directories if self.source_of(each) is None)
        if local == before.directories:
            return self
        return Reach({**self.downloads, source: Download(local, before.networked)})


NO_DOWNLOADS = Reach()


class ReachableFiles(Record):
    """The files that the text in `holder` may name; all others are not there."""

    files: Texts
    reach: Reach
    holder: str

    def real(self, path: str) -> str | None:
        return self.files.real(path) if self._allows(path) else None

    def is_dir(self, path: str) -> bool:
        return self._allows(path) and self.files.is_dir(path)

    def is_file(self, path: str) -> bool:
        return self._allows(path) and self.files.is_file(path)

    def read(self, path: str) -> FileText | Unreadable:
        return self.files.read(path) if self._allows(path) else "not_found"

    def list(self, path: str) -> DirectoryListing:
        return self.files.list(path) if self._allows(path) else DirectoryListing()

    def _allows(self, path: str) -> bool:
        return self.reach.allows(self.holder, path, self.files)


def joined(reaches: Iterable[Reach]) -> Reach:
    """Return the reach of a composition: each source may read what it may in any of the parts."""
    downloads: dict[str, Download] = {}
    for part in reaches:
        for source, each in part.downloads.items():
            known = downloads.get(source)
            both = each.directories if known is None else known.directories | each.directories
            downloads[source] = Download(both, each.networked)
    return Reach(downloads) if downloads else NO_DOWNLOADS


def may_name(uri: str, *, networked: bool) -> bool:
    """Tell whether a downloaded source may name an address, which must not lead to files of this disk."""
    parsed = parse_uri(uri)
    scheme = SCHEMES.get(parsed.scheme)
    if scheme is None:
        return True
    return scheme.way != "local" and not (networked and scheme.transport == "file")


def is_within(path: str, root: str) -> bool:
    """Tell whether a tidy absolute path is a directory or something below it."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def refusal(what: str, where: Location | None) -> Problem:
    """Report a name that leads out of a downloaded bundle; what it names is left out."""
    return Problem(
        f"{what} leads out of the downloaded bundle, and is left out", where, _FIX, "error", ESCAPES
    )
