"""Lay bundles over one another from left to right; the inputs stay as they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from amplihack.bundles.file_report import place_of
from amplihack.bundles.merge import merge, merge_tables
from amplihack.bundles.model import Bundle, Lineage
from amplihack.bundles.reach import joined
from amplihack.bundles.sections.table import SECTIONS
from amplihack.bundles.tree import Items, Leaf, Removed, Table
from amplihack.errors import Problem
from amplihack.records import replace

Instructions: TypeAlias = Literal["replace", "keep", "append"]


def compose(*bundles: Bundle, instruction: Instructions = "replace") -> Bundle:
    """Compose bundles, later ones on top; `instruction` says what a later system text does."""
    if not bundles:
        return Bundle()
    return Bundle(
        name=_last([each.name for each in bundles]),
        version=_last([each.version for each in bundles]),
        description=_last([each.description for each in bundles]),
        includes=bundles[0].includes,
        namespace_root=bundles[0].namespace_root,
        sections=_sections(bundles),
        instruction=_instruction([each.instruction for each in bundles], instruction),
        base_path=_last([each.base_path or "" for each in bundles]) or None,
        source_base_paths=_namespaces(bundles),
        extra=merge_tables(each.extra for each in bundles),
        lineage=_lineage([each.lineage for each in bundles]),
        reach=joined(each.reach for each in bundles),
    )


def _sections(bundles: Sequence[Bundle]) -> dict[str, Table]:
    """Merge each section as the table of sections says."""
    merged: dict[str, Table] = {}
    present = {name for each in bundles for name in each.sections}
    for section in SECTIONS:
        if section.name not in present:
            continue
        tables = [table for each in bundles if (table := each.sections.get(section.name))]
        if tables:
            merged[section.name] = section.merge(tables)
    return merged


def compose_includes(own: Bundle, included: Sequence[Bundle]) -> Bundle:
    """Compose a bundle on top of what it includes; it keeps its name, version, includes and place."""
    result = compose(*included, own)
    return replace(
        result,
        name=own.name or result.name,
        version=own.version,
        includes=own.includes,
        namespace_root=own.namespace_root,
        base_path=own.base_path or result.base_path,
    )


def _last(texts: Sequence[str]) -> str:
    for text in reversed(texts):
        if text:
            return text
    return ""


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
    """Return namespace roots: the first to claim a name keeps it; a bundle's own name needs no entry."""
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
    """Put the last bundle with a name or a file on top of the others."""
    real = [each for each in lineages if each.bundle or each.file or each.parts]
    if not real:
        return Lineage()
    *parts, top = real
    return replace(top, parts=(*parts, *top.parts)) if parts else top


def unmatched_removals(bundle: Bundle) -> tuple[Problem, ...]:
    """Report removals that found nothing to remove: probably a name that changed or was mistyped."""
    found: list[Problem] = []
    for name, table in (*bundle.sections.items(), ("extra", bundle.extra)):
        for path, mark in _marks(table, (name,)):
            if not mark.over:
                what = f"{'.'.join(path)} is removed here, but nothing that is included has it"
                fix = "check the name, or drop the removal"
                found.append(Problem(what, place_of(mark), fix, "warning", "removes-nothing"))
    return tuple(found)


def _marks(tree: Table | Items, path: tuple[str, ...]) -> Iterable[tuple[tuple[str, ...], Removed]]:
    """Return every removal with its path; nearly all values are leaves, which are passed over at once."""
    inside = tree.entries.items() if isinstance(tree, Table) else enumerate(tree.items)
    for key, item in inside:
        if isinstance(item, Leaf):
            continue
        if isinstance(item, Removed):
            yield (*path, str(key)), item
        else:
            yield from _marks(item, (*path, str(key)))
