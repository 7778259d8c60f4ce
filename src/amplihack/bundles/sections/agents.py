"""The `agents` section: names of agents that have files, and definitions written in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from amplihack.bundles.file_report import (
    FileReport,
    as_items,
    as_table,
    is_absent,
    is_text,
    kind_of,
    mistyped_keys,
    place_of,
    text_keys,
    texts,
    without_at,
)
from amplihack.bundles.merge import merge, merge_tables
from amplihack.bundles.sections.agent_keys import check_access, check_agent_keys
from amplihack.bundles.sections.modules import decode_modules
from amplihack.bundles.sections.row import Costs, Row, row
from amplihack.bundles.sections.session import decode_session
from amplihack.bundles.tokens import estimate_tokens
from amplihack.bundles.tree import Items, Leaf, Removed, Table, Tree
from amplihack.errors import Problem
from amplihack.records import replace


def decode_agents(
    tree: Tree | None, report: FileReport, base: str | None, *, modules: tuple[str, ...]
) -> Table:
    """Read the roster; `modules` are the sections that an agent may list modules in.

    Shapes other than a mapping say which agents may be used, and define none.
    """
    if not isinstance(tree, Table):
        if tree is None or not (isinstance(tree, Items) or is_text(tree)):
            return as_table(tree, "agents", report)
        if not report.bare_modules:
            what = "`agents` of a bundle lists none this way: only an agent says whom it may call"
            report.warn("agents-shape", what, tree, "put the list below `include:`")
        return Table()
    tree = text_keys(tree, "agents", report)
    entries: dict[str, Tree] = {}
    for key, item in tree.entries.items():
        if key == "include":
            for leaf in texts(as_items(item, "agents.include", report), "agents.include", report):
                entries[leaf.value] = Table({"name": leaf}, leaf.origin, leaf.line, leaf.column)
        elif isinstance(item, Removed):
            entries[key] = item
        elif isinstance(item, Table):
            known = ("description", "instruction", "instructions", *modules, "model_role")
            mistyped_keys(item, known, f"agent `{key}`:", report)
            check_agent_keys(item.entries, f"agent `{key}`:", report)
            access = item.get("agents")
            if access is not None and not isinstance(access, Table) and not is_absent(access):
                check_access(access, f"agent `{key}`:", report)
            own = decode_agent_modules(_with_files(item, key, report), report, base, modules=modules)
            entries[key] = replace(item, entries=own, fresh=True)
        elif isinstance(item, Items):
            what = f"`agents.{key}` has no effect: only `include` takes a list, of the names of agents"
            report.warn("agent-shape", what, item, "list each agent below `include:`, as namespace:name")
        else:
            what = f"agent `{key}` should be a mapping, got {kind_of(item)}; it is left out"
            report.warn("agent-shape", what, item, "list agent files below `include:`")
    return replace(tree, entries=entries)


def _with_files(agent: Table, name: str, report: FileReport) -> dict[str, Tree]:
    """Return an agent's entries with the names of its files as YAML takes them."""
    entries = dict(agent.entries)
    for key in ("path", "instructions"):
        leaf = entries.get(key)
        if isinstance(leaf, Leaf) and isinstance(leaf.value, str) and len(leaf.value.split()) == 1:
            entries[key] = without_at(leaf, f"agents.{name}.{key}", report)
    return entries


def decode_agent_modules(
    entries: dict[str, Tree], report: FileReport, base: str | None, *, modules: tuple[str, ...]
) -> dict[str, Tree]:
    """Return an agent's entries with its lists of modules and its session read; bare names are allowed."""
    found = dict(entries)
    agent = replace(report, bare_modules=True)  # a copy that shares the list of problems
    for section in modules:
        listed = found.get(section)
        if listed is not None and not isinstance(listed, Removed):
            table = decode_modules(listed, agent, base, section=section)
            found[section] = Items(list(table.entries.values()), listed.origin, listed.line, listed.column)
    if "session" in found:
        found["session"] = decode_session(found["session"], report, base)
    return found


def change_agent_modules(agent: Table, change: Callable[[Tree], Tree], *, modules: tuple[str, ...]) -> Table:
    """Return an agent with each of its modules changed, those of its session included."""
    entries = dict(agent.entries)
    session = entries.get("session")
    if isinstance(session, Table):
        changed = {key: change(item) for key, item in session.entries.items()}
        if any(changed[key] is not item for key, item in session.entries.items()):
            entries["session"] = replace(session, entries=changed)
    for section in modules:
        listed = entries.get(section)
        if isinstance(listed, Items):
            items = [change(item) for item in listed.items]
            if any(item is not before for item, before in zip(items, listed.items, strict=True)):
                entries[section] = replace(listed, items=items, known=None)
    is_same = all(entries[key] is item for key, item in agent.entries.items())
    return agent if is_same else replace(agent, entries=entries)


def merge_agents(tables: Sequence[Table]) -> Table:
    """Merge agents by name, later ones whole; a bare name never erases a fuller definition."""
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
    """Tell whether only the name of an agent is known so far."""
    return isinstance(agent, Table) and agent.entries.keys() <= {"name"}


def check_agents(section: str, table: Table) -> Iterator[Problem]:
    """Report agents that are no mappings."""
    for name, agent in table:
        if not isinstance(agent, Table):
            what = f"{section}.{name} should be a mapping, got {kind_of(agent)}"
            fix = f"write `{name}:` and below it, indented, its `description:` and the rest"
            yield Problem(what, place_of(agent), fix, code="agent-shape")


def agent_rows(section: str, table: Table, _costs: Costs) -> Iterator[Row]:
    """Show each agent with what its description costs: others choose by it in every prompt."""
    for name, agent in table:
        description = agent.text("description") if isinstance(agent, Table) else ""
        yield row(section, name, agent, "", estimate_tokens(description))
