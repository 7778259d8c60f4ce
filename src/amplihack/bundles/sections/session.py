"""The `session` section: its two modules, the orchestrator and the context manager."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amplihack.bundles.file_report import (
    FileReport,
    anchored,
    as_table,
    is_absent,
    is_text,
    kind_of,
    place_of,
    unknown_keys,
)
from amplihack.bundles.sections.module_keys import check_entry, module_fix, wrong_parts
from amplihack.bundles.sections.modules import module_id, with_anchored_source
from amplihack.bundles.sections.row import Costs, Row, row
from amplihack.bundles.tree import Leaf, Table, Tree, to_plain
from amplihack.errors import Problem
from amplihack.records import replace

ROLES = ("orchestrator", "context")
_KEYS = (*ROLES, *(f"{role}_source" for role in ROLES), "raw", "metadata")


def decode_session(tree: Tree | None, report: FileReport, base: str | None) -> Table:
    """Read the section, with the sources of its two modules anchored."""
    table = as_table(tree, "session", report)
    entries = dict(table.entries)
    unknown_keys(table, _KEYS, "`session`:", report)
    _check_types(table, report)
    for role in ROLES:
        part = _with_source_inside(table, role, entries, report)
        alone = entries.get(f"{role}_source")
        if isinstance(alone, Leaf) and isinstance(alone.value, str):
            entries[f"{role}_source"] = replace(alone, value=anchored(alone.value, base))
        if isinstance(part, Table):
            check_entry(part, f"`session.{role}`:", report)
            entries[role] = replace(with_anchored_source(part, base), fresh=part.fresh)
        elif part is not None and not is_text(part):
            report.error(
                "session-module", f"`session.{role}` should be a module, got {kind_of(part)}", part,
                f"write {role}: {{module: …, source: …}}",
            )  # fmt: skip
    return replace(table, entries=entries)


def _with_source_inside(table: Table, role: str, entries: dict[str, Tree], report: FileReport) -> Tree | None:
    """Return the module of a role with the source that stands beside it, which then stands there no more.

    One that stands alone is for a module that another bundle names.
    """
    key = f"{role}_source"
    part, source = table.get(role), table.get(key)
    if isinstance(part, Leaf) and is_text(part) and source is not None and not is_absent(source):
        del entries[key]
        both: dict[str, Tree] = {"module": part, "source": source}
        return Table(both, part.origin, part.line, part.column, fresh=True)
    if isinstance(part, Table) and source is not None:
        what = f"`session.{key}` has no effect beside a mapping"
        report.warn("no-effect", what, source, f"write it as `source:` below `{role}:`")
    return part


def _check_types(table: Table, report: FileReport) -> None:
    """Report what stands beside the two modules and is not what it should be."""
    raw, metadata = table.get("raw"), table.get("metadata")
    if not is_absent(raw) and raw is not None and not isinstance(to_plain(raw), bool):
        what = f"`session.raw` should be true or false, got {to_plain(raw)!r}"
        report.warn("session-value", what, raw, "write `raw: true` or leave it out")
    if not is_absent(metadata) and metadata is not None and not isinstance(metadata, Table):
        what = f"`session.metadata` should be a mapping, got {kind_of(metadata)}"
        report.warn("session-value", what, metadata, "write a line `name: value` for each part, indented")


def check_session(_section: str, table: Table) -> Iterator[Problem]:
    """Report a role that names no module."""
    for role in ROLES:
        part = table.get(role)
        if part is None or is_absent(part) or (is_text(part) and to_plain(part).strip()):
            continue
        if not isinstance(part, Table):
            what = f"session.{role} should be a module name or a mapping, got {to_plain(part)!r}"
            yield Problem(what, place_of(part), f"write `{role}: {{module: name}}`", code="session-module")
            continue
        yield from wrong_parts(part, f"session.{role}")
        if not part.text("module").strip() and not part.text("source"):
            what = f"session.{role} names neither a module nor a source"
            yield Problem(what, place_of(part), module_fix(part), code="session-module")


def session_plan(plain: dict[str, Any]) -> dict[str, Any]:
    """Return the section as it is mounted; a bare module name, and a source beside it, become a mapping."""
    whole = dict(plain)
    for role in ROLES:
        if isinstance(whole.get(role), str):
            source = whole.pop(f"{role}_source", None)
            whole[role] = {"module": whole[role], **({"source": source} if source else {})}
    return whole


def session_rows(section: str, table: Table, _costs: Costs) -> Iterator[Row]:
    """Show the module of each role."""
    for role in ROLES:
        part = table.get(role)
        if part is not None:
            source = part.text("source") if isinstance(part, Table) else ""
            name = part.text("module") if isinstance(part, Table) else str(to_plain(part))
            yield row(section, f"{role}: {name}", part, source)


def session_items(table: Table) -> Iterator[tuple[str, Tree]]:
    """Name the two modules for provenance, each by its role."""
    for role in ROLES:
        part = table.get(role)
        if part is not None:
            yield f"session.{role}:{_module_id(part)}", part


def _module_id(tree: Tree) -> str:
    if isinstance(tree, Table):
        return module_id(tree)
    return str(tree.value) if isinstance(tree, Leaf) else ""
