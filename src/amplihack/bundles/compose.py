"""Lay bundles over one another from left to right; the inputs stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Literal, TypeAlias

from amplihack.bundles.file_report import place_of
from amplihack.bundles.merge import merge, merge_tables
from amplihack.bundles.model import Bundle, Lineage
from amplihack.bundles.reach import joined
from amplihack.bundles.sections.table import SECTIONS
from amplihack.bundles.tree import Items, Leaf, Removed, Table
from amplihack.errors import Problem
from amplihack.records import Record, replace

Instructions: TypeAlias = Literal["replace", "keep", "append"]


class Overlay(Record):
    """Bundles to lay over what there is, and what becomes of its system text."""

    bundles: Sequence[Bundle]
    instruction: Instructions = "replace"


def compose(*bundles: Bundle, instruction: Instructions = "replace") -> Bundle:
    """Compose bundles, later ones on top; `instruction` says what a later system text does."""
    return compose_in_steps(bundles[0], [Overlay(bundles[1:], instruction)]) if bundles else Bundle()


def compose_in_steps(first: Bundle, steps: Sequence[Overlay]) -> Bundle:
    """Return what composing each step on the result of those before it gives, merged once and not at each."""
    bundles = (first, *(each for step in steps for each in step.bundles))
    return Bundle(
        name=last_text([each.name for each in bundles]),
        version=last_text([each.version for each in bundles]),
        description=last_text([each.description for each in bundles]),
        includes=first.includes,
        namespace_root=first.namespace_root,
        sections=_sections(bundles),
        instruction=composed_instruction(first, steps),
        base_path=last_text([each.base_path or "" for each in bundles]) or None,
        source_base_paths=composed_namespaces(first, steps),
        extra=merge_tables(each.extra for each in bundles),
        lineage=reduce(_lineage, ([each.lineage for each in step.bundles] for step in steps), first.lineage),
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


def last_text(texts: Sequence[str]) -> str:
    """Return the last text that is not empty."""
    for text in reversed(texts):
        if text:
            return text
    return ""


def composed_instruction(first: Bundle, steps: Sequence[Overlay]) -> Leaf | None:
    """Return the system text of a composition."""
    result = first.instruction
    for step in steps:
        for bundle in step.bundles:
            if bundle.instruction is not None and bundle.instruction is not result:
                result = _laid(result, bundle.instruction, step.instruction)
    return result


def _laid(below: Leaf | None, leaf: Leaf, mode: Instructions) -> Leaf:
    if below is None:
        return leaf
    if mode == "keep":
        return below
    laid = merge(below, leaf)
    text = f"{below.value}\n\n{leaf.value}" if mode == "append" else leaf.value
    return Leaf(text, laid.origin, laid.line, laid.column, laid.over)


def composed_namespaces(first: Bundle, steps: Sequence[Overlay]) -> dict[str, str]:
    """Return namespace roots: the first to claim a name keeps it; a bundle's own name needs no entry."""
    found: dict[str, str] = dict(first.source_base_paths)
    name, path = first.name, first.base_path
    for step in steps:
        if name and path:  # of all that is composed so far
            found.setdefault(name, path)
        for bundle in step.bundles:
            for each, root in bundle.source_base_paths.items():
                found.setdefault(each, root)
            if bundle.name and bundle.base_path:
                found.setdefault(bundle.name, bundle.base_path)
            name, path = bundle.name or name, bundle.base_path or path
    return found


def _lineage(first: Lineage, others: Sequence[Lineage]) -> Lineage:
    """Put the last bundle with a name or a file on top of the others."""
    real = [each for each in (first, *others) if each.bundle or each.file or each.parts]
    if not real:
        return Lineage()
    *parts, top = real
    return Lineage(top.bundle, top.version, top.file, top.uri, (*parts, *top.parts)) if parts else top


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


def _marks(tree: Table | Items, path: tuple[str, ...]) -> list[tuple[tuple[str, ...], Removed]]:
    """Return every removal with its path; nearly all values are leaves, which are passed over at once."""
    found: list[tuple[tuple[str, ...], Removed]] = []
    inside = tree.entries.items() if isinstance(tree, Table) else enumerate(tree.items)
    for key, item in inside:
        if isinstance(item, Leaf):
            continue
        if isinstance(item, Removed):
            found.append(((*path, str(key)), item))
        else:
            found += _marks(item, (*path, str(key)))
    return found
