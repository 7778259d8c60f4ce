"""Explain why a value is what it is: who wrote it, where, how that bundle came in, what it replaced."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from amplihack.bundles.model import Bundle, Lineage
from amplihack.bundles.sections.table import SESSION_LAST
from amplihack.bundles.tree import Items, Pending, Removed, Table, Tree, leaves, to_plain
from amplihack.records import Record

Status: TypeAlias = Literal["used", "replaced", "removed"]
Chain: TypeAlias = tuple[str, ...]
_SEARCHED = tuple(section.name for section in SESSION_LAST)


class Entry(Record):
    """One value that was written under a path; `via` leads from the outermost bundle to the writer."""

    path: str
    value: Any
    bundle: str
    file: str
    line: int
    via: Chain
    status: Status = "used"

    def as_json(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "value": self.value,
            "bundle": self.bundle,
            "file": self.file,
            "line": self.line,
            "via": list(self.via),
            "status": self.status,
        }


class Claim(Record):
    """Who brought an item in, and through which of its includes."""

    bundle: str
    via: str | None


def why(bundle: Bundle, path: str) -> tuple[Entry, ...]:
    """Return every value written under `path`, the one in use first; empty when there is none.

    A path names a section and a key (`tools.tool-bash.config.timeout`), or only a module, an agent, a
    context file or a key that is not a section. For a mapping, all values in it are explained; the module of
    entries that have ids of their own stands for all of them.
    """
    found = find(bundle, path)
    chains = include_chains(bundle.lineage)
    places = _instances(bundle, path) if found is None else (found,)
    return tuple(entry for at, tree in places for entry in _explained(at, tree, chains))


def _explained(at: str, tree: Tree, chains: dict[tuple[str, str], Chain]) -> Iterator[Entry]:
    if isinstance(tree, Removed):
        yield from _history(at, tree, chains)
        return
    for inner, leaf in leaves(tree):
        yield from _history(".".join((at, *inner)) if inner else at, leaf, chains)


def _instances(bundle: Bundle, path: str) -> Iterator[tuple[str, Tree]]:
    """Return what a path that names a module leads to in every entry of it that is listed by an id."""
    for section in SESSION_LAST:
        for key, entry in bundle.section(section.name) if section.lists_modules else ():
            rest = _after_module(entry, path.removeprefix(f"{section.name}."))
            tree = _descend(entry, rest) if rest is not None else None
            if tree is not None:
                yield ".".join((section.name, key, rest) if rest else (section.name, key)), tree


def _after_module(entry: Tree, path: str) -> str | None:
    """Return what follows the name of the entry's module in a path, or None if it names another."""
    module = entry.text("module") if isinstance(entry, Table) else ""
    return path[len(module) + 1 :] if module and f"{path}.".startswith(f"{module}.") else None


def find(bundle: Bundle, path: str) -> tuple[str, Tree] | None:
    """Return the full path and the value that a path given by a person leads to."""
    if path == "instruction":
        return ("instruction", bundle.instruction) if bundle.instruction else None
    section, _, rest = path.partition(".")
    if section in _SEARCHED or section == "extra":
        table = bundle.extra if section == "extra" else bundle.section(section)
        tree = _descend(table, rest) if rest else table
        return (path, tree) if tree is not None else _named_without_namespace(bundle, section, rest)
    tree = _descend(bundle.extra, path)
    if tree is not None:
        return path, tree
    for name in _SEARCHED:
        tree = _descend(bundle.section(name), path)
        if tree is not None:
            return f"{name}.{path}", tree
    found = (_named_without_namespace(bundle, name, path) for name in _SEARCHED)
    return next((each for each in found if each is not None), None)


def _named_without_namespace(bundle: Bundle, section: str, path: str) -> tuple[str, Tree] | None:
    """Find an agent or a context file whose namespace was left out."""
    whole = _with_namespace(bundle.section(section), path)
    tree = _descend(bundle.section(section), whole) if whole else None
    return (f"{section}.{whole}", tree) if tree is not None else None


def _with_namespace(table: Table, path: str) -> str | None:
    """Return the path with the namespace that its first key has in a table; the first such key counts."""
    for key, _ in table:
        _, colon, bare = key.partition(":")
        if colon and (path == bare or path.startswith(f"{bare}.")):
            return key + path[len(bare) :]
    return None


def _descend(tree: Tree, path: str) -> Tree | None:
    """Follow a path; keys may hold dots themselves, so the longest key that fits is taken first."""
    if not path:
        return tree
    if isinstance(tree, Items):
        return _descend_list(tree, path)
    if not isinstance(tree, Table):
        return None
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        key = ".".join(parts[:cut])
        if key in tree.entries:
            found = _descend(tree.entries[key], ".".join(parts[cut:]))
            if found is not None:
                return found
    return None


def _descend_list(tree: Items, path: str) -> Tree | None:
    """Follow a path into a list, by a number, or by the module of one of its entries."""
    head, _, rest = path.partition(".")
    number = int(head) if head.isascii() and head.isdecimal() and len(head) < 10 else -1
    if 0 <= number < len(tree.items):
        return _descend(tree.items[number], rest)
    places = ((item, _after_module(item, path)) for item in tree.items)
    return next((_descend(item, after) for item, after in places if after is not None), None)


def _history(path: str, tree: Tree, chains: dict[tuple[str, str], Chain]) -> Iterator[Entry]:
    """Return a value, then what it replaced, latest first."""
    used: Status = "removed" if isinstance(tree, Removed) else "used"
    for status, each in ((used, tree), *(("replaced", past) for past in tree.over)):
        via = chains.get((each.origin.bundle, each.origin.file), ())
        shown: Status = "removed" if isinstance(each, Removed) else "used" if status == "used" else "replaced"
        yield Entry(path, _shown(each), each.origin.bundle, each.origin.file, each.line, via, shown)


def _shown(tree: Tree) -> Any:
    plain = to_plain(tree)
    return plain.reference if isinstance(plain, Pending) else plain


def include_chains(lineage: Lineage) -> dict[tuple[str, str], Chain]:
    """Return, for every bundle of a composition, the names on the shortest way to it, itself included."""
    chains: dict[tuple[str, str], Chain] = {}
    level: list[tuple[Lineage, Chain]] = [(lineage, ())]
    while level:
        below: list[tuple[Lineage, Chain]] = []
        for each, above in level:
            key = (each.bundle, each.file)
            if key not in chains:
                chains[key] = (*above, each.bundle or each.file)
                below.extend((part, chains[key]) for part in each.parts)
        level = below
    return chains


def origins(bundle: Bundle) -> dict[str, list[Claim]]:
    """Return who introduced each item, innermost first.

    Where X includes Y and Y includes Z, an item of Z has the claims Z, Y via Z, X via Y.
    """
    chains = include_chains(bundle.lineage)
    return {key: _claims(tree, chains) for key, tree in items_of(bundle) if tree.origin.bundle}


def _claims(tree: Tree, chains: dict[tuple[str, str], Chain]) -> list[Claim]:
    introducer = tree.over[-1] if tree.over else tree
    name = introducer.origin.bundle
    chain = chains.get((name, introducer.origin.file), (name,))
    inward = list(reversed(chain))
    return [
        Claim(name, None),
        *(Claim(outer, inner) for inner, outer in pairwise(inward)),
    ]


def modified_by(bundle: Bundle) -> dict[str, list[str]]:
    """Return, for each item, the bundles besides its introducer that wrote something in it."""
    found: dict[str, list[str]] = {}
    for key, tree in items_of(bundle):
        writers = dict.fromkeys(each.origin.bundle for _, leaf in leaves(tree) for each in (leaf, *leaf.over))
        writers.pop((tree.over[-1] if tree.over else tree).origin.bundle, None)
        if writers:
            found[key] = [name for name in writers if name]
    return found


def items_of(bundle: Bundle) -> Iterator[tuple[str, Tree]]:
    """Return everything that somebody brought in, under the name that provenance gives it."""
    for section in SESSION_LAST:
        if section.name in bundle.sections:
            yield from section.named_items(bundle.sections[section.name])
    if bundle.instruction:
        yield "instruction:", bundle.instruction
