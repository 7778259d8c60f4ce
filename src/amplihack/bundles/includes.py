"""Read include directives, and say what one means: an address, a namespace to fetch first, or nothing."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Literal, TypeAlias

from amplihack.bundles.file_report import FileReport, as_items, place_of, text
from amplihack.bundles.meant_address import meant_address, tell_ignored_part
from amplihack.bundles.model import Include
from amplihack.bundles.near_paths import nearest_path
from amplihack.bundles.ports import Names, Namespace, Texts
from amplihack.bundles.reach import is_within, may_name
from amplihack.bundles.schemes import is_address
from amplihack.bundles.tree import Leaf, Table, Tree
from amplihack.bundles.uris import address_inside, escapes, file_uri, parse_uri, shown, split_namespace
from amplihack.records import Record, replace

BUNDLE_FILES = ("bundle.md", "bundle.yaml", "bundle.yml")
_CANDIDATES = ("", ".yaml", ".yml", ".md", *(f"/{name}" for name in BUNDLE_FILES))
_SUFFIXES = (".md", ".yaml", ".yml")
_SHAPE = "include-shape"
_BEHIND_ADDRESS = "write it into the address: git+https://host/repository@v1.2"
_INSIDE_ADDRESS = "write it into the address: git+https://host/repository@main#subdirectory=path"
_EVERY = "every include counts; one that is not wanted everywhere belongs into a bundle of its own"
_OTHER_KEYS = {  # what people expect an include to have, and how it is said
    **dict.fromkeys(("ref", "branch", "tag", "rev", "commit", "version"), _BEHIND_ADDRESS),
    **dict.fromkeys(("subdirectory", "subdir", "directory", "path"), _INSIDE_ADDRESS),
    **dict.fromkeys(("optional", "required", "when", "if", "enabled", "condition"), _EVERY),
    "config": "configure its modules in this bundle: the same module is one entry, merged",
}
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


class Within(Record):
    """The downloaded source that an include stands in, which a path must not leave."""

    root: str
    uri: str = ""  # empty for a source that was named by its place on the disk
    networked: bool = False


def decode_includes(tree: Tree | None, report: FileReport) -> tuple[Include, ...]:
    """Read the directives that can be followed; the others are reported."""
    found: list[Include] = []
    for index, item in enumerate(as_items(tree, "includes", report).items):
        if isinstance(item, Table):
            found.extend(_mapping(item, index, report))
            continue
        found.extend(
            _include(leaf, report, mapping=False) for leaf in text(item, f"includes[{index}]", report, _SHAPE)
        )
    return tuple(found)


def _include(leaf: Leaf, report: FileReport, *, mapping: bool) -> Include:
    source = leaf.value.strip()
    tell_ignored_part(source, leaf, report)
    return Include(source, place_of(leaf, report.lines), mapping)


def _mapping(item: Table, index: int, report: FileReport) -> Iterator[Include]:
    source = item.get("bundle")
    if source is None:
        keys = ", ".join(str(key) for key in item.entries) or "nothing"
        what = f"`includes[{index}]` has {keys} but no `bundle`: it includes nothing"
        fix = f"write `- bundle: {item.text(next(iter(item.entries), '')) or '…'}`"
        report.warn(_SHAPE, what, item, fix)
        return
    for leaf in text(source, f"includes[{index}].bundle", report, _SHAPE):
        yield _include(leaf, report, mapping=True)
    for key, value in item.entries.items():
        if key != "bundle" and not str(key).startswith("x-"):
            fix = _OTHER_KEYS.get(str(key), "remove it: an include says only which bundle")
            report.warn("include-key", f"`includes[{index}]`: `{key}` has no effect", value, fix)


def resolve_include(
    source: str, directory: str | None, names: Names, files: Texts, *, within: Within | None = None
) -> Resolution:
    """Say what one include directive of a bundle in `directory` means; `within` if that was downloaded."""
    redirected = names.redirect(source)
    if redirected is not None:
        return Target(redirected)
    if is_address(source):
        is_allowed = within is None or may_name(source, networked=within.networked)
        return Target(source) if is_allowed else _leads_out(source)
    parts = split_namespace(source)
    if parts is not None:
        return _or_meant(source, _in_namespace(*parts, names, files))
    if looks_like_path(source):
        return _or_meant(source, _path(source, directory, files, within))
    known = names.namespace(source)
    if known is None:
        return UnresolvedInclude(
            "unknown-name",
            f"no bundle is called {source!r}",
            "give its address or path, or a name below `bundle.added` in settings;"
            " `amplihack bundle list` shows the names",
        )
    return Target(known.uri)


def _or_meant(source: str, found: Resolution) -> Resolution:
    """Suggest the repository that an include which leads nowhere looks like."""
    meant = meant_address(source) if isinstance(found, UnresolvedInclude) else ""
    return replace(found, fix=f"did you mean {meant}?") if meant else found


def looks_like_path(source: str) -> bool:
    """Tell whether an include can only be meant as a path."""
    return source.startswith((".", "/", "~")) or "/" in source or source.endswith(_SUFFIXES)


def _path(source: str, directory: str | None, files: Texts, within: Within | None) -> Resolution:
    """Resolve a path, which starts at the including file's directory, wherever the process runs."""
    parsed = parse_uri(source if source.startswith((".", "/", "~")) else f"./{source}")
    if parsed.path.startswith("~"):
        # Whose home that is, only the machine knows.
        return Target(source) if within is None else _leads_out(source)
    path = posixpath.normpath(posixpath.join(directory or "", parsed.path))
    if within is not None:
        return _path_within(source, posixpath.normpath(posixpath.join(path, parsed.subpath)), files, within)
    found = path if parsed.subpath else first_bundle_file(path, files)
    return (
        Target(file_uri(found, parsed.subpath))
        if found is not None
        else _no_bundle_at(path, directory, files)
    )


def _path_within(source: str, path: str, files: Texts, within: Within) -> Resolution:
    """Resolve a path in a downloaded source, and name it by its source, as it is on every machine."""
    if not is_within(path, within.root):
        return _leads_out(source)
    found = first_bundle_file(path, files)
    if found is None:
        return _no_bundle_at(path, within.root, files)
    if not is_within(files.real(found) or found, within.root):
        return _leads_out(source)
    inside = posixpath.relpath(found, within.root)
    return Target(address_inside(within.uri, inside) if within.uri else file_uri(found))


def _no_bundle_at(path: str, directory: str | None, files: Texts) -> UnresolvedInclude:
    near = nearest_bundle(path, files)
    fix = "check the path"
    if near is not None:
        inside = posixpath.relpath(near, directory or "/")
        fix = f"did you mean {inside if inside.startswith('../') else f'./{inside}'}?"
    return UnresolvedInclude("missing-path", f"there is no bundle at {path}", fix)


def nearest_bundle(path: str, files: Texts) -> str | None:
    """Return the bundle file that was probably meant by a path that leads nowhere."""
    return nearest_path(path, files, lambda near: first_bundle_file(near, files))


def _leads_out(source: str) -> UnresolvedInclude:
    return UnresolvedInclude(
        "escapes",
        f"{shown(source)} leads out of the downloaded bundle that includes it",
        "a downloaded bundle may include what lies in it, bundles by their names, and other downloads",
    )


def _in_namespace(name: str, path: str, names: Names, files: Texts) -> Resolution:
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
        near = nearest_bundle(posixpath.normpath(posixpath.join(known.root, path.lstrip("/"))), files)
        meant = posixpath.relpath(near, known.root) if near else ""
        fix = (
            f"did you mean {name}:{meant}?"
            if meant
            else "check the path; it starts at the bundle's directory"
        )
        return UnresolvedInclude("missing-path", what, fix)
    return Target(_address(known, found))


def _address(known: Namespace, found: str) -> str:
    """Name a file of a downloaded source by that, so that its address is the same on every machine."""
    parsed = parse_uri(known.uri)
    if parsed.is_file or known.root is None:
        return file_uri(found)
    inside = posixpath.relpath(found, known.root)
    above = parsed.subpath.strip("/")
    if above.endswith(_SUFFIXES):
        above = posixpath.dirname(above)
    return address_inside(known.uri, posixpath.normpath(posixpath.join(above, inside)))


def first_bundle_file(path: str, files: Texts) -> str | None:
    """Return the file that a path without suffix means; a directory needs a bundle file in it."""
    return next((path + suffix for suffix in _CANDIDATES if files.is_file(path + suffix)), None)
