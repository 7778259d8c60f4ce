"""Read what the app adds to bundles: settings of several scopes, merged into one.

Settings are trees like bundles, so a value in the plan still knows which settings file it came from.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence

from amplihack.bundles.errors import BundleLoadError, unreadable
from amplihack.bundles.file_report import FileReport
from amplihack.bundles.merge import merge
from amplihack.bundles.sections.modules import decode_modules, with_anchored_source
from amplihack.bundles.sections.table import MODULE_SECTIONS
from amplihack.bundles.settings_checks import check_settings
from amplihack.bundles.tree import Items, Leaf, Table, Tree
from amplihack.bundles.tree_files import read_tree
from amplihack.bundles.uris import split_namespace, without_fragment
from amplihack.errors import DocumentError, Location, Problem
from amplihack.records import Record, field, replace

PATH_LISTS = frozenset({"allowed_write_paths", "allowed_read_paths", "denied_write_paths"})


class Settings(Record):
    """One scope, or several merged: module entries by id, everything else as it was written."""

    modules: Mapping[str, Table] = field(default_factory=dict)  # by section
    rest: Table = field(default_factory=Table)  # bundle, overrides, sources, routing, config, …
    problems: tuple[Problem, ...] = ()

    def at(self, *path: str) -> Table:
        """Return the mapping at a path, or an empty one."""
        table = self.rest
        for key in path:
            found = table.get(key)
            table = found if isinstance(found, Table) else Table()
        return table


def decode_settings(text: str | bytes, file: str, *, scope: str = "settings") -> Settings:
    """Decode the settings in a YAML file. Raises BundleLoadError, with the place, when it is malformed."""
    content = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    if all(_says_nothing(line) for line in content.removeprefix("\ufeff").splitlines()):
        return Settings()
    try:
        document = read_tree(text, file, kind="Settings file")
    except DocumentError as error:
        raise unreadable(error, file) from error
    if not isinstance(document.root, Table):
        raise BundleLoadError(
            "settings should be a mapping",
            where=document.where(document.root),
            fix="write its sections as `name:` with their fields below, such as `bundle: {active: …}`",
        )
    document.call_origin(scope)
    report = FileReport(scope, document.source.lines, list(document.problems))
    return settings_of(document.root, report)


def _says_nothing(line: str) -> bool:
    """Tell whether a line is blank, a comment or the start of a document: all may be commented out."""
    return not line.strip() or line.lstrip().startswith("#") or line.rstrip() == "---"


def settings_of(root: Table, report: FileReport) -> Settings:
    """Read settings from a tree; providers may stand in three places."""
    check_settings(root, report)
    listed = root.get("modules")
    by_kind = listed if isinstance(listed, Table) else Table()
    config = root.get("config")
    aliased = config.get("providers") if isinstance(config, Table) else None

    places = {name: [by_kind.get(name)] for name in MODULE_SECTIONS}
    places["providers"] = [aliased, *places["providers"], root.get("providers")]
    rest = {key: item for key, item in root.entries.items() if key not in ("providers", "modules")}
    if isinstance(config, Table):
        rest["config"] = replace(
            config, entries={k: v for k, v in config.entries.items() if k != "providers"}
        )
    return Settings(
        modules={
            name: lay_modules(decode_modules(tree, report, None, section=name) for tree in trees)
            for name, trees in places.items()
        },
        rest=replace(root, entries=rest),
        problems=report.in_file_order(),
    )


def merge_settings(scopes: Sequence[Settings]) -> Settings:
    """Merge scopes from the widest to the narrowest, narrower ones on top."""
    rest: Tree = Table()
    for scope in scopes:
        rest = lay(rest, scope.rest)
    return Settings(
        modules={
            name: lay_modules(scope.modules.get(name, Table()) for scope in scopes)
            for name in MODULE_SECTIONS
        },
        rest=_rest(rest),
        problems=tuple(problem for scope in scopes for problem in scope.problems),
    )


def _rest(tree: Tree) -> Table:
    settled = settled_keys(tree)
    return settled if isinstance(settled, Table) else Table()


def anchor_settings(settings: Settings, base: str) -> Settings:
    """Return the settings with the relative paths of bundles and modules made absolute."""
    rest = dict(settings.rest.entries)
    for key in ("bundle", "sources"):
        if key in rest:
            rest[key] = _paths(rest[key], base)
    overrides = rest.get("overrides")
    if isinstance(overrides, Table):
        rest["overrides"] = _modules(overrides, base)
    return replace(
        settings,
        modules={name: _modules(table, base) for name, table in settings.modules.items()},
        rest=replace(settings.rest, entries=rest),
    )


def _paths(tree: Tree, base: str) -> Tree:
    if isinstance(tree, Table):
        return replace(tree, entries={key: _paths(item, base) for key, item in tree.entries.items()})
    if isinstance(tree, Items):
        return replace(tree, items=[_paths(item, base) for item in tree.items])
    if isinstance(tree, Leaf) and isinstance(tree.value, str) and tree.value.startswith(("./", "../")):
        return replace(tree, value=posixpath.normpath(posixpath.join(base, tree.value)))
    return tree


def _modules(table: Table, base: str) -> Table:
    entries = {
        key: with_anchored_source(entry, base) if isinstance(entry, Table) else entry
        for key, entry in table.entries.items()
    }
    return replace(table, entries=entries)


def lay(parent: Tree, child: Tree, key: str = "") -> Tree:
    """Lay settings over a value: mappings merge, path lists unite, `key+` appends, other lists replace."""
    if isinstance(parent, Table) and isinstance(child, Table) and not child.fresh:
        entries = dict(parent.entries)
        for name, item in child.entries.items():
            _enter(entries, name, item)
        return replace(parent, entries=entries)
    if isinstance(parent, Items) and isinstance(child, Items) and key not in PATH_LISTS:
        return merge(parent, replace(child, fresh=True))
    return merge(parent, child)


def _enter(entries: dict[str, Tree], name: str, item: Tree) -> None:
    """Enter one key; an addition with nothing to add to waits for something that is laid under it later."""
    if name.endswith("+") and isinstance(item, Items):
        target = name[:-1] if name[:-1] in entries else name
        entries[target] = merge(entries[target], item) if target in entries else item
    else:
        entries.pop(f"{name}+", None)
        entries[name] = lay(entries[name], item, name) if name in entries else item


def settled_keys(tree: Tree) -> Tree:
    """Turn additions that found nothing to add to into lists."""
    if not isinstance(tree, Table):
        return tree
    entries = {
        key[:-1] if key.endswith("+") and isinstance(item, Items) else key: settled_keys(item)
        for key, item in tree.entries.items()
    }
    return replace(tree, entries=entries)


def lay_modules(tables: Iterable[Table]) -> Table:
    """Merge module entries by id, later ones over earlier ones, new ones at the end."""
    entries: dict[str, Tree] = {}
    for table in tables:
        for key, item in table.entries.items():
            entries[key] = lay(entries[key], item) if key in entries else item
    return Table(entries)


def added_bundles(settings: Settings) -> dict[str, str]:
    """Return the names that settings give to addresses."""
    return {
        name: item.value
        for name, item in settings.at("bundle", "added")
        if isinstance(item, Leaf) and isinstance(item.value, str)
    }


class Policy(Record):
    """An app-wide behaviour: where it comes from, and where settings say so."""

    source: str
    where: Location


def policies_of(settings: Settings) -> tuple[Policy, ...]:
    """Return the behaviours that settings add to every bundle."""
    listed = settings.at("bundle").get("app")
    return tuple(
        Policy(item.value, Location(item.origin.file, item.line, item.column))
        for item in (listed.items if isinstance(listed, Items) else (listed,))
        if isinstance(item, Leaf) and isinstance(item.value, str) and item.value.strip()
    )


def redirect_include(source: str, settings: Settings) -> str | None:
    """Return another address for an include that contains a configured text; the fragment stays."""
    if split_namespace(source) is not None:
        return None
    for part, item in settings.at("sources", "bundles"):
        if part in source and isinstance(item, Leaf) and isinstance(item.value, str):
            fragment = source[len(without_fragment(source)) :]
            return item.value if "#" in item.value else item.value + fragment
    return None
