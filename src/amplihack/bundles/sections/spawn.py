"""The `spawn` section: which tools the agents of a session get of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeGuard

from amplihack.bundles.file_report import FileReport, as_items, as_table, is_absent, text, unknown_keys
from amplihack.bundles.sections.agents import change_agent_modules
from amplihack.bundles.sections.module_keys import check_entry
from amplihack.bundles.sections.modules import module_id, report_nameless, with_anchored_source
from amplihack.bundles.tree import Items, Leaf, Table, Tree, to_plain
from amplihack.records import replace

SPAWN_LISTS = ("tools",)  # what `spawn` lists of modules: names, or whole entries
SPAWN_KEYS = ("tools", "exclude_tools", "max_depth")


def decode_spawn(tree: Tree | None, report: FileReport, base: str | None) -> Table:
    """Read the section; entries that name no module are told and left out."""
    table = as_table(tree, "spawn", report)
    unknown_keys(table, SPAWN_KEYS, "`spawn`:", report)
    _check_depth(table.get("max_depth"), report)
    lists: dict[str, Tree] = {
        key: _listed(item, f"spawn.{key}", read, report)
        for key, read in (("tools", _tool), ("exclude_tools", _name))
        if (item := table.get(key)) is not None and not is_absent(item)
    }
    return change_agent_modules(
        replace(table, entries={**table.entries, **lists}) if lists else table,
        lambda item: with_anchored_source(item, base) if isinstance(item, Table) else item,
        modules=SPAWN_LISTS,
    )


def _listed(
    tree: Tree, at: str, read: Callable[[Tree, str, FileReport], Iterator[Tree]], report: FileReport
) -> Items:
    """Return a list with each of its entries read."""
    items = as_items(tree, at, report)
    kept = [found for index, item in enumerate(items.items) for found in read(item, f"{at}[{index}]", report)]
    return items if kept == items.items else replace(items, items=kept)


def _tool(item: Tree, at: str, report: FileReport) -> Iterator[Tree]:
    """Return the name of a module or a whole entry."""
    if not isinstance(item, Table):
        yield from text(item, at, report)
    elif not module_id(item):
        report_nameless(item, at, report)
    else:
        check_entry(item, f"Bundle '{report.owner}': {at}", report)
        yield item


def _name(item: Tree, at: str, report: FileReport) -> Iterator[Tree]:
    """Return the name of what is excluded; of an entry that says more, only its name counts."""
    name = module_id(item) if isinstance(item, Table) else ""
    if name:
        what = f"`{at}` should be a name, got a mapping; it excludes {name}"
        report.warn("single-value", what, item, f"write `- {name}`")
        yield Leaf(name, item.origin, item.line, item.column)
    else:
        yield from text(item, at, report)


def _check_depth(tree: Tree | None, report: FileReport) -> None:
    if tree is not None and not is_absent(tree) and not is_count(to_plain(tree)):
        what = f"`spawn.max_depth` is {to_plain(tree)!r}, and does nothing"
        report.warn("spawn-policy", what, tree, "write a whole number")


def is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
