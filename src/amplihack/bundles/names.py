"""Find the bundle that a name means: one of this load, of settings, of earlier loads, of a folder, …"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping

from amplihack.bundles.includes import BUNDLE_FILES
from amplihack.bundles.ports import Namespace, Texts
from amplihack.bundles.uris import is_same_place, shown
from amplihack.documents.suggest import closest
from amplihack.records import Record, field

WELL_KNOWN: Mapping[str, str] = {
    "foundation": "git+https://github.com/microsoft/amplifier-foundation@main",
    "recipes": "git+https://github.com/microsoft/amplifier-bundle-recipes@main",
}
_SUFFIXES = (".yaml", ".yml", ".md")
_PATTERNS = (*("{}/" + name for name in BUNDLE_FILES), *("{}" + suffix for suffix in _SUFFIXES))


class KnownName(Record):
    """A name, where it leads, and who says so."""

    name: str
    uri: str
    source: str


class KnownNames(Record, kw_only=True):
    """The names that are known before a load begins. Looks into `folders` through `files`."""

    files: Texts = field(repr=False)
    added: Mapping[str, str] = field(default_factory=dict)  # by settings
    registered: Mapping[str, str] = field(default_factory=dict)  # by earlier loads, or by a program
    folders: tuple[str, ...] = ()
    well_known: Mapping[str, str] = field(default_factory=dict)

    def lookup(self, name: str) -> KnownName | None:
        """Look among added names, then registered ones, then folders, then well-known ones."""
        if name in self.added:
            return KnownName(name, self.added[name], "settings")
        if name in self.registered:
            return KnownName(name, self.registered[name], "registry")
        for folder in self.folders:
            for pattern in _PATTERNS if name not in ("", ".", "..") else ():
                path = posixpath.join(folder, pattern.format(name))
                if self.files.is_file(path):
                    return KnownName(name, f"file://{path}", folder)
        return KnownName(name, self.well_known[name], "well-known") if name in self.well_known else None

    def every(self) -> tuple[KnownName, ...]:
        """Return all names, each with what it leads to first."""
        in_folders = {name for folder in self.folders for name in self._names_in(folder)}
        names = {*self.added, *self.registered, *in_folders, *self.well_known}
        return tuple(known for name in sorted(names) if (known := self.lookup(name)))

    def suggestion(self, source: str, others: Iterable[str] = ()) -> str:
        """Return the known name that was probably meant, as a question; empty when there is none."""
        name, colon, path = source.partition(":")
        meant = closest(name, {*(known.name for known in self.every()), *others})
        return f"did you mean {f'{meant}{colon}{path}'!r}?" if meant and meant != name else ""

    def _names_in(self, folder: str) -> list[str]:
        """Return the names of the bundles in a folder; one that may not be looked at has none."""
        inside = self.files.list(folder)
        directories = [
            name
            for name in inside.directories
            if any(self.files.is_file(f"{folder}/{name}/{file}") for file in BUNDLE_FILES)
        ]
        files = [posixpath.splitext(name) for name in inside.files if self.files.is_file(f"{folder}/{name}")]
        return [*directories, *(stem for stem, suffix in files if suffix in _SUFFIXES)]


class NameTable(Record, frozen=False):
    """Every name of one load. A bundle that is part of the load keeps its name, whatever else has it.

    That is why a name is first looked for among what is loaded (`wide` off), and elsewhere only when nothing
    is left that could still bring it: else a name that an earlier load has registered would change this one.
    `redirector` may give another address for a source.
    """

    known: KnownNames
    redirector: Callable[[str], str | None] | None = None
    wide: bool = True
    _learnt: dict[str, Namespace] = field(default_factory=dict)
    _bundles: dict[str, str] = field(default_factory=dict)

    def redirect(self, source: str) -> str | None:
        """Return another address to use for a source, or None."""
        return self.redirector(source) if self.redirector is not None else None

    def namespace(self, name: str) -> Namespace | None:
        """Return the namespace of a name, fetched or not; None for a name that nobody knows."""
        if name in self._learnt:
            return self._learnt[name]
        known = self.known.lookup(name) if self.wide else None
        return Namespace(known.uri) if known else None

    def bundle(self, name: str) -> str | None:
        """Return the address of the bundle of that name, if it is part of this load."""
        return self._bundles.get(name)

    def elsewhere(self, name: str, uri: str) -> str:
        """Return what a name leads to outside of this load, empty if that is the same as an address."""
        known = self.known.lookup(name)
        if known is None or is_same_place(self.known.well_known.get(name, known.uri), uri):
            return ""
        return "" if is_same_place(known.uri, uri) else shown(known.uri)

    def suggestion(self, source: str) -> str:
        """Return the name that was probably meant, of this load or any other; empty when there is none."""
        return self.known.suggestion(source, self._learnt)

    def learn(self, name: str, namespace: Namespace, bundle: str | None = None) -> Namespace | None:
        """Make a namespace known; the first to claim a name keeps it, and is returned to the second."""
        before = self._learnt.setdefault(name, namespace)
        if before.root != namespace.root:
            return before
        if bundle is not None:
            self._bundles.setdefault(name, bundle)
        return None
