"""List the sections of a bundle: a row says how one is read, merged, checked, mounted and shown.

To add a section, add a row. Whatever treats sections alike reads this table: decoding, composing, `why`,
`show`, `validate`, the mount plan, settings and the facade.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

from amplihack.bundles.file_report import FileReport, as_table
from amplihack.bundles.merge import merge_tables, merged_plain
from amplihack.bundles.sections.agents import (
    agent_rows,
    check_agents,
    decode_agents,
    merge_agents,
)
from amplihack.bundles.sections.context import context_rows, decode_context, merge_context
from amplihack.bundles.sections.modules import (
    check_modules,
    decode_modules,
    module_rows,
    plain_list,
    provider_list,
)
from amplihack.bundles.sections.row import Costs, Row, key_rows, no_rows
from amplihack.bundles.sections.session import (
    check_session,
    decode_session,
    session_items,
    session_plan,
    session_rows,
)
from amplihack.bundles.sections.spawn import decode_spawn
from amplihack.bundles.tree import Table, Tree, to_plain
from amplihack.errors import Problem
from amplihack.records import Record

Plain: TypeAlias = Callable[[Table], Any]


def _nothing_wrong(_section: str, _table: Table) -> Iterator[Problem]:
    return iter(())


class Section(Record, kw_only=True):
    """One top-level key of a bundle file, and all that is to be known about it."""

    name: str
    decode: Callable[[Tree | None, FileReport, str | None], Table] | None = None  # None: any mapping
    merge: Callable[[Sequence[Table]], Table] = merge_tables
    check: Callable[[str, Table], Iterator[Problem]] = _nothing_wrong
    rows: Callable[[str, Table, Costs], Iterator[Row]] = key_rows
    plain: Plain = to_plain  # the section as a program holds it
    plan: Callable[[Any], Any] | None = None  # makes the part of a mount plan of that; None keeps it out
    for_kernel: bool = False  # whether the kernel takes that part of the plan
    item: str = ""  # what provenance calls one entry; empty when entries have no names there
    items: Callable[[Table], Iterator[tuple[str, Tree]]] | None = None  # where `item` is not enough
    excludable: bool = False  # whether `exclude:` may name entries
    lists_modules: bool = False
    costs_beside_prompt: bool = False  # its tokens reach the model outside of the system prompt

    def read(self, tree: Tree | None, report: FileReport, base: str | None) -> Table:
        """Read the section of a file; relative paths start at `base`."""
        return as_table(tree, self.name, report) if self.decode is None else self.decode(tree, report, base)

    def plain_of(self, tables: Sequence[Table]) -> Any:
        """Return the plain data of the tables that several bundles have, laid over one another."""
        if self.merge is not merge_tables:
            return self.plain(self.merge(tables))
        plain = merged_plain(tables)
        return list(plain.values()) if self.lists_modules else plain

    def named_items(self, table: Table) -> Iterator[tuple[str, Tree]]:
        """Name each entry as provenance does."""
        if self.items is not None:
            yield from self.items(table)
        elif self.item:
            yield from ((f"{self.item}:{key}", tree) for key, tree in table)


def _unchanged(plain: Any) -> Any:
    return plain


def _modules(
    name: str, item: str, *, plan: Callable[[Any], Any] = _unchanged, priced: bool = False
) -> Section:
    return Section(
        name=name,
        decode=partial(decode_modules, section=name),
        check=check_modules,
        rows=module_rows,
        plain=plain_list,
        plan=plan,
        for_kernel=True,
        item=item,
        excludable=True,
        lists_modules=True,
        costs_beside_prompt=priced,
    )


_MODULE_LISTS = (
    _modules("providers", "provider", plan=provider_list),
    _modules("tools", "tool", priced=True),
    _modules("hooks", "hook"),
)
MODULE_SECTIONS: tuple[str, ...] = tuple(section.name for section in _MODULE_LISTS)

SECTIONS: tuple[Section, ...] = (
    Section(
        name="session",
        decode=decode_session,
        check=check_session,
        rows=session_rows,
        plan=session_plan,
        for_kernel=True,
        items=session_items,
    ),
    *_MODULE_LISTS,
    Section(
        name="agents",
        decode=partial(decode_agents, modules=MODULE_SECTIONS),
        merge=merge_agents,
        check=check_agents,
        rows=agent_rows,
        plan=_unchanged,
        for_kernel=True,
        item="agent",
        excludable=True,
        costs_beside_prompt=True,
    ),
    Section(
        name="context",
        decode=decode_context,
        merge=merge_context,
        rows=context_rows,
        item="context",
        excludable=True,
    ),
    Section(name="spawn", decode=decode_spawn, rows=no_rows, plan=_unchanged, item="spawn"),
)
BY_NAME = {section.name: section for section in SECTIONS}
PLANS = {section.name: section.plan for section in SECTIONS if section.plan is not None}

# The keys of `session` are roles. Whatever has such a name of its own is found, and checked, before it.
SESSION_LAST: tuple[Section, ...] = (*SECTIONS[1:], SECTIONS[0])
