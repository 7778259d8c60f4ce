"""Includes as a graph: what a directive means, in which order to compose, and which edges close a circle."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from amplihack.bundles.ports import Files, Names, Namespace
from amplihack.bundles.schemes import is_address
from amplihack.bundles.uris import escapes, file_uri, parse_uri, print_uri, split_namespace, without_fragment

BUNDLE_FILES = ("bundle.md", "bundle.yaml", "bundle.yml")
_CANDIDATES = ("", ".yaml", ".yml", ".md", *(f"/{name}" for name in BUNDLE_FILES))
_SUFFIXES = (".md", ".yaml", ".yml")
Reason: TypeAlias = Literal["unknown-name", "unknown-namespace", "missing-path", "escapes"]


@dataclass(frozen=True, slots=True)
class Target:
    """An include that leads somewhere."""

    uri: str


@dataclass(frozen=True, slots=True)
class Fetch:
    """The namespace must be fetched before anything in it can be named."""

    namespace: str
    uri: str


@dataclass(frozen=True, slots=True)
class Unresolved:
    """An include that leads nowhere, and why."""

    reason: Reason
    what: str
    fix: str = ""


Resolution: TypeAlias = Target | Fetch | Unresolved


def resolve_include(source: str, directory: str | None, names: Names, files: Files) -> Resolution:
    """What one include directive of a bundle in `directory` means."""
    redirected = names.redirect(source)
    if redirected is not None:
        return Target(redirected)
    if is_address(source):
        return Target(source)
    parts = split_namespace(source)
    if parts is not None:
        return _in_namespace(*parts, names, files)
    if looks_like_path(source):
        return _path(source, directory, files)
    known = names.namespace(source)
    if known is None:
        return Unresolved(
            "unknown-name",
            f"no bundle is called {source!r}",
            "register it, or include it by its address or path",
        )
    return Target(known.uri)


def looks_like_path(source: str) -> bool:
    """Whether an include can only be meant as a path."""
    return source.startswith((".", "/", "~")) or "/" in source or source.endswith(_SUFFIXES)


def _path(source: str, directory: str | None, files: Files) -> Resolution:
    """A path starts at the including file's directory, wherever the process runs."""
    parsed = parse_uri(source if source.startswith((".", "/", "~")) else f"./{source}")
    if parsed.path.startswith("~"):
        return Target(source)  # whose home that is, only the machine knows
    path = posixpath.normpath(posixpath.join(directory or "", parsed.path))
    found = path if parsed.subpath else first_bundle_file(path, files)
    if found is None:
        return Unresolved("missing-path", f"there is no bundle at {path}", "check the path of the include")
    return Target(file_uri(found, parsed.subpath))


def _in_namespace(name: str, path: str, names: Names, files: Files) -> Resolution:
    known = names.namespace(name)
    if known is None:
        fix = "a namespace is the `bundle.name` of a bundle, not the name of its repository or directory"
        return Unresolved("unknown-namespace", f"no bundle is called {name!r} (in {name}:{path})", fix)
    if escapes(path):
        return Unresolved("escapes", f"{name}:{path} leads out of {name}", "name a file inside the bundle")
    if known.root is None:
        return Fetch(name, known.uri)
    found = first_bundle_file(posixpath.join(known.root, path.lstrip("/")), files)
    if found is None:
        what = f"the bundle {name!r} has no {path!r} (looked in {known.root})"
        return Unresolved("missing-path", what, "check the path; it starts at the bundle's directory")
    return Target(_address(known, found))


def _address(known: Namespace, found: str) -> str:
    """A file of a git checkout is named by the repository, so that it stays the same on every machine."""
    parsed = parse_uri(known.uri)
    if not parsed.is_git or known.root is None:
        return file_uri(found)
    inside = posixpath.relpath(found, known.root)
    above = parsed.subpath.strip("/")
    if above.endswith(_SUFFIXES):
        above = posixpath.dirname(above)
    whole = parse_uri(without_fragment(known.uri))
    return f"{print_uri(whole)}#subdirectory={posixpath.normpath(posixpath.join(above, inside))}"


def first_bundle_file(path: str, files: Files) -> str | None:
    """The file that a path without suffix means; a directory counts only when a bundle file is in it."""
    return next((path + suffix for suffix in _CANDIDATES if files.is_file(path + suffix)), None)


@dataclass(frozen=True, slots=True)
class Circle:
    """An include that was left out because it leads back: the chain in load order, ending where it began."""

    chain: tuple[str, ...]

    @property
    def what(self) -> str:
        return f"Circular Include Skipped: {' -> '.join(self.chain)}"


@dataclass(frozen=True, slots=True)
class Order:
    """How to compose a graph: each bundle after all it includes, and once, however often it is included."""

    bundles: tuple[str, ...]
    includes: Mapping[str, tuple[str, ...]]
    circles: tuple[Circle, ...] = ()


def compose_order(root: str, includes: Mapping[str, Sequence[str]]) -> Order:
    """The order for everything that `root` reaches. Circles are cut where they close, so nothing ever waits
    for itself; includes are followed as declared, so the same graph is always cut at the same place.
    """
    done: dict[str, tuple[str, ...]] = {}
    kept: dict[str, list[str]] = {root: []}
    circles: list[Circle] = []
    stack = [(root, iter(includes.get(root, ())))]
    while stack:
        current, remaining = stack[-1]
        target = next(remaining, None)
        if target is None:
            done[current] = tuple(kept[current])
            stack.pop()
        elif target in done:
            kept[current].append(target)
        elif target in kept:
            path = [name for name, _ in stack]
            circles.append(Circle((*path[path.index(target) :], target)))
        else:
            kept[current].append(target)
            kept[target] = []
            stack.append((target, iter(includes.get(target, ()))))
    return Order(tuple(done), done, tuple(circles))


def include_chain(root: str, target: str, includes: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The shortest way from the root to a bundle, both included; empty when there is none."""
    before: dict[str, str] = {root: ""}
    level = [root]
    while level and target not in before:
        below: list[str] = []
        for current in level:
            for each in includes.get(current, ()):
                if each not in before:
                    before[each] = current
                    below.append(each)
        level = below
    chain: list[str] = []
    while target:
        chain.append(target)
        target = before.get(target, "")
    return tuple(reversed(chain)) if chain and chain[-1] == root else ()
