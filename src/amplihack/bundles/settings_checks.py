"""Report what settings say in vain: unknown keys, wrong shapes, and modules that nothing here has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amplihack.bundles.file_report import (
    FileReport,
    as_items,
    as_table,
    is_absent,
    place_of,
    text,
    unknown_keys,
)
from amplihack.bundles.model import Bundle
from amplihack.bundles.module_sources import modules_of
from amplihack.bundles.sections.session import ROLES
from amplihack.bundles.sections.table import MODULE_SECTIONS
from amplihack.bundles.tree import Leaf, Table, Tree
from amplihack.documents.suggest import closest
from amplihack.errors import Problem

ALLOW_NATIVE = "allow_native_modules"
KEYS = (
    "agent", "bundle", "providers", "modules", "overrides", "sources", "routing", "config", "configurator",
    "install",
    ALLOW_NATIVE,
)  # fmt: skip
INSTALL_KEYS = ("bundle_url", "bundle_sha256")
OVERRIDE_KEYS = ("source", "config")
_POLICIES = ("app", "app+")  # the second adds its list to that of wider settings
_PARTS = {
    "install": INSTALL_KEYS,
    "bundle": ("active", "added", *_POLICIES),
    "sources": ("modules", "bundles"),
    "modules": tuple(MODULE_SECTIONS),
}
PROJECT_SCOPES = ("project settings", "local settings")
_NO_SUCH_MODULE = "override-nothing"


def check_settings(root: Table, report: FileReport) -> None:
    """Report unknown keys and wrong shapes, and what settings of a project must not decide."""
    unknown_keys(root, KEYS, f"{report.owner}:", report)
    parts = {key: as_table(root.get(key), key, report) for key in _PARTS}
    for key, part in parts.items():
        unknown_keys(part, _PARTS[key], f"{key}:", report)
    _check_addresses(parts, report)
    for key in ("install", "agent", ALLOW_NATIVE):
        _check_home_only(key, root.get(key), report)
    _check_native(root.get(ALLOW_NATIVE), report)
    for module, entry in as_table(root.get("overrides"), "overrides", report):
        _check_override(f"overrides.{module}", entry, report)


def _check_addresses(parts: Mapping[str, Table], report: FileReport) -> None:
    """Report what should be an address or a name and is none: it would have no effect."""
    bundle = parts["bundle"]
    places = {"bundle.active": bundle.get("active")}
    for key in _POLICIES:
        listed = as_items(bundle.get(key), f"bundle.{key}", report)
        places |= {f"bundle.{key}[{index}]": item for index, item in enumerate(listed.items)}
    for section, key in (("bundle", "added"), ("sources", "modules"), ("sources", "bundles")):
        table = as_table(parts[section].get(key), f"{section}.{key}", report)
        places |= {f"{section}.{key}.{name}": item for name, item in table}
    for place, item in places.items():
        if item is not None and not is_absent(item):
            list(text(item, place, report))


def _check_override(name: str, entry: Tree, report: FileReport) -> None:
    table = as_table(entry, name, report)
    unknown_keys(table, OVERRIDE_KEYS, f"{name}:", report)
    as_table(table.get("config"), f"{name}.config", report)
    source = table.get("source")
    if source is not None and not is_absent(source) and not table.text("source"):
        report.error("wrong-type", f"`{name}.source` should be text", source, "write a path or an address")


def _check_native(tree: Tree | None, report: FileReport) -> None:
    if tree is not None and not (isinstance(tree, Leaf) and isinstance(tree.value, bool)):
        report.warn("no-effect", f"{ALLOW_NATIVE} is neither true nor false", tree, "write true or false")


def _check_home_only(key: str, tree: Tree | None, report: FileReport) -> None:
    if tree is not None and report.owner in PROJECT_SCOPES:
        fix = "write it to settings.yaml in the home root"
        report.warn("no-effect", f"{report.owner}: `{key}` has no effect in a project", tree, fix)


def unmatched(bundle: Bundle, sources: Table, overrides: Table) -> tuple[Problem, ...]:
    """Report modules that settings change and the bundle does not have.

    A warning where one looks like a typing mistake, else a note: settings serve several bundles.
    """
    names = set(_names(bundle))
    said = (("overrides", overrides), ("sources.modules", sources))
    return tuple(
        _in_vain(f"{place}.{name}", tree, closest(name, names))
        for place, table in said
        for name, tree in table
        if name not in names
    )


def _in_vain(name: str, tree: Tree, meant: str | None) -> Problem:
    what = f"settings: `{name}` changes nothing: no module of this bundle or its agents is called so"
    if meant is None:
        return Problem(what, place_of(tree), "remove it if no other bundle has it", "note", _NO_SUCH_MODULE)
    return Problem(what, place_of(tree), f"did you mean `{meant}`?", "warning", _NO_SUCH_MODULE)


def _names(bundle: Bundle) -> Iterator[str]:
    for _, entry in modules_of(bundle):
        yield from names_of(entry)
    agents = [agent for _, agent in bundle.agents if isinstance(agent, Table)]
    for session in (bundle.session, *(agent.get("session") for agent in agents)):
        yield from _roles(session)


def _roles(session: Tree | None) -> Iterator[str]:
    parts = [session.get(role) for role in ROLES] if isinstance(session, Table) else []
    for part in parts:
        if isinstance(part, Table):
            yield from names_of(part)
        elif isinstance(part, Leaf) and isinstance(part.value, str):
            yield part.value


def names_of(entry: Table) -> list[str]:
    """Return the names that settings may call a module entry by."""
    return [name for key in ("module", "id", "instance_id") if (name := entry.text(key))]
