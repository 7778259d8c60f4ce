"""Find and change the sources of the modules that a bundle, its session and its agents name."""

from __future__ import annotations

from collections.abc import Callable

from amplihack.bundles.model import Bundle
from amplihack.bundles.sections.agents import change_agent_modules
from amplihack.bundles.sections.modules import with_source
from amplihack.bundles.sections.table import MODULE_SECTIONS
from amplihack.bundles.tree import Table, Tree
from amplihack.records import replace


def module_sources(bundle: Bundle) -> tuple[str, ...]:
    """Return every address that a module comes from, each once: session, sections, then agents."""
    found: dict[str, None] = {}

    def note(source: str) -> str:
        found[source] = None
        return source

    with_sources(bundle, note)
    return tuple(source for source in found if source)


def with_sources(bundle: Bundle, change: Callable[[str], str]) -> Bundle:
    """Return the bundle with each module's source changed."""

    def module(entry: Tree) -> Tree:
        return with_source(entry, change) if isinstance(entry, Table) else entry

    changed = {name: _each(bundle.section(name), module) for name in ("session", *MODULE_SECTIONS)}
    changed["agents"] = _each(
        bundle.agents,
        lambda agent: (
            change_agent_modules(agent, module, modules=MODULE_SECTIONS)
            if isinstance(agent, Table)
            else agent
        ),
    )
    return bundle.with_sections(changed)


def _each(table: Table, change: Callable[[Tree], Tree]) -> Table:
    return replace(table, entries={key: change(item) for key, item in table.entries.items()})
