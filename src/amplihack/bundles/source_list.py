"""Every source that a composed bundle depends on: the bundles in it, and the modules that they name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from amplihack.bundles.model import SECTIONS, Bundle, Lineage
from amplihack.bundles.tree import Items, Leaf, Table, Tree
from amplihack.bundles.uris import canonical, parse_uri


def sources_of(bundle: Bundle) -> tuple[str, ...]:
    """Addresses, the bundle's own first, each repository once; in the order in which they are declared."""
    found: dict[str, str] = {}
    for uri in (*_bundles(bundle.lineage), *_modules(bundle)):
        found.setdefault(repository(uri), uri)
    return tuple(found.values())


def repository(uri: str) -> str:
    """What is fetched as one: an address without the place inside of what it leads to."""
    parsed = parse_uri(uri)
    return canonical(uri) if parsed.is_file else canonical(uri.partition("#")[0])


def _bundles(lineage: Lineage) -> Iterator[str]:
    """The include graph, level by level, each bundle once."""
    seen: set[int] = set()
    level = [lineage]
    while level:
        below: list[Lineage] = []
        for each in level:
            if id(each) not in seen:
                seen.add(id(each))
                below.extend(each.parts)
                if each.uri:
                    yield each.uri
        level = below


def _modules(bundle: Bundle) -> Iterator[str]:
    """Sources of the session's modules, of all sections, and of what agents bring with them."""
    yield from _session(bundle.session)
    for section in SECTIONS:
        yield from _sources(bundle.modules(section).entries.values())
    for _, agent in bundle.agents:
        if isinstance(agent, Table):
            session = agent.get("session")
            yield from _session(session) if isinstance(session, Table) else ()
            for section in SECTIONS:
                listed = agent.get(section)
                yield from _sources(listed.items) if isinstance(listed, Items) else ()


def _session(table: Table) -> Iterator[str]:
    yield from _sources(part for role in ("orchestrator", "context") if (part := table.get(role)))


def _sources(entries: Iterable[Tree]) -> Iterator[str]:
    for entry in entries:
        source = entry.get("source") if isinstance(entry, Table) else None
        if isinstance(source, Leaf) and isinstance(source.value, str) and source.value:
            yield source.value
