"""Answer what a user can ask about bundles; each question is one function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from amplihack.app.bundles.command_request import names_here
from amplihack.app.bundles.load import LoadedBundle
from amplihack.app.workspace import Workspace
from amplihack.bundles.completion import INSTRUCTION, mention_of
from amplihack.bundles.errors import BundleNotFoundError
from amplihack.bundles.masking import masked_value
from amplihack.bundles.names import KnownName
from amplihack.bundles.prompt import why_sentence
from amplihack.bundles.provenance import Entry, include_chains, why
from amplihack.bundles.tree import Table
from amplihack.bundles.uris import shown
from amplihack.records import Record, replace

if TYPE_CHECKING:
    from amplihack.bundles.drawing import Drawing


def explain(workspace: Workspace, loaded: LoadedBundle, subject: str) -> tuple[Entry, ...]:
    """Tell who wrote a value, a context file, an agent or a sentence of the system prompt.

    Raises BundleNotFoundError when nobody did.
    """
    at = workspace.home.path(subject)
    found = (
        tuple(_with_chains(loaded, why(loaded.bundle, subject)))
        or _why_file(loaded, subject)
        or _why_file(loaded, str(at))
        or why_sentence(loaded.bundle, loaded.prompt, subject)
    )
    if not found or not subject.strip():
        raise BundleNotFoundError(
            f"nothing in {loaded.bundle.name or 'the bundle'} is called {subject!r}, and no sentence says it",
            fix="paths look like tools.tool-bash.config.timeout; `amplihack bundle show` lists what there is",
        )
    return tuple(
        replace(each, path=shown(each.path), value=masked_value(each.path, each.value)) for each in found
    )


def _with_chains(loaded: LoadedBundle, entries: Iterable[Entry]) -> Iterator[Entry]:
    """Give what an agent's own file says the chain of the bundle that lists the agent."""
    chains = include_chains(loaded.bundle.lineage)
    ways = {
        f"agents.{name}.": chains.get((agent.origin.bundle, agent.origin.file), ())
        for name, agent in loaded.bundle.agents
    }
    for entry in entries:
        way = () if entry.via else next((ways[at] for at in ways if entry.path.startswith(at)), ())
        yield replace(entry, via=way) if way else entry


def _why_file(loaded: LoadedBundle, subject: str) -> tuple[Entry, ...]:
    """Find a file of the prompt by its mention or its path."""
    mention = f"@{subject.removeprefix('@')}"
    return tuple(
        replace(entry, path=mention_of(part))
        for part in loaded.prompt.parts
        if part.name != INSTRUCTION and (mention_of(part) == mention or part.path == subject)
        for entry in why_sentence(loaded.bundle, replace(loaded.prompt, parts=(part,)), part.text)
    )


def graph(loaded: LoadedBundle) -> Drawing:
    """Draw who includes whom."""
    from amplihack.bundles.drawing import drawing_of, tokens_by_bundle  # deferred: other answers draw nothing

    return drawing_of(loaded.bundle, tokens_by_bundle(loaded.contents.rows))


class AgentInfo(Record):
    name: str
    description: str
    bundle: str
    file: str
    line: int


def agents(loaded: LoadedBundle) -> tuple[AgentInfo, ...]:
    """List the agents of a bundle, with where they come from."""
    return tuple(
        AgentInfo(shown(name), agent.text("description"), agent.origin.bundle, agent.origin.file, agent.line)
        for name, agent in loaded.bundle.agents
        if isinstance(agent, Table)
    )


def known_bundles(workspace: Workspace) -> tuple[KnownName, ...]:
    """List every name that leads to a bundle, addresses without their secrets."""
    return tuple(replace(known, uri=shown(known.uri)) for known in names_here(workspace).every())
