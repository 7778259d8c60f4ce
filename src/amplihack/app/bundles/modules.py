"""The sources of the modules that a bundle names: what they were when locked, and those exactly."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from amplihack.bundles.lock import Lock, LockEntry
from amplihack.bundles.model import SECTIONS, Bundle
from amplihack.bundles.tree import Items, Leaf, Table, Tree
from amplihack.bundles.uris import parse_uri, shown, without_fragment
from amplihack.errors import AmplihackError
from amplihack.system.sources import Sources, content_hash

_BUILT = ("__pycache__", ".venv", "build", "dist")  # what installing or running a module leaves in it


def module_sources(bundle: Bundle) -> tuple[str, ...]:
    """Every address that a module comes from, those of the session and of agents included, each once."""
    found: dict[str, None] = {}

    def note(source: str) -> str:
        found[source] = None
        return source

    with_sources(bundle, note)
    return tuple(found)


def with_sources(bundle: Bundle, change: Callable[[str], str]) -> Bundle:
    """The bundle with each module's source changed."""
    return replace(
        bundle,
        providers=_table(bundle.providers, change),
        tools=_table(bundle.tools, change),
        hooks=_table(bundle.hooks, change),
        session=_table(bundle.session, change),
        agents=replace(
            bundle.agents,
            entries={name: _agent(agent, change) for name, agent in bundle.agents.entries.items()},
        ),
    )


def _table(table: Table, change: Callable[[str], str]) -> Table:
    return replace(table, entries={key: _module(item, change) for key, item in table.entries.items()})


def _module(entry: Tree, change: Callable[[str], str]) -> Tree:
    source = entry.get("source") if isinstance(entry, Table) else None
    if not isinstance(entry, Table) or not isinstance(source, Leaf) or not isinstance(source.value, str):
        return entry
    changed = change(source.value)
    if changed == source.value:
        return entry
    return replace(entry, entries={**entry.entries, "source": replace(source, value=changed)})


def _agent(agent: Tree, change: Callable[[str], str]) -> Tree:
    if not isinstance(agent, Table):
        return agent
    entries = dict(agent.entries)
    for section in SECTIONS:
        listed = entries.get(section)
        if isinstance(listed, Items):
            entries[section] = replace(listed, items=[_module(item, change) for item in listed.items])
    session = entries.get("session")
    if isinstance(session, Table):
        entries["session"] = _table(session, change)
    return replace(agent, entries=entries)


async def lock_modules(sources: Sources, bundle: Bundle) -> tuple[list[LockEntry], list[AmplihackError]]:
    """What each module's source is now, fetched if need be; and why some cannot be had."""
    wanted = [source for source in module_sources(bundle) if not parse_uri(source).is_package]
    answers = await asyncio.gather(*(_entry(sources, source) for source in wanted))
    found = [answer for answer in answers if isinstance(answer, LockEntry)]
    return found, [answer for answer in answers if isinstance(answer, AmplihackError)]


async def _entry(sources: Sources, source: str) -> LockEntry | AmplihackError:
    try:
        resolved = await sources.resolve(source)
        if resolved.kind == "local":
            return await asyncio.to_thread(local_entry, source)
        content = await asyncio.to_thread(content_hash, resolved.source_root)
    except AmplihackError as error:
        return error
    return LockEntry(shown(without_fragment(source)), resolved.commit or "", resolved.sha256 or "", content)


def local_entry(source: str) -> LockEntry:
    """A module on this disk by its address, and the hash of its files. Raises SourceError."""
    path = parse_uri(source).path
    return LockEntry(f"file://{path}", content=content_hash(Path(path), ignore=_BUILT))


def present_modules(bundle: Bundle, lock: Lock) -> Iterator[LockEntry]:
    """What the modules are as far as this disk tells: one that would have to be fetched is what was locked,
    since a pinned source can be nothing else; one that is not locked is new.
    """
    for source in module_sources(bundle):
        parsed = parse_uri(source)
        if parsed.is_file:
            yield local_entry(source)
        elif not parsed.is_package:
            address = shown(without_fragment(source))
            yield lock.find(address) or LockEntry(address)
