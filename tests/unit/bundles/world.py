"""A small world in memory: files, links and names, for questions that bundles ask."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import dedent
from typing import Any

from amplihack.bundles.decode import DecodedBundle, decode_bundle
from amplihack.bundles.gathered_mentions import text_of
from amplihack.bundles.model import Bundle
from amplihack.bundles.ports import DirectoryListing, FileText, Namespace, Unreadable
from amplihack.bundles.sections.table import SECTIONS


@dataclass
class World:
    """Files by absolute path; `links` lead from one path to another."""

    files: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    secret: set[str] = field(default_factory=set)
    reads: list[str] = field(default_factory=list)

    def real(self, path: str) -> str | None:
        path = posixpath.normpath(path)
        for link, target in self.links.items():
            if path == link or path.startswith(f"{link}/"):
                path = target + path[len(link) :]
        return path if path in self.files or self.is_dir(path) else None

    def is_dir(self, path: str) -> bool:
        return any(each.startswith(path.rstrip("/") + "/") for each in (*self.files, *self.links))

    def is_file(self, path: str) -> bool:
        real = self.real(path)
        return real is not None and real in self.files

    def read(self, path: str) -> FileText | Unreadable:
        self.reads.append(path)
        real = self.real(path)
        if real is None or real not in self.files:
            return "not_found"
        return "permission_error" if real in self.secret else text_of(self.files[real])

    def list(self, path: str) -> DirectoryListing:
        names = {each[len(path) + 1 :] for each in self.files if each.startswith(f"{path}/")}
        directories = {name.split("/")[0] for name in names if "/" in name}
        return DirectoryListing(tuple(directories), tuple(name for name in names if "/" not in name))


@dataclass
class KnownNames:
    known: Mapping[str, Namespace] = field(default_factory=dict)
    redirects: Mapping[str, str] = field(default_factory=dict)

    def redirect(self, source: str) -> str | None:
        return self.redirects.get(source)

    def namespace(self, name: str) -> Namespace | None:
        return self.known.get(name)


def decoded(text: str, file: str = "/w/bundle.yaml") -> DecodedBundle:
    return decode_bundle(dedent(text), file)


def bundle(text: str, file: str = "/w/bundle.yaml") -> Bundle:
    """A bundle whose file has nothing wrong with it."""
    found = decoded(text, file)
    assert [problem for problem in found.problems if problem.severity != "note"] == []
    return found.bundle


def plain(found: Bundle, name: str) -> Any:
    """A section as new plain data."""
    (section,) = (each for each in SECTIONS if each.name == name)
    return section.plain(found.section(name))


def codes(found: DecodedBundle) -> list[str]:
    return [problem.code for problem in found.problems]
