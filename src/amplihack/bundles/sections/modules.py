"""Sections that list modules: entries of `module`, `source` and `config`, keyed by id or module name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from amplihack.bundles.file_report import (
    FileReport,
    anchored,
    as_table,
    is_absent,
    is_text,
    kind_of,
    place_of,
)
from amplihack.bundles.merge import merge
from amplihack.bundles.sections.module_keys import check_entry, module_fix, wrong_parts
from amplihack.bundles.sections.row import Costs, Row, row
from amplihack.bundles.tree import Items, Leaf, Removed, Table, Tree, to_plain
from amplihack.errors import Problem
from amplihack.records import replace

_EXAMPLES = {
    "providers": "provider-anthropic",
    "tools": "tool-bash",
    "hooks": "hooks-logging",
}


def decode_modules(tree: Tree | None, report: FileReport, base: str | None, *, section: str) -> Table:
    """Read a list of module entries into a table by id, in order."""
    if tree is None or isinstance(tree, Removed) or is_absent(tree):
        return as_table(tree, section, report)
    if not isinstance(tree, Items):
        what = f"expected list, got {kind_of(tree)}: {to_plain(tree)!r}"
        fix = "start each entry on a line of its own with `- module: …`"
        report.error("module-list", _malformed(report, section, what, section), tree, fix)
        return Table()
    found = Table({}, tree.origin, tree.line, tree.column, fresh=tree.fresh)
    for index, item in enumerate(tree.items):
        _add_module(found, item, f"{section}[{index}]", report, base)
    return found


def _add_module(found: Table, item: Tree, at: str, report: FileReport, base: str | None) -> None:
    if report.bare_modules and isinstance(item, Leaf) and isinstance(item.value, str):
        item = Table({"module": item}, item.origin, item.line, item.column)
    if not isinstance(item, Table):
        what = f"expected dict, got {kind_of(item)}: {to_plain(item)!r}"
        name = item.value if isinstance(item, Leaf) and isinstance(item.value, str) else "…"
        told = _malformed(report, at, what, at.partition("[")[0])
        report.error("module-entry", told, item, f"write `- module: {name}`")
        return
    key = module_id(item)
    if not key:
        report_nameless(item, at, report)
        return
    entry = _entry(item, f"Bundle '{report.owner}': {at}", report, base)
    before = found.entries.get(key)
    if before is not None:
        _report_repeated(key, at, item, report)
    found.entries[key] = entry if before is None else merge(before, entry)


def report_nameless(entry: Table, at: str, report: FileReport) -> None:
    """Report an entry that names neither its module nor, by its id, another entry."""
    module = entry.get("module")
    lacks = "has no 'module'" if is_absent(module) or is_text(module) else "has a 'module' that is no text"
    report.warn("module-missing", f"Bundle '{report.owner}': {at} {lacks}", entry, module_fix(entry))


def module_id(entry: Table) -> str:
    """Return what makes two entries the same one: their id, or else their module."""
    for key in ("id", "instance_id", "module"):
        if name := entry.text(key).strip():
            return name
    return ""


def _report_repeated(key: str, at: str, item: Table, report: FileReport) -> None:
    """Report two entries of one id, which become one; for providers that is hardly ever meant."""
    what = f"Bundle '{report.owner}': {at} is a second entry for {key!r}; the two are merged"
    fix = "give each entry an `id:` of its own, or write one entry"
    if at.startswith("providers"):
        report.error("two-defaults", what, item, fix)
    else:
        report.warn("duplicate-module", what, item, fix)


def _malformed(report: FileReport, at: str, what: str, section: str) -> str:
    example = {"module": _EXAMPLES.get(section, "tool-bash"), "source": "git+https://..."}
    return f"Bundle '{report.owner}': {at} is malformed: {what}. Correct format: [{example}]"


def _entry(entry: Table, owner: str, report: FileReport, base: str | None) -> Tree:
    """Return one entry with its source anchored; `remove: true` makes it a removal."""
    removal = entry.get("remove")
    if isinstance(removal, Leaf) and removal.value is True:
        return Removed(entry.origin, entry.line, entry.column)
    if removal is not None and not is_absent(removal) and to_plain(removal) is not False:
        report.error(
            "module-remove", f"{owner} `remove` should be true or false", removal, "write `remove: true`"
        )
    check_entry(entry, owner, report)
    return with_anchored_source(entry, base)


def with_anchored_source(entry: Table, base: str | None) -> Table:
    """Return a module entry whose relative source starts at `base`."""
    return with_source(entry, lambda source: anchored(source, base))


def with_source(entry: Table, change: Callable[[str], str]) -> Table:
    """Return a module entry with its source changed; the same entry when that changes nothing."""
    source = entry.get("source")
    if not isinstance(source, Leaf) or not isinstance(source.value, str):
        return entry
    changed = change(source.value)
    if changed == source.value:
        return entry
    return replace(entry, entries={**entry.entries, "source": replace(source, value=changed)})


def check_modules(section: str, table: Table) -> Iterator[Problem]:
    """Report entries that name no module, or whose parts have the wrong type."""
    for index, (_, entry) in enumerate(table):
        at = f"{section}[{index}]"
        if not isinstance(entry, Table):
            what = f"{at} should be a mapping, got {kind_of(entry)}"
            yield Problem(what, place_of(entry), "write `- module: name`", code="module-entry")
            continue
        if not entry.text("module"):
            fix = "name the module that it configures"
            yield Problem(f"{at} has no 'module'", place_of(entry), fix, code="module-missing")
        yield from wrong_parts(entry, at)


def module_rows(section: str, table: Table, _costs: Costs) -> Iterator[Row]:
    """Show each module with its source."""
    for key, entry in table:
        yield row(section, key, entry, entry.text("source") if isinstance(entry, Table) else "")


def plain_list(table: Table) -> list[Any]:
    """Return the entries as a list, which is how files and mount plans hold them."""
    return list(to_plain(table).values())


def provider_list(plain: list[Any]) -> list[Any]:
    """Return providers as the kernel takes them: it calls the id of one among several `instance_id`."""
    return [
        {**entry, "instance_id": entry["id"]} if entry.get("id") and not entry.get("instance_id") else entry
        for entry in plain
    ]
