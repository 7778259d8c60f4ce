"""Lay settings, and the behaviours that they add to everything, over a bundle."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from amplihack.bundles.compose import compose
from amplihack.bundles.context_files import Resolved
from amplihack.bundles.merge import merge
from amplihack.bundles.model import Bundle
from amplihack.bundles.sections.agents import change_agent_modules
from amplihack.bundles.sections.session import ROLES
from amplihack.bundles.sections.spawn import SPAWN_LISTS
from amplihack.bundles.sections.table import MODULE_SECTIONS
from amplihack.bundles.settings import Settings, lay, settled_keys
from amplihack.bundles.settings_checks import names_of, unmatched
from amplihack.bundles.tree import Leaf, Removed, Table, Tree
from amplihack.records import replace


def lay_settings(bundle: Bundle, settings: Settings) -> Resolved:
    """Lay settings over a bundle whose agents are read, and report what they change in vain."""
    laid = apply_settings(bundle, settings)
    return Resolved(laid, unmatched(laid, settings.at("sources", "modules"), settings.at("overrides")))


def apply_settings(bundle: Bundle, settings: Settings) -> Bundle:
    """Lay settings over the modules of a bundle: its own, its session's, its agents' and those of `spawn`.

    A source is taken from a settings entry, else from `overrides`, else from `sources.modules`, else it
    stays. Entries for modules that the bundle does not have are added.
    """
    sources, overrides = settings.at("sources", "modules"), settings.at("overrides")

    def settled(entry: Tree, said: Tree | None = None) -> Tree:
        return _settle(entry, said, sources, overrides)

    laid = {
        name: _section(bundle.section(name), settings.modules.get(name, Table()), settled)
        for name in MODULE_SECTIONS
    }
    laid["session"] = _session(bundle.session, settled)
    laid["agents"] = replace(
        bundle.agents,
        entries={name: _agent(agent, settled) for name, agent in bundle.agents.entries.items()},
    )
    spawn = bundle.section("spawn")
    laid["spawn"] = change_agent_modules(spawn, settled, modules=SPAWN_LISTS)
    return bundle.with_sections(laid)


def _section(table: Table, said: Table, settled: Callable[[Tree, Tree | None], Tree]) -> Table:
    entries: dict[str, Tree] = {}
    for key, entry in table.entries.items():
        entries[key] = settled(entry, said.entries.get(key))
    for key, entry in said.entries.items():
        if key not in entries:
            bare = Table({}, entry.origin, entry.line, entry.column)
            named = {
                name: item
                for name in ("module", "id", "instance_id")
                if isinstance(entry, Table) and (item := entry.get(name))
            }
            entries[key] = settled(replace(bare, entries=named), entry)
    return replace(table, entries=entries)


def _settle(entry: Tree, said: Tree | None, sources: Table, overrides: Table) -> Tree:
    """Give one module entry its source, its settings and its overriding config, in that order."""
    if isinstance(said, Removed):
        return merge(entry, said)
    if not isinstance(entry, Table):
        return lay(entry, said) if said is not None else entry
    names = names_of(entry)
    laid: Tree = entry
    own = [override for name in names if isinstance(override := overrides.get(name), Table)]
    for source in (*(sources.get(name) for name in names), *(each.get("source") for each in own)):
        if source is not None:
            laid = lay(laid, Table({"source": source}))
    if said is not None:
        laid = lay(laid, said)
    for each in own:
        config = each.get("config")
        if config is not None:
            laid = lay(laid, Table({"config": config}, config.origin, config.line, config.column))
    return laid if laid is entry else settled_keys(laid)


def _session(table: Table, settled: Callable[[Tree], Tree]) -> Table:
    entries = dict(table.entries)
    for role in ROLES:
        part = table.get(role)
        if isinstance(part, Leaf) and isinstance(part.value, str):
            part = Table({"module": part}, part.origin, part.line, part.column)
            if settled(part) is part:
                continue
        if isinstance(part, Table):
            entries[role] = settled(part)
    return replace(table, entries=entries)


def _agent(agent: Tree, settled: Callable[[Tree], Tree]) -> Tree:
    if not isinstance(agent, Table):
        return agent
    changed = change_agent_modules(agent, settled, modules=MODULE_SECTIONS)
    session = agent.get("session")
    if isinstance(session, Table):
        return replace(changed, entries={**changed.entries, "session": _session(session, settled)})
    return changed


def compose_policies(bundle: Bundle, policies: Sequence[Bundle], *, root_session: bool) -> Bundle:
    """Compose app-wide behaviours on top of a bundle, for root sessions only; it keeps its name and place."""
    if not root_session or not policies:
        return bundle
    result = compose(bundle, *policies, instruction="keep")
    return replace(
        result,
        name=bundle.name,
        version=bundle.version,
        description=bundle.description,
        instruction=bundle.instruction,
        base_path=bundle.base_path,
        lineage=replace(bundle.lineage, parts=(*bundle.lineage.parts, *(each.lineage for each in policies))),
    )
