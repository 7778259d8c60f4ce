"""The `context` section: files whose text goes into the system prompt, by name."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from amplihack.bundles.file_report import (
    FileReport,
    as_items,
    as_table,
    is_absent,
    kind_of,
    text_keys,
    texts,
    without_at,
)
from amplihack.bundles.merge import merge_tables
from amplihack.bundles.sections.row import Costs, Row, row
from amplihack.bundles.tree import Items, Leaf, Pending, Removed, Table, Tree
from amplihack.records import replace


def decode_context(tree: Tree | None, report: FileReport, base: str | None) -> Table:
    """Read context names and what they stand for, in the order in which they were written."""
    if isinstance(tree, Items) or (isinstance(tree, Leaf) and isinstance(tree.value, str)):
        report.warn("context-shape", "`context` should be a mapping", tree, "put the list below `include:`")
        tree = Table({"include": tree}, tree.origin, tree.line, tree.column)
    table = text_keys(as_table(tree, "context", report), "context", report)
    entries: dict[str, Tree] = {}
    for key, item in table.entries.items():
        if key == "include":
            for leaf in texts(as_items(item, "context.include", report), "context.include", report):
                value = _value(leaf.value, base)
                entries[leaf.value] = Leaf(value, leaf.origin, leaf.line, leaf.column, leaf.over)
        elif isinstance(item, Removed):
            entries[key] = item
        elif isinstance(item, Leaf) and isinstance(item.value, str):
            leaf = without_at(item, f"context.{key}", report)
            entries[key] = replace(leaf, value=_named(leaf.value, base))
        elif key != "expand" and not is_absent(item):
            what = f"`context.{key}` has no effect: only `include` takes a list of files"
            fix = f"rename `{key}` to `include`"
            if not isinstance(item, Items):
                what, fix = (
                    f"`context.{key}` should be a path, got {kind_of(item)}",
                    "write the path of a file",
                )
            report.warn("context-key", what, item, fix)
        elif key != "expand":
            what = f"`context.{key}` names no file"
            report.warn("context-key", what, table, "write the path of a file behind it, or remove it")
    return replace(table, entries=entries)


def _value(reference: str, base: str | None) -> str | Pending:
    if ":" in reference or base is None or is_home_path(reference):
        return Pending(reference)
    return construct_context_path(base, reference)


def _named(path: str, base: str | None) -> str | Pending:
    """Return what a name of its own stands for: a path from the bundle, or an absolute one."""
    if is_home_path(path):
        return Pending(path)
    return path if path.startswith("/") else construct_context_path(base or "", path)


def is_home_path(reference: str) -> bool:
    """Tell whether a reference starts at somebody's home."""
    return reference.startswith("~")


def construct_context_path(base: str, name: str) -> str:
    """Return the path of a context file in a bundle; nothing is put in front of the name."""
    inside = name.lstrip("/")
    return posixpath.normpath(posixpath.join(base, inside)) if inside else base


def merge_context(tables: Iterable[Table]) -> Table:
    """Merge context files by names that no other bundle uses."""
    return merge_tables(named_context(table) for table in tables)


def named_context(table: Table) -> Table:
    """Return context under the names `<bundle>:<name>`."""
    if all(":" in key for key in table.entries):
        return table
    renamed = {_context_name(key, item): item for key, item in table.entries.items()}
    return replace(table, entries=renamed)


def _context_name(key: str, item: Tree) -> str:
    """Name a file by who wrote the entry, not by the composition that it has come to be part of."""
    return key if ":" in key or not item.origin.bundle else f"{item.origin.bundle}:{key}"


def context_rows(section: str, table: Table, costs: Costs) -> Iterator[Row]:
    """Show files with their paths and costs, then references that lead nowhere yet."""
    pending: list[Row] = []
    for name, leaf in table:
        if isinstance(leaf, Leaf) and isinstance(leaf.value, str):
            yield row(section, name, leaf, leaf.value, costs.get(name, 0))
        elif isinstance(leaf, Leaf) and isinstance(leaf.value, Pending):
            pending.append(row(section, name, leaf, leaf.value.reference))
    yield from pending
