"""Bundles laid over one another from left to right; the inputs stay as they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from amplihack.bundles.merge import merge, merge_tables
from amplihack.bundles.model import Bundle, Lineage
from amplihack.bundles.reading import place_of
from amplihack.bundles.tree import Items, Leaf, Removed, Table, Tree
from amplihack.errors import Problem

Instructions: TypeAlias = Literal["replace", "keep", "append"]
_TABLES = ("session", "providers", "tools", "hooks", "spawn", "agents", "context", "extra")


def compose(*bundles: Bundle, instruction: Instructions = "replace") -> Bundle:
    """One bundle of many, later ones on top; `instruction` says what a later system text does."""
    if not bundles:
        return Bundle()
    return Bundle(
        name=_last(each.name for each in bundles),
        version=_last(each.version for each in bundles),
        description=_last(each.description for each in bundles),
        includes=bundles[0].includes,
        namespace_root=bundles[0].namespace_root,
        session=merge_tables(each.session for each in bundles),
        providers=merge_tables(each.providers for each in bundles),
        tools=merge_tables(each.tools for each in bundles),
        hooks=merge_tables(each.hooks for each in bundles),
        spawn=merge_tables(each.spawn for each in bundles),
        agents=_merge_agents([each.agents for each in bundles]),
        context=merge_tables(named_context(each) for each in bundles),
        instruction=_instruction([each.instruction for each in bundles], instruction),
        base_path=_last(each.base_path or "" for each in bundles) or None,
        source_base_paths=_namespaces(bundles),
        extra=merge_tables(each.extra for each in bundles),
        lineage=_lineage([each.lineage for each in bundles]),
    )


def compose_includes(own: Bundle, included: Sequence[Bundle]) -> Bundle:
    """A bundle on top of what it includes; it stays itself in name, version, includes and place."""
    result = compose(*included, own)
    return replace(
        result,
        name=own.name or result.name,
        version=own.version,
        includes=own.includes,
        namespace_root=own.namespace_root,
        base_path=own.base_path or result.base_path,
    )


def _last(texts: Iterable[str]) -> str:
    found = ""
    for text in texts:
        found = text or found
    return found


def _merge_agents(tables: Sequence[Table]) -> Table:
    """Agents by name, later ones whole; a bare name never erases a fuller definition."""
    merged: dict[str, Tree] = {}
    fresh = False
    for table in tables:
        if table.fresh:
            merged, fresh = dict(merge_tables((Table(merged), replace(table, entries={}))).entries), True
        if not merged:
            merged = dict(table.entries)
            continue
        for name, agent in table.entries.items():
            before = merged.get(name)
            if before is None:
                merged[name] = agent
            elif not (is_bare(agent) and isinstance(before, Table)):
                merged[name] = merge(before, agent)
    first = next((table for table in tables if table.entries), Table())
    return Table(merged, first.origin, first.line, first.column, fresh=fresh)


def is_bare(agent: Tree) -> bool:
    """True for an agent of which only the name is known so far."""
    return isinstance(agent, Table) and agent.entries.keys() <= {"name"}


def named_context(bundle: Bundle) -> Table:
    """Context under names that no other bundle uses: `<bundle>:<name>`."""
    if all(":" in key for key in bundle.context.entries):
        return bundle.context
    renamed = {_context_name(key, item): item for key, item in bundle.context.entries.items()}
    return replace(bundle.context, entries=renamed)


def _context_name(key: str, item: Tree) -> str:
    """By the name of who wrote it, not of the composition that it has come to be part of."""
    return key if ":" in key or not item.origin.bundle else f"{item.origin.bundle}:{key}"


def _instruction(leaves: Sequence[Leaf | None], mode: Instructions) -> Leaf | None:
    result: Leaf | None = None
    for leaf in leaves:
        if leaf is None or leaf is result:
            continue
        if result is None:
            result = leaf
        elif mode != "keep":
            laid = merge(result, leaf)
            text = f"{result.value}\n\n{leaf.value}" if mode == "append" else leaf.value
            result = Leaf(text, laid.origin, laid.line, laid.column, laid.over)
    return result


def _namespaces(bundles: Sequence[Bundle]) -> dict[str, str]:
    """Namespace roots: the first to claim a name keeps it, and a bundle's own name needs no entry."""
    found: dict[str, str] = dict(bundles[0].source_base_paths)
    if bundles[0].name and bundles[0].base_path:
        found.setdefault(bundles[0].name, bundles[0].base_path)
    for bundle in bundles[1:]:
        for name, path in bundle.source_base_paths.items():
            found.setdefault(name, path)
        if bundle.name and bundle.base_path:
            found.setdefault(bundle.name, bundle.base_path)
    return found


def _lineage(lineages: Sequence[Lineage]) -> Lineage:
    """The last bundle with a name or a file stands on top of the others."""
    real = [each for each in lineages if each.bundle or each.file or each.parts]
    if not real:
        return Lineage()
    *parts, top = real
    return replace(top, parts=(*parts, *top.parts)) if parts else top


def unmatched_removals(bundle: Bundle) -> tuple[Problem, ...]:
    """Removals that found nothing to remove: probably a name that changed or was mistyped."""
    found: list[Problem] = []
    for section in _TABLES:
        for path, mark in _marks(getattr(bundle, section), (section,)):
            if not mark.over:
                what = f"{'.'.join(path)} is removed here, but nothing that is included has it"
                fix = "check the name, or drop the removal"
                found.append(Problem(what, place_of(mark), fix, "warning", "removes-nothing"))
    return tuple(found)


def _marks(tree: Tree, path: tuple[str, ...]) -> Iterable[tuple[tuple[str, ...], Removed]]:
    if isinstance(tree, Removed):
        yield path, tree
    elif isinstance(tree, Table):
        for key, item in tree.entries.items():
            yield from _marks(item, (*path, str(key)))
    elif isinstance(tree, Items):
        for index, item in enumerate(tree.items):
            yield from _marks(item, (*path, str(index)))
