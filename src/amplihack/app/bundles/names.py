"""Names that lead to bundles: what is part of this load, what settings add, what was loaded before, …"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from amplihack.bundles.graph import BUNDLE_FILES
from amplihack.bundles.ports import Namespace
from amplihack.bundles.settings import Settings, redirect_include
from amplihack.bundles.tree import Leaf

WELL_KNOWN: Mapping[str, str] = {
    "foundation": "git+https://github.com/microsoft/amplifier-foundation@main",
    "recipes": "git+https://github.com/microsoft/amplifier-bundle-recipes@main",
}
_SUFFIXES = (".yaml", ".yml", ".md")
_PATTERNS = (*("{}/" + name for name in BUNDLE_FILES), *("{}" + suffix for suffix in _SUFFIXES))


@dataclass(frozen=True, slots=True)
class Known:
    """A name, where it leads, and who says so."""

    name: str
    uri: str
    source: str


@dataclass(slots=True)
class NameTable:
    """Every name of one load. A bundle that is part of the load keeps its name, whatever else has it.

    That is why a name is first looked for among what is loaded (`wide` off), and elsewhere only when nothing
    is left that could still bring it: else a name that an earlier load has registered would change this one.
    """

    settings: Settings
    folders: tuple[Path, ...] = ()
    registered: Mapping[str, str] = field(default_factory=dict)
    wide: bool = True
    _learnt: dict[str, Namespace] = field(default_factory=dict)
    _bundles: dict[str, str] = field(default_factory=dict)

    def redirect(self, source: str) -> str | None:
        return redirect_include(source, self.settings)

    def namespace(self, name: str) -> Namespace | None:
        if name in self._learnt:
            return self._learnt[name]
        known = self.lookup(name) if self.wide else None
        return Namespace(known.uri) if known else None

    def bundle(self, name: str) -> str | None:
        """The address of the bundle of that name, if it is part of this load."""
        return self._bundles.get(name)

    def learn(self, name: str, namespace: Namespace, bundle: str | None = None) -> Namespace | None:
        """Makes a namespace known; the first to claim a name keeps it, and is returned to the second."""
        before = self._learnt.setdefault(name, namespace)
        if before.root != namespace.root:
            return before
        if bundle is not None:
            self._bundles.setdefault(name, bundle)
        return None

    def lookup(self, name: str) -> Known | None:
        """Added names, then registered ones, then folders, then well-known ones."""
        if name in (added := self._added()):
            return Known(name, added[name], "settings")
        if name in self.registered:
            return Known(name, self.registered[name], "registry")
        for folder in self.folders:
            for pattern in _PATTERNS if name not in ("", ".", "..") else ():
                path = folder / pattern.format(name)
                if path.is_file():
                    return Known(name, f"file://{path}", str(folder))
        return Known(name, WELL_KNOWN[name], "well-known") if name in WELL_KNOWN else None

    def every(self) -> tuple[Known, ...]:
        """All names, each with what it leads to first."""
        names = {*self._added(), *self.registered, *self._in_folders(), *WELL_KNOWN}
        return tuple(known for name in sorted(names) if (known := self.lookup(name)))

    def _added(self) -> dict[str, str]:
        return {
            name: item.value
            for name, item in self.settings.at("bundle", "added")
            if isinstance(item, Leaf) and isinstance(item.value, str)
        }

    def _in_folders(self) -> set[str]:
        return {name for folder in self.folders for name in _names_in(folder)}


def _names_in(folder: Path) -> list[str]:
    """Names of the bundles in a folder; one that is not there, or may not be looked at, has none."""
    try:
        with os.scandir(folder) as entries:
            return [name for entry in entries if (name := _name_of(Path(entry.path)))]
    except OSError:
        return []


def _name_of(entry: Path) -> str:
    if any((entry / name).is_file() for name in BUNDLE_FILES):
        return entry.name
    return entry.stem if entry.suffix in _SUFFIXES and entry.is_file() else ""
