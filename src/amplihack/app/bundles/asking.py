"""What a user can ask about bundles; each question is one function."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from amplihack.app.bundles.contents import INSTRUCTION, Contents, contents_of, mention_of
from amplihack.app.bundles.names import Known
from amplihack.app.bundles.opening import Asked, Ready, name_table, open_bundle
from amplihack.app.bundles.secrets import masked_value
from amplihack.app.bundles.settings_files import read_settings
from amplihack.app.workspace import Workspace
from amplihack.bundles.assemble import why_sentence
from amplihack.bundles.errors import BundleNotFoundError
from amplihack.bundles.provenance import Entry, include_chains, why
from amplihack.bundles.render import Graph, graph_of, tokens_by_bundle
from amplihack.bundles.tree import Table
from amplihack.bundles.uris import shown
from amplihack.errors import Problem


async def show(workspace: Workspace, asked: Asked) -> Contents:
    ready = await open_bundle(workspace, asked)
    return await asyncio.to_thread(contents_of, ready)


async def explain(workspace: Workspace, asked: Asked, subject: str) -> tuple[Entry, ...]:
    """Who wrote a value, a context file, an agent or a sentence of the system prompt.

    Raises BundleNotFoundError when nobody did.
    """
    ready = await open_bundle(workspace, asked)
    at = workspace.home.path(subject)
    found = (
        tuple(_with_chains(ready, why(ready.bundle, subject)))
        or _why_file(ready, subject)
        or _why_file(ready, str(at))
        or why_sentence(ready.bundle, ready.prompt, subject)
    )
    if not found or not subject.strip():
        raise BundleNotFoundError(
            f"nothing in {ready.bundle.name or 'the bundle'} is called {subject!r}, and no sentence says it",
            fix="paths look like tools.tool-bash.config.timeout; `amplihack bundle show` lists what there is",
        )
    return tuple(replace(each, value=masked_value(each.path, each.value)) for each in found)


def _with_chains(ready: Ready, entries: Iterable[Entry]) -> Iterator[Entry]:
    """What an agent's own file says came in with the bundle that lists the agent."""
    chains = include_chains(ready.bundle.lineage)
    ways = {
        f"agents.{name}.": chains.get((agent.origin.bundle, agent.origin.file), ())
        for name, agent in ready.bundle.agents
    }
    for entry in entries:
        way = () if entry.via else next((ways[at] for at in ways if entry.path.startswith(at)), ())
        yield replace(entry, via=way) if way else entry


def _why_file(ready: Ready, subject: str) -> tuple[Entry, ...]:
    """A file of the prompt by its mention or its path."""
    mention = f"@{subject.removeprefix('@')}"
    return tuple(
        replace(entry, path=mention_of(part))
        for part in ready.prompt.parts
        if part.name != INSTRUCTION and (mention_of(part) == mention or part.path == subject)
        for entry in why_sentence(ready.bundle, replace(ready.prompt, parts=(part,)), part.text)
    )


async def graph(workspace: Workspace, asked: Asked) -> Graph:
    contents = await show(workspace, asked)
    return graph_of(contents.ready.bundle, tokens_by_bundle(contents.rows))


@dataclass(frozen=True, slots=True)
class AgentInfo:
    name: str
    description: str
    bundle: str
    file: str
    line: int


async def agents(workspace: Workspace, asked: Asked) -> tuple[tuple[AgentInfo, ...], tuple[Problem, ...]]:
    """The agents of a bundle, with where they come from."""
    ready = await open_bundle(workspace, asked)
    found = tuple(
        AgentInfo(name, agent.text("description"), agent.origin.bundle, agent.origin.file, agent.line)
        for name, agent in ready.bundle.agents
        if isinstance(agent, Table)
    )
    return found, ready.problems


def known_bundles(workspace: Workspace) -> tuple[Known, ...]:
    """Every name that leads to a bundle, addresses without their secrets."""
    every = name_table(workspace, read_settings(workspace)).every()
    return tuple(replace(known, uri=shown(known.uri)) for known in every)
