"""The sections of a bundle file: modules, session, agents, context and includes."""

from __future__ import annotations

import posixpath
from dataclasses import replace

from amplihack.bundles.merge import merge
from amplihack.bundles.model import SECTIONS, Include
from amplihack.bundles.reading import (
    Report,
    anchored,
    as_items,
    as_table,
    is_absent,
    kind_of,
    mistyped_keys,
    place_of,
    texts,
)
from amplihack.bundles.tree import Items, Leaf, Pending, Removed, Table, Tree, to_plain

MODULE_KEYS = ("module", "source", "config", "id", "instance_id", "remove")
_EXAMPLES = {
    "providers": "provider-anthropic",
    "tools": "tool-bash",
    "hooks": "hooks-logging",
}


def modules(
    tree: Tree | None, section: str, report: Report, *, base: str | None, names: bool = False
) -> Table:
    """A list of module entries keyed by id, in order; `names` allows bare module names, as agents do."""
    if tree is None or isinstance(tree, Removed) or is_absent(tree):
        return as_table(tree, section, report)
    if not isinstance(tree, Items):
        what = f"expected list, got {kind_of(tree)}: {to_plain(tree)!r}"
        report.error("module-list", _malformed(report, section, what, section), tree)
        return Table()
    found = Table({}, tree.origin, tree.line, tree.column, fresh=tree.fresh)
    for index, item in enumerate(tree.items):
        _add_module(found, item, f"{section}[{index}]", report, base=base, names=names)
    return found


def _add_module(found: Table, item: Tree, at: str, report: Report, *, base: str | None, names: bool) -> None:
    if names and isinstance(item, Leaf) and isinstance(item.value, str):
        item = Table({"module": item}, item.origin, item.line, item.column)
    if not isinstance(item, Table):
        what = f"expected dict, got {kind_of(item)}: {to_plain(item)!r}"
        report.error("module-entry", _malformed(report, at, what, at.partition("[")[0]), item)
        return
    key = item.text("id") or item.text("module")
    if not key:
        report.error(
            "module-missing", f"Bundle '{report.owner}': {at} has no 'module'", item, "name a module"
        )
        return
    entry = module_entry(item, f"Bundle '{report.owner}': {at}", report, base)
    before = found.entries.get(key)
    if before is not None:
        _repeated(key, at, item, report)
    found.entries[key] = entry if before is None else merge(before, entry)


def _repeated(key: str, at: str, item: Table, report: Report) -> None:
    """Two entries of one id become one; for providers that is hardly ever meant."""
    what = f"Bundle '{report.owner}': {at} is a second entry for {key!r}; the two are merged"
    fix = "give each entry an `id:` of its own, or write one entry"
    if at.startswith("providers"):
        report.error("two-defaults", what, item, fix)
    else:
        report.warn("duplicate-module", what, item, fix)


def _malformed(report: Report, at: str, what: str, section: str) -> str:
    example = {"module": _EXAMPLES.get(section, "tool-bash"), "source": "git+https://..."}
    return f"Bundle '{report.owner}': {at} is malformed: {what}. Correct format: [{example}]"


def module_entry(entry: Table, owner: str, report: Report, base: str | None) -> Tree:
    """One entry with its source anchored; `remove: true` makes it a removal."""
    removal = entry.get("remove")
    if isinstance(removal, Leaf) and removal.value is True:
        return Removed(entry.origin, entry.line, entry.column)
    config = entry.get("config")
    if config is not None and not is_absent(config) and not isinstance(config, Table):
        report.error("module-config", f"{owner} `config` should be a mapping, got {kind_of(config)}", config)
    mistyped_keys(entry, MODULE_KEYS, owner, report)
    return with_anchored_source(entry, base)


def with_anchored_source(entry: Table, base: str | None) -> Table:
    source = entry.get("source")
    if not isinstance(source, Leaf) or not isinstance(source.value, str):
        return entry
    path = anchored(source.value, base)
    if path == source.value:
        return entry
    return replace(entry, entries={**entry.entries, "source": replace(source, value=path)})


def session(tree: Tree | None, report: Report, *, base: str | None) -> Table:
    """The session section with the sources of its two modules anchored."""
    table = as_table(tree, "session", report)
    entries = dict(table.entries)
    for role in ("orchestrator", "context"):
        part = table.get(role)
        if isinstance(part, Table):
            entries[role] = replace(with_anchored_source(part, base), fresh=part.fresh)
        elif part is not None and not (isinstance(part, Leaf) and isinstance(part.value, str)):
            report.error(
                "session-module", f"`session.{role}` should be a module, got {kind_of(part)}", part,
                f"write {role}: {{module: …, source: …}}",
            )  # fmt: skip
    return replace(table, entries=entries)


def agents(tree: Tree | None, report: Report, *, base: str | None) -> Table:
    """The roster: included names and definitions written in place. Other shapes grant access, not agents."""
    if not isinstance(tree, Table):
        return as_table(tree, "agents", report) if isinstance(tree, Removed) else Table()
    entries: dict[str, Tree] = {}
    for key, item in tree.entries.items():
        if key == "include":
            for leaf in texts(as_items(item, "agents.include", report), "agents.include", report):
                entries[leaf.value] = Table({"name": leaf}, leaf.origin, leaf.line, leaf.column)
        elif isinstance(item, Removed):
            entries[key] = item
        elif isinstance(item, Table):
            entries[key] = _inline_agent(key, item, report, base)
        else:
            what = f"agent `{key}` should be a mapping, got {kind_of(item)}; it is left out"
            report.warn("agent-shape", what, item, "list agent files below `include:`")
    return replace(tree, entries=entries)


def _inline_agent(name: str, definition: Table, report: Report, base: str | None) -> Table:
    entries = dict(definition.entries)
    for section in SECTIONS:
        listed = definition.get(section)
        if listed is not None:
            found = modules(listed, section, report, base=base, names=True)
            entries[section] = Items(list(found.entries.values()), listed.origin, listed.line, listed.column)
    if "session" in entries:
        entries["session"] = session(entries["session"], report, base=base)
    known = ("description", "instruction", "instructions", "tools", "providers", "hooks", "model_role")
    mistyped_keys(definition, known, f"agent `{name}`:", report)
    return replace(definition, entries=entries, fresh=True)


def context(tree: Tree | None, report: Report, *, base: str | None) -> Table:
    """Context names and what they stand for, in the order in which they were written."""
    if isinstance(tree, Items) or (isinstance(tree, Leaf) and isinstance(tree.value, str)):
        report.warn("context-shape", "`context` should be a mapping", tree, "put the list below `include:`")
        tree = Table({"include": tree}, tree.origin, tree.line, tree.column)
    table = as_table(tree, "context", report)
    entries: dict[str, Tree] = {}
    for key, item in table.entries.items():
        if key == "include":
            for leaf in texts(as_items(item, "context.include", report), "context.include", report):
                entries[leaf.value] = replace(leaf, value=_context_value(leaf.value, base))
        elif isinstance(item, Removed):
            entries[key] = item
        elif isinstance(item, Leaf) and isinstance(item.value, str):
            entries[key] = replace(item, value=construct_context_path(base or "", item.value))
        elif key != "expand" and not is_absent(item):
            what = f"`context.{key}` has no effect: only `include` takes a list of files"
            report.warn("context-key", what, item, f"rename `{key}` to `include`")
    return replace(table, entries=entries)


def _context_value(reference: str, base: str | None) -> str | Pending:
    if ":" in reference or base is None:
        return Pending(reference)
    return construct_context_path(base, reference)


def construct_context_path(base: str, name: str) -> str:
    """A context file of a bundle; the path is explicit, nothing is put in front of it."""
    inside = name.lstrip("/")
    return posixpath.normpath(posixpath.join(base, inside)) if inside else base


def includes(tree: Tree | None, report: Report) -> tuple[Include, ...]:
    """The include directives that can be followed; the others are reported."""
    found: list[Include] = []
    for index, item in enumerate(as_items(tree, "includes", report).items):
        if isinstance(item, Table):
            _include_mapping(found, item, index, report)
        else:
            listed = Items([item], item.origin, item.line, item.column)
            found.extend(
                Include(leaf.value.strip(), place_of(leaf, report.lines), mapping=False)
                for leaf in texts(listed, "includes", report)
            )
    return tuple(found)


def _include_mapping(found: list[Include], item: Table, index: int, report: Report) -> None:
    source = item.get("bundle")
    if source is None:
        keys = ", ".join(str(key) for key in item.entries) or "nothing"
        what = f"`includes[{index}]` has {keys} but no `bundle`: it includes nothing"
        fix = f"write `- bundle: {item.text(next(iter(item.entries), '')) or '…'}`"
        report.warn("include-shape", what, item, fix)
        return
    found.extend(
        Include(leaf.value.strip(), place_of(leaf, report.lines))
        for leaf in texts(Items([source]), f"includes[{index}].bundle", report)
    )
    mistyped_keys(item, ("bundle",), f"`includes[{index}]`:", report)
