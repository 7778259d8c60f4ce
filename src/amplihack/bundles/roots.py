"""Tell root bundles from those below them: who establishes which namespace, and where it lies."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from amplihack.records import Record


class Root(Record):
    """A root bundle that was found above another one."""

    name: str
    directory: str
    namespace_root: str | None = None


class Standing(Record):
    """Whether a bundle is a root or belongs to one, and the namespaces that it makes known."""

    is_root: bool
    root_name: str | None
    source_base_paths: Mapping[str, str]


def root_directories(directory: str, source_root: str) -> tuple[str, ...]:
    """Return where the root of a bundle in `directory` may lie, nearest first, up to the source's root."""
    return directories_up(posixpath.dirname(directory.rstrip("/")), source_root)


def directories_up(directory: str, source_root: str) -> tuple[str, ...]:
    """Return a directory and those above it, up to the source's root; none if it is not in there."""
    found: list[str] = []
    top = source_root.rstrip("/") or "/"
    current = directory
    while current == top or current.startswith(top.rstrip("/") + "/"):
        found.append(current)
        if current in (top, "/"):
            break
        current = posixpath.dirname(current)
    return tuple(found)


def standing(name: str, directory: str, namespace_root: str | None, root: Root | None) -> Standing:
    """Place a bundle: below a root of another name it shares that namespace and adds its own."""
    paths: dict[str, str] = {}
    if root is not None and root.directory != directory and root.name:
        paths[root.name] = resource_root(root.directory, root.namespace_root)
        if name and name != root.name:
            paths[name] = resource_root(directory, namespace_root)
        return Standing(name == root.name, None if name == root.name else root.name, paths)
    if name:
        paths[name] = resource_root(directory, namespace_root)
    return Standing(True, None, paths)


def resource_root(directory: str, namespace_root: str | None) -> str:
    """Return the directory that holds the `agents/` and `context/` of a namespace."""
    return posixpath.normpath(posixpath.join(directory, namespace_root)) if namespace_root else directory
