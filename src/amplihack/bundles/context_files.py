"""Resolve context references: from `namespace:path` to files, never out of the namespace."""

from __future__ import annotations

import posixpath

from amplihack.bundles.file_report import place_of
from amplihack.bundles.model import Bundle
from amplihack.bundles.ports import Files
from amplihack.bundles.sections.table import MODULE_SECTIONS
from amplihack.bundles.tree import Leaf, Pending, Removed, Table, Tree
from amplihack.bundles.uris import escapes
from amplihack.documents.suggest import closest
from amplihack.errors import Problem
from amplihack.records import Record, replace


class Resolved(Record):
    """A bundle whose references lead to paths as far as possible, and those that do not."""

    bundle: Bundle
    problems: tuple[Problem, ...] = ()


def resolve_context(bundle: Bundle) -> Resolved:
    """Turn every reference whose namespace is known into a path; existence is not checked."""
    problems: list[Problem] = []
    entries: dict[str, Tree] = {}
    for key, item in bundle.context.entries.items():
        entries[key] = item
        if isinstance(item, Leaf) and isinstance(item.value, Pending):
            path = _path(bundle, item.value.reference)
            if isinstance(path, str):
                entries[key] = Leaf(path, item.origin, item.line, item.column, item.over)
            else:
                problems.append(replace(path, where=place_of(item)))
    context = replace(bundle.context, entries=entries)
    return Resolved(bundle.with_sections({"context": context}), tuple(problems))


def _path(bundle: Bundle, reference: str) -> str | Problem:
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
        return Problem(what, None, "name a file inside the bundle", "error", "escapes")
    return posixpath.normpath(posixpath.join(root, inside.lstrip("/")))


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
            problems.append(Problem(what, place_of(item), "put the file into the bundle", "error", "escapes"))
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


def is_within(path: str, root: str) -> bool:
    """Tell whether a tidy absolute path is a directory or something below it."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def expands_mentions(bundle: Bundle) -> bool:
    """Tell whether mentions inside context files are followed; `context: {expand: false}` says no."""
    options = bundle.extra.get("context")
    expand = options.get("expand") if isinstance(options, Table) else None
    return not (isinstance(expand, Leaf) and expand.value is False)


def repair_sources(bundle: Bundle, resource_root: str, files: Files) -> Resolved:
    """Repair sources of local modules that lie at the resource root instead of beside the declaring file."""
    problems: list[Problem] = []

    def repaired(table: Table) -> Table:
        return _repair(table, bundle.base_path or "", resource_root, files, problems)

    better = {name: repaired(bundle.section(name)) for name in MODULE_SECTIONS}
    return Resolved(bundle.with_sections(better), tuple(problems))


def _repair(table: Table, base: str, root: str, files: Files, problems: list[Problem]) -> Table:
    entries: dict[str, Tree] = {}
    for key, entry in table.entries.items():
        entries[key] = entry
        source = entry.get("source") if isinstance(entry, Table) else None
        if not isinstance(entry, Table) or not isinstance(source, Leaf):
            continue
        better = _elsewhere(source.value, base, root, files)
        if better is not None:
            entries[key] = replace(entry, entries={**entry.entries, "source": replace(source, value=better)})
            what = f"{source.value} does not exist; {better} is used"
            fix = f"write {posixpath.relpath(better, base)}"
            problems.append(Problem(what, place_of(source), fix, "warning", "source-elsewhere"))
    return replace(table, entries=entries)


def _elsewhere(source: object, base: str, root: str, files: Files) -> str | None:
    if not isinstance(source, str) or base in ("", root) or not is_within(source, base):
        return None
    other = posixpath.join(root, posixpath.relpath(source, base))
    return other if files.real(source) is None and files.real(other) is not None else None
