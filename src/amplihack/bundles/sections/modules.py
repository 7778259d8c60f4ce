"""Sections that list modules: entries of `module`, `source` and `config`, keyed by id or module name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from amplihack.bundles.file_report import (
    FileReport,
    anchored,
    as_table,
    is_absent,
    kind_of,
    mistyped_keys,
    place_of,
)
from amplihack.bundles.meant_address import tell_ignored_part
from amplihack.bundles.merge import merge
from amplihack.bundles.sections.row import Costs, Row, row
from amplihack.bundles.tree import Items, Leaf, Removed, Table, Tree, to_plain
from amplihack.documents.suggest import closest
from amplihack.errors import Problem
from amplihack.records import replace

MODULE_KEYS = ("module", "source", "config", "id", "instance_id", "remove")
_CONFIG_FIX = "write `config:` and below it, indented, a line `name: value` for each setting"
_EXAMPLES = {
    "providers": "provider-anthropic",
    "tools": "tool-bash",
    "hooks": "hooks-logging",
}

# What switches a module in other tools, and the value that would change nothing here.
_SWITCHES: dict[str, bool | None] = {
    **dict.fromkeys(("enabled", "enable", "active"), True),
    **dict.fromkeys(("disabled", "disable", "skip", "optional"), False),
    **dict.fromkeys(("when", "if", "condition", "unless"), None),
}
_ADDRESS = "write it into the source: git+https://host/repository@v1.2"
_FOREIGN = {
    **dict.fromkeys(("conf", "cfg", "configuration", "settings", "options", "params"), "config"),
    **dict.fromkeys(("src", "url", "uri", "repo", "repository", "git", "path"), "source"),
    **dict.fromkeys(("ref", "branch", "tag", "version"), _ADDRESS),
}
_KNOWN = frozenset(MODULE_KEYS)


def decode_modules(tree: Tree | None, report: FileReport, base: str | None, *, section: str) -> Table:
    """Read a list of module entries into a table by id, in order."""
    if tree is None or isinstance(tree, Removed) or is_absent(tree):
        return as_table(tree, section, report)
    if not isinstance(tree, Items):
        what = f"expected list, got {kind_of(tree)}: {to_plain(tree)!r}"
        fix = "start each entry on a line of its own with `- module: …`"
        report.error("module-list", _malformed(report, section, what, section), tree, fix)
        return Table()
    found = Table({}, tree.origin, tree.line, tree.column, fresh=tree.fresh)
    for index, item in enumerate(tree.items):
        _add_module(found, item, f"{section}[{index}]", report, base)
    return found


def _add_module(found: Table, item: Tree, at: str, report: FileReport, base: str | None) -> None:
    if report.bare_modules and isinstance(item, Leaf) and isinstance(item.value, str):
        item = Table({"module": item}, item.origin, item.line, item.column)
    if not isinstance(item, Table):
        what = f"expected dict, got {kind_of(item)}: {to_plain(item)!r}"
        name = item.value if isinstance(item, Leaf) and isinstance(item.value, str) else "…"
        told = _malformed(report, at, what, at.partition("[")[0])
        report.error("module-entry", told, item, f"write `- module: {name}`")
        return
    if not names_module(item, at, report):
        return
    key = module_id(item)
    entry = _entry(item, f"Bundle '{report.owner}': {at}", report, base)
    before = found.entries.get(key)
    if before is not None:
        _report_repeated(key, at, item, report)
    found.entries[key] = entry if before is None else merge(before, entry)


def names_module(entry: Table, at: str, report: FileReport) -> bool:
    """Tell whether an entry names its module, or another entry by its id; report one that does neither."""
    if module_id(entry):
        return True
    lacks = "has no 'module'" if is_absent(entry.get("module")) else "has a 'module' that is no text"
    report.warn("module-missing", f"Bundle '{report.owner}': {at} {lacks}", entry, _module_fix(entry))
    return False


def _module_fix(entry: Table) -> str:
    """Suggest the module of an entry that names none; some people write `name` for it."""
    name, module = entry.text("name"), entry.get("module")
    if included := entry.text("include") or entry.text("bundle"):
        return f"a bundle is included at the start of a line: `includes: [{included}]`"
    if isinstance(module, Leaf) and module.value is not None:
        return f'write module: "{module.value}"'
    if name:
        return f"write `module: {name}`"
    meant = closest("module", [key for key in entry.entries if isinstance(key, str)])
    return f"did you mean `module` by `{meant}`?" if meant else "name a module"


def module_id(entry: Table) -> str:
    """Return what makes two entries the same one: their id, or else their module."""
    return entry.text("id") or entry.text("instance_id") or entry.text("module").strip()


def _report_repeated(key: str, at: str, item: Table, report: FileReport) -> None:
    """Report two entries of one id, which become one; for providers that is hardly ever meant."""
    what = f"Bundle '{report.owner}': {at} is a second entry for {key!r}; the two are merged"
    fix = "give each entry an `id:` of its own, or write one entry"
    if at.startswith("providers"):
        report.error("two-defaults", what, item, fix)
    else:
        report.warn("duplicate-module", what, item, fix)


def _malformed(report: FileReport, at: str, what: str, section: str) -> str:
    example = {"module": _EXAMPLES.get(section, "tool-bash"), "source": "git+https://..."}
    return f"Bundle '{report.owner}': {at} is malformed: {what}. Correct format: [{example}]"


def _entry(entry: Table, owner: str, report: FileReport, base: str | None) -> Tree:
    """Return one entry with its source anchored; `remove: true` makes it a removal."""
    removal = entry.get("remove")
    if isinstance(removal, Leaf) and removal.value is True:
        return Removed(entry.origin, entry.line, entry.column)
    if removal is not None and not is_absent(removal) and to_plain(removal) is not False:
        report.error(
            "module-remove", f"{owner} `remove` should be true or false", removal, "write `remove: true`"
        )
    config = entry.get("config")
    if config is not None and not is_absent(config) and not isinstance(config, Table):
        what = f"{owner} `config` should be a mapping, got {kind_of(config)}"
        report.error("module-config", what, config, _CONFIG_FIX)
    _check_ids(entry, owner, report)
    tell_ignored_source(entry, report)
    mistyped_keys(entry, MODULE_KEYS, owner, report, told=_SWITCHES)
    if not entry.entries.keys() <= _KNOWN:
        _tell_foreign_keys(entry, owner, report)
    return with_anchored_source(entry, base)


def _tell_foreign_keys(entry: Table, owner: str, report: FileReport) -> None:
    """Report keys that look as if they did something to a module, and do nothing."""
    for key, item in entry.entries.items():
        if key in _SWITCHES and to_plain(item) is not _SWITCHES[key]:
            what = f"{owner} `{key}` has no effect: the module is used all the same"
            fix = "leave the entry out; `remove: true` removes an inherited one, `config:` is for the module"
            report.warn("module-key", what, item, fix)
        elif (meant := _FOREIGN.get(key)) and (meant == _ADDRESS or is_absent(entry.get(meant))):
            fix = meant if meant == _ADDRESS else f"did you mean `{meant}`?"
            report.warn("module-key", f"{owner} `{key}` has no effect", item, fix)


def tell_ignored_source(entry: Table, report: FileReport) -> None:
    """Report a part of a module's address that has no effect."""
    source = entry.get("source")
    if isinstance(source, Leaf) and isinstance(source.value, str):
        tell_ignored_part(source.value, source, report)


def _check_ids(entry: Table, owner: str, report: FileReport) -> None:
    """Report ids that are no text, which tell nothing apart, and two ids for one entry."""
    for key in ("id", "instance_id"):
        tree = entry.get(key)
        if tree is not None and not is_absent(tree) and not entry.text(key):
            fix = f'write {key}: "{to_plain(tree)}"' if isinstance(tree, Leaf) else "give it one name"
            report.error("module-id", f"{owner} `{key}` should be text, got {kind_of(tree)}", tree, fix)
    names = entry.text("id"), entry.text("instance_id")
    if all(names) and names[0] != names[1]:
        what = f"{owner} has two names: bundles merge it as {names[0]!r}, sessions call it {names[1]!r}"
        report.warn("two-ids", what, entry, "keep `id` or `instance_id`")


def with_anchored_source(entry: Table, base: str | None) -> Table:
    """Return a module entry whose relative source starts at `base`."""
    return with_source(entry, lambda source: anchored(source, base))


def with_source(entry: Table, change: Callable[[str], str]) -> Table:
    """Return a module entry with its source changed; the same entry when that changes nothing."""
    source = entry.get("source")
    if not isinstance(source, Leaf) or not isinstance(source.value, str):
        return entry
    changed = change(source.value)
    if changed == source.value:
        return entry
    return replace(entry, entries={**entry.entries, "source": replace(source, value=changed)})


def check_modules(section: str, table: Table) -> Iterator[Problem]:
    """Report entries that name no module, or whose parts have the wrong type."""
    for index, (_, entry) in enumerate(table):
        at = f"{section}[{index}]"
        if not isinstance(entry, Table):
            what = f"{at} should be a mapping, got {kind_of(entry)}"
            yield Problem(what, place_of(entry), "write `- module: name`", code="module-entry")
            continue
        if not entry.text("module"):
            fix = "name the module that it configures"
            yield Problem(f"{at} has no 'module'", place_of(entry), fix, code="module-missing")
        config = entry.get("config")
        if config is not None and not is_absent(config) and not isinstance(config, Table):
            what = f"{at}: 'config' should be a mapping, got {kind_of(config)}"
            yield Problem(what, place_of(config), _CONFIG_FIX, code="module-config")
        source = entry.get("source")
        if source is not None and not is_absent(source) and not is_text(source):
            what = f"{at}: 'source' should be text, got {kind_of(source)}"
            fix = "write one address or path, such as `source: git+https://host/repository@main`"
            yield Problem(what, place_of(source), fix, code="module-source")


def is_text(tree: Tree) -> bool:
    return isinstance(tree, Leaf) and isinstance(tree.value, str)


def module_rows(section: str, table: Table, _costs: Costs) -> Iterator[Row]:
    """Show each module with its source."""
    for key, entry in table:
        yield row(section, key, entry, entry.text("source") if isinstance(entry, Table) else "")


def plain_list(table: Table) -> list[Any]:
    """Return the entries as a list, which is how files and mount plans hold them."""
    return list(to_plain(table).values())


def provider_list(plain: list[Any]) -> list[Any]:
    """Return providers as the kernel takes them: it calls the id of one among several `instance_id`."""
    return [
        {**entry, "instance_id": entry["id"]} if entry.get("id") and not entry.get("instance_id") else entry
        for entry in plain
    ]
