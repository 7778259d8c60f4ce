"""Read include directives, and say what one means: an address, a namespace to fetch first, or nothing."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Literal, TypeAlias

from amplihack.bundles.file_report import FileReport, as_items, mistyped_keys, place_of, texts
from amplihack.bundles.model import Include
from amplihack.bundles.ports import Files, Names, Namespace
from amplihack.bundles.schemes import is_address
from amplihack.bundles.tree import Items, Table, Tree
from amplihack.bundles.uris import escapes, file_uri, parse_uri, print_uri, split_namespace, without_fragment
from amplihack.records import Record

BUNDLE_FILES = ("bundle.md", "bundle.yaml", "bundle.yml")
_CANDIDATES = ("", ".yaml", ".yml", ".md", *(f"/{name}" for name in BUNDLE_FILES))
_SUFFIXES = (".md", ".yaml", ".yml")
Reason: TypeAlias = Literal["unknown-name", "unknown-namespace", "missing-path", "escapes"]


class Target(Record):
    """An include that leads somewhere."""

    uri: str


class Fetch(Record):
    """The namespace must be fetched before anything in it can be named."""

    namespace: str
    uri: str


class UnresolvedInclude(Record):
    """An include that leads nowhere, and why."""

    reason: Reason
    what: str
    fix: str = ""


Resolution: TypeAlias = Target | Fetch | UnresolvedInclude


def decode_includes(tree: Tree | None, report: FileReport) -> tuple[Include, ...]:
    """Read the directives that can be followed; the others are reported."""
    found: list[Include] = []
    for index, item in enumerate(as_items(tree, "includes", report).items):
        if isinstance(item, Table):
            found.extend(_mapping(item, index, report))
            continue
        listed = Items([item], item.origin, item.line, item.column)
        found.extend(
            Include(leaf.value.strip(), place_of(leaf, report.lines), mapping=False)
            for leaf in texts(listed, "includes", report)
        )
    return tuple(found)


def _mapping(item: Table, index: int, report: FileReport) -> Iterator[Include]:
    source = item.get("bundle")
    if source is None:
        keys = ", ".join(str(key) for key in item.entries) or "nothing"
        what = f"`includes[{index}]` has {keys} but no `bundle`: it includes nothing"
        fix = f"write `- bundle: {item.text(next(iter(item.entries), '')) or '…'}`"
        report.warn("include-shape", what, item, fix)
        return
    for leaf in texts(Items([source]), f"includes[{index}].bundle", report):
        yield Include(leaf.value.strip(), place_of(leaf, report.lines))
    mistyped_keys(item, ("bundle",), f"`includes[{index}]`:", report)


def resolve_include(source: str, directory: str | None, names: Names, files: Files) -> Resolution:
    """Say what one include directive of a bundle in `directory` means."""
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
        return UnresolvedInclude(
            "unknown-name",
            f"no bundle is called {source!r}",
            "register it, or include it by its address or path",
        )
    return Target(known.uri)


def looks_like_path(source: str) -> bool:
    """Tell whether an include can only be meant as a path."""
    return source.startswith((".", "/", "~")) or "/" in source or source.endswith(_SUFFIXES)


def _path(source: str, directory: str | None, files: Files) -> Resolution:
    """Resolve a path, which starts at the including file's directory, wherever the process runs."""
    parsed = parse_uri(source if source.startswith((".", "/", "~")) else f"./{source}")
    if parsed.path.startswith("~"):
        return Target(source)  # whose home that is, only the machine knows
    path = posixpath.normpath(posixpath.join(directory or "", parsed.path))
    found = path if parsed.subpath else first_bundle_file(path, files)
    if found is None:
        return UnresolvedInclude(
            "missing-path", f"there is no bundle at {path}", "check the path of the include"
        )
    return Target(file_uri(found, parsed.subpath))


def _in_namespace(name: str, path: str, names: Names, files: Files) -> Resolution:
    known = names.namespace(name)
    if known is None:
        fix = "a namespace is the `bundle.name` of a bundle, not the name of its repository or directory"
        return UnresolvedInclude("unknown-namespace", f"no bundle is called {name!r} (in {name}:{path})", fix)
    if escapes(path):
        return UnresolvedInclude(
            "escapes", f"{name}:{path} leads out of {name}", "name a file inside the bundle"
        )
    if known.root is None:
        return Fetch(name, known.uri)
    found = first_bundle_file(posixpath.join(known.root, path.lstrip("/")), files)
    if found is None:
        what = f"the bundle {name!r} has no {path!r} (looked in {known.root})"
        return UnresolvedInclude("missing-path", what, "check the path; it starts at the bundle's directory")
    return Target(_address(known, found))


def _address(known: Namespace, found: str) -> str:
    """Name a file of a git checkout by its repository, so that its address is the same on every machine."""
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
    """Return the file that a path without suffix means; a directory needs a bundle file in it."""
    return next((path + suffix for suffix in _CANDIDATES if files.is_file(path + suffix)), None)
