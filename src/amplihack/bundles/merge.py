"""Lay one tree over another: later wins, mappings merge, lists unite, and the loser is remembered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, cast

from amplihack.bundles.errors import MalformedModuleError
from amplihack.bundles.tree import NOWHERE, Items, Leaf, Removed, Table, Tree, from_value, to_plain
from amplihack.records import replace

MAX_TRAIL = 50  # how many earlier values one value remembers


def merge(parent: Tree, child: Tree) -> Tree:
    """Lay the child over the parent; neither is changed, and what only one side has is shared."""
    if parent is child:
        return child
    if isinstance(child, Table) and isinstance(parent, Table) and not child.fresh:
        return merge_tables((parent, child))
    if isinstance(child, Items) and isinstance(parent, Items) and not child.fresh:
        return _unite(parent, child)
    return _over(child, parent)


def merge_tables(tables: Iterable[Table]) -> Table:
    """Fold all tables from the left in one pass, linear in the number of entries."""
    first: Table | None = None
    entries: dict[str, Tree] = {}
    fresh = False
    for table in tables:
        if table.fresh:
            entries, fresh = _removals(entries, table), True
        if entries:
            for key, item in table.entries.items():
                before = entries.get(key)
                entries[key] = item if before is None else merge(before, item)
        else:
            entries = dict(table.entries)
        if first is None and (table.entries or table.origin is not NOWHERE):
            first = table
    if first is None:
        return Table(entries, fresh=fresh)
    return Table(entries, first.origin, first.line, first.column, first.over, fresh)


def merged_plain(tables: Sequence[Table]) -> dict[str, Any]:
    """Return the plain data of what `merge_tables` makes of them, without remembering what was replaced."""
    if len(tables) == 2 and not tables[1].fresh:
        return _laid(tables[0].entries, tables[1].entries)
    found: dict[str, Tree | list[Tree]] = {}  # a list where more than the last is needed to tell the value
    for table in tables:
        if not found:
            found.update(table.entries)
            continue
        if table.fresh:
            return cast(dict[str, Any], to_plain(merge_tables(tables)))
        for key, item in table.entries.items():
            before = found.get(key)
            if before is None or type(before) is type(item) is Leaf:
                found[key] = item
            elif type(before) is list:
                before.append(item)
            elif before is not item:
                found[key] = [cast(Tree, before), item]
    plain: dict[str, Any] = {}
    for key, held in found.items():
        tree = _settled(held) if type(held) is list else held
        if type(tree) is Leaf:
            plain[key] = tree.value
        elif type(tree) is dict:
            plain[key] = tree
        elif type(tree) is not Removed:
            plain[key] = to_plain(cast(Tree, tree))
    return plain


def _laid(below: dict[str, Tree], above: dict[str, Tree]) -> dict[str, Any]:
    """Return the plain data of one table on another: most programs compose two bundles, in one pass then."""
    plain: dict[str, Any] = {}
    for key, item in below.items():
        top = above.get(key, item)
        if type(top) is Leaf:
            plain[key] = top.value
        elif top is item:
            if type(item) is not Removed:
                plain[key] = to_plain(item)
        elif type(top) is type(item) is Table and not top.fresh:
            plain[key] = _laid(item.entries, top.entries)
        elif type(tree := merge(item, top)) is not Removed:
            plain[key] = to_plain(tree)
    for key, top in above.items():
        if key not in below:
            if type(top) is Leaf:
                plain[key] = top.value
            elif type(top) is not Removed:
                plain[key] = to_plain(top)
    return plain


def _settled(trees: list[Tree]) -> Tree | dict[str, Any]:
    """Merge trees, and make plain data at once of those that are tables."""
    for tree in trees:
        if type(tree) is not Table or tree.fresh:
            return reduce(merge, trees)
    return merged_plain(cast(list[Table], trees))


def _removals(entries: dict[str, Tree], by: Table) -> dict[str, Tree]:
    """Return what a replacing table leaves of the entries before it: the memory of them."""
    gone: dict[str, Tree] = {}
    for key, item in entries.items():
        mark = Removed(by.origin, by.line, by.column)
        gone[key] = replace(mark, over=_trail(mark, item))
    return gone


def _unite(parent: Items, child: Items) -> Items:
    known = _known(parent)
    new: list[Tree] = []
    added: set[object] = set()
    for item in child.items:
        mark = identity(item)
        if mark not in known and mark not in added:
            new.append(item)
            added.add(mark)
    if not new:
        return parent
    items, origin, over = parent.items + new, parent.origin, parent.over
    return Items(items, origin, parent.line, parent.column, over, parent.fresh, known | added)


def _known(items: Items) -> set[object]:
    return items.known if items.known is not None else {identity(item) for item in items.items}


def identity(tree: Tree) -> object:
    """Return what makes two list items the same: type and value; for containers, their sorted JSON."""
    if isinstance(tree, Leaf):
        value = tree.value
        if value is None or isinstance(value, (str, int, float)):
            return (type(value), value)
        return (id(tree), "nothing else is this")
    try:
        return json.dumps(to_plain(tree), sort_keys=True)
    except (TypeError, ValueError):
        return (id(tree), "nothing else is this")


def _over(child: Tree, parent: Tree) -> Tree:
    trail = _trail(child, parent)
    if isinstance(child, Leaf):
        return Leaf(child.value, child.origin, child.line, child.column, trail)
    if isinstance(child, Removed):
        return replace(child, over=trail)
    # Over a removal the child starts anew, whatever it is laid on later.
    return replace(child, over=trail, fresh=child.fresh or isinstance(parent, Removed))


def _trail(child: Tree, parent: Tree) -> tuple[Tree, ...]:
    """Return the child's past, then the parent and its past; a value met twice on the way counts once."""
    if not child.over and not parent.over:
        return (parent,)
    seen = {_site(child)}
    trail: list[Tree] = []
    for past in (*child.over, parent, *parent.over):
        site = _site(past)
        if site not in seen and len(trail) < MAX_TRAIL:
            seen.add(site)
            # The trail is told once, here: a past that kept its own would double it with every step.
            trail.append(replace(past, over=()) if past.over else past)
    return tuple(trail)


def _site(tree: Tree) -> tuple[object, ...]:
    if tree.line:
        return (tree.origin, tree.line, tree.column)
    return (id(tree),)


def deep_merge(parent: dict[str, Any], child: dict[str, Any]) -> dict[str, Any]:
    """Merge plain data, the child over the parent; lists unite without repeats. The result shares nothing."""
    merged: dict[str, Any] = to_plain(merge(from_value(parent), from_value(child)))
    return merged


def module_key(entry: Mapping[str, Any]) -> Any:
    """Return what makes two module entries the same one; nothing when the entry names no module."""
    return entry.get("id") or entry.get("instance_id") or entry.get("module")


def malformed(index: int, entry: object) -> MalformedModuleError:
    """Return the error for an entry of a module list that is no mapping."""
    got = f"got {type(entry).__name__}: {entry!r}"
    what = f"Malformed module config at index {index}: expected dict with 'module' key, {got}"
    name = entry if isinstance(entry, str) else "tool-bash"
    return MalformedModuleError(what, fix=f"write {{'module': {name!r}}}")


def merge_module_lists(parent: list[dict[str, Any]], child: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Merge module entries by `id`, `instance_id` or `module`; TypeError for an entry that is no mapping."""
    merged: dict[str, Tree] = {}
    for entries in (parent, child):
        for index, entry in enumerate(entries):
            if not isinstance(entry, dict):
                raise malformed(index, entry)
            key = module_key(entry)
            if key:
                tree = from_value(entry)
                merged[key] = merge(merged[key], tree) if key in merged else tree
    return [to_plain(entry) for entry in merged.values()]
