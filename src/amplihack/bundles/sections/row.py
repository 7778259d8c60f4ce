"""Show what a section holds as rows: one for each entry, with who wrote it and what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from amplihack.bundles.tree import Table, Tree
from amplihack.bundles.uris import shown
from amplihack.records import Record

Costs: TypeAlias = Mapping[str, int]  # context names to the tokens that their files add to every prompt


class Row(Record):
    """One line of what a bundle holds."""

    section: str
    name: str
    source: str
    bundle: str
    file: str
    line: int
    tokens: int = 0


def row(section: str, name: str, tree: Tree, source: str = "", tokens: int = 0) -> Row:
    """Return the row of one entry, its name and its address without secrets."""
    return Row(section, shown(name), shown(source), tree.origin.bundle, tree.origin.file, tree.line, tokens)


def no_rows(_section: str, _table: Table, _costs: Costs) -> Iterator[Row]:
    """Show nothing."""
    return iter(())


def key_rows(section: str, table: Table, _costs: Costs) -> Iterator[Row]:
    """Show each key of a section."""
    return (row(section, key, entry) for key, entry in table)
