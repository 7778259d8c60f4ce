"""Resolve context references: from `namespace:path` to files, never out of the namespace."""

from __future__ import annotations

import posixpath

from amplihack.bundles.file_report import place_of
from amplihack.bundles.model import Bundle
from amplihack.bundles.ports import Files
from amplihack.bundles.reach import ESCAPES, is_within, refusal
from amplihack.bundles.sections.context import is_home_path
from amplihack.bundles.tree import Leaf, Pending, Removed, Table, Tree
from amplihack.bundles.uris import escapes
from amplihack.documents.suggest import closest
from amplihack.errors import Problem
from amplihack.records import Record, replace


class Resolved(Record):
    """A bundle whose references lead to paths as far as possible, and those that do not."""

    bundle: Bundle
    problems: tuple[Problem, ...] = ()


def resolve_context(bundle: Bundle, *, home: str | None = None) -> Resolved:
    """Turn every reference whose namespace is known into a path; existence is not checked.

    `home` is where `~` leads; without it such references stay as they are.
    """
    problems: list[Problem] = []
    entries: dict[str, Tree] = {}
    for key, item in bundle.context.entries.items():
        entries[key] = item
        if isinstance(item, Leaf) and isinstance(item.value, Pending):
            path = _path(bundle, item.value.reference, home)
            if isinstance(path, str):
                entries[key] = Leaf(path, item.origin, item.line, item.column, item.over)
            elif path is not None:
                problems.append(replace(path, where=place_of(item)))
    context = replace(bundle.context, entries=entries)
    return Resolved(bundle.with_sections({"context": context}), tuple(problems))


def _path(bundle: Bundle, reference: str, home: str | None) -> str | Problem | None:
    if is_home_path(reference):
        return _home_path(reference, home)
    namespace, colon, path = reference.partition(":")
    root = namespace_path(bundle, namespace) if colon else bundle.base_path
    inside = path if colon else reference
    if root is None:
        meant = closest(namespace, {*bundle.source_base_paths, bundle.name} - {""})
        fix = f"did you mean {meant}:{path}?" if meant else "include a bundle of that name"
        what = f"context {reference!r}: no bundle is called {namespace!r}"
        return Problem(what, None, fix, "warning", "unknown-namespace")
    if escapes(inside):
        what = f"context {reference!r} leads out of {namespace!r}"
        return Problem(what, None, "name a file inside the bundle", "error", ESCAPES)
    return posixpath.normpath(posixpath.join(root, inside.lstrip("/")))


def _home_path(reference: str, home: str | None) -> str | Problem | None:
    if reference != "~" and not reference.startswith("~/"):
        what = f"context {reference!r}: only your own home can be named"
        return Problem(what, None, "write ~/path, or an absolute path", "warning", "missing-context")
    return posixpath.normpath(posixpath.join(home, reference[2:])) if home is not None else None


def keep_reachable(bundle: Bundle, files: Files) -> Resolved:
    """Take out context that leads out of a downloaded bundle; the user's own may have absolute paths.

    A path that starts with / means a file in the bundle, as it always did, or else that very file.
    """
    problems: list[Problem] = []
    changed: dict[str, Tree] = {}
    for name, item in bundle.context.entries.items():
        path = _meant_path(name, item, files)
        if path is None:
            continue
        if _leads_out(bundle, item, path, files):
            problems.append(refusal(f"context {name!r}", place_of(item)))
            changed[name] = Removed(item.origin, item.line, item.column, (item,))
        elif isinstance(item, Leaf) and isinstance(item.value, str) and path != item.value:
            changed[name] = replace(item, value=path)
    if not changed:
        return Resolved(bundle)
    context = replace(bundle.context, entries={**bundle.context.entries, **changed})
    return Resolved(bundle.with_sections({"context": context}), tuple(problems))


def _meant_path(name: str, item: Tree, files: Files) -> str | None:
    """Return the path of a context entry, from / or ~ where it was so written; None for a reference."""
    path = _said_path(item)
    if path is None or not _is_absolute(name) or files.real(path) is not None:
        return path
    absolute = name[name.index("/") :]
    return absolute if files.real(absolute) is not None else path


def _said_path(item: Tree) -> str | None:
    """Return the path of a context entry, resolved or starting at a home; None for what is no path yet."""
    if not isinstance(item, Leaf):
        return None
    if isinstance(item.value, Pending):
        return item.value.reference if is_home_path(item.value.reference) else None
    return item.value if isinstance(item.value, str) else None


def _leads_out(bundle: Bundle, item: Tree, path: str, files: Files) -> bool:
    if is_home_path(path):
        return bundle.reach.source_of(item.origin.file) is not None
    return not bundle.reach.allows(item.origin.file, path, files)


def _is_absolute(name: str) -> bool:
    """Tell whether a context name was written as an absolute path, in front of which a bundle may stand."""
    return name.partition(":")[2].startswith("/") or name.startswith("/")


def check_context(bundle: Bundle, files: Files) -> Resolved:
    """Keep context that lies, links followed, where its namespace does; report the rest.

    A file that is missing stays declared, since it may appear; one that lies elsewhere is taken out.
    """
    problems: list[Problem] = []
    entries = dict(bundle.context.entries)
    for name, path in bundle.resolved_context.items():
        item = entries[name]
        root = namespace_path(bundle, name.partition(":")[0])
        real, real_root = files.real(path), files.real(root) if root else None
        if real is None:
            what, fix = f"context {name!r}: {path} does not exist", "paths start at the bundle's directory"
            problems.append(Problem(what, place_of(item), fix, "warning", "missing-context"))
        elif root and real_root and is_within(path, root) and not is_within(real, real_root):
            what = f"context {name!r}: {path} is a link that leads out of the bundle"
            problems.append(Problem(what, place_of(item), "put the file into the bundle", "error", ESCAPES))
            entries[name] = Removed(item.origin, item.line, item.column, (item,))
    return Resolved(
        bundle.with_sections({"context": replace(bundle.context, entries=entries)}), tuple(problems)
    )


def namespace_path(bundle: Bundle, namespace: str) -> str | None:
    """Return where the files of a namespace lie, for this bundle."""
    own = bundle.base_path if namespace == bundle.name else None
    return bundle.source_base_paths.get(namespace, own)


def context_path(bundle: Bundle, name: str, files: Files) -> str | None:
    """Find the file of a context name: declared, declared with our namespace, or a path in the bundle."""
    declared = bundle.resolved_context
    for key in (name, f"{bundle.name}:{name}"):
        if key in declared:
            return declared[key]
    if bundle.base_path is None or escapes(name):
        return None
    return contained(posixpath.join(bundle.base_path, name.lstrip("/")), bundle.base_path, files)


def contained(path: str, root: str, files: Files) -> str | None:
    """Return the real path, if something is there and it lies inside the real root."""
    real, real_root = files.real(path), files.real(root)
    if real is None or real_root is None:
        return None
    return real if is_within(real, real_root) else None


def expands_mentions(bundle: Bundle) -> bool:
    """Tell whether mentions inside context files are followed; `context: {expand: false}` says no."""
    options = bundle.extra.get("context")
    expand = options.get("expand") if isinstance(options, Table) else None
    return not (isinstance(expand, Leaf) and expand.value is False)
