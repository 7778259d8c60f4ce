"""List every source that a composed bundle depends on: the bundles in it, and their modules."""

from __future__ import annotations

from collections.abc import Iterator

from amplihack.bundles.model import Bundle, Lineage
from amplihack.bundles.module_sources import module_sources
from amplihack.bundles.uris import canonical, parse_uri


def sources_of(bundle: Bundle) -> tuple[str, ...]:
    """Return addresses, the bundle's own first, each repository once, in order of declaration."""
    found: dict[str, str] = {}
    for uri in (*_bundles(bundle.lineage), *module_sources(bundle)):
        found.setdefault(repository(uri), uri)
    return tuple(found.values())


def repository(uri: str) -> str:
    """Return the address of what is fetched as one, without the place inside it."""
    parsed = parse_uri(uri)
    return canonical(uri) if parsed.is_file else canonical(uri.partition("#")[0])


def _bundles(lineage: Lineage) -> Iterator[str]:
    """Walk the include graph level by level, each bundle once."""
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
