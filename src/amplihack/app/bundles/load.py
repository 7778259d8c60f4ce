"""Load a bundle: the one way for the command line and for `amplifier_foundation`.

`load` is a walk of stages. Each is one file: find the root and what it includes (`bundles.include_graph` says
what to fetch, `system.bundle_reader` fetches and reads it), compose the graph (`bundles.composition`), lay
policies and settings over it (`bundles.settings`), and complete the result (`bundles.completion`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from amplihack.bundles.completion import Contents, complete, contents_of
from amplihack.bundles.composition import (
    Composition,
    compose_graph,
    refuse_agents,
    refuse_circles,
    refuse_skipped,
)
from amplihack.bundles.context_files import Resolved
from amplihack.bundles.errors import BundleError
from amplihack.bundles.include_graph import IncludeGraph, Node
from amplihack.bundles.includes import BUNDLE_FILES, Target
from amplihack.bundles.laid_settings import compose_policies, lay_settings
from amplihack.bundles.lock import pinned, pins_of
from amplihack.bundles.meant_address import ignored_part
from amplihack.bundles.mentions import MentionScope
from amplihack.bundles.model import Bundle
from amplihack.bundles.module_sources import with_sources
from amplihack.bundles.mount_plan import MountPlan, fingerprint, mount_plan
from amplihack.bundles.names import KnownNames, NameTable
from amplihack.bundles.prompt import Prompt
from amplihack.bundles.reach import ReachableFiles
from amplihack.bundles.settings import Policy, Settings, policies_of
from amplihack.bundles.uris import is_same_place, shown, without_fragment
from amplihack.errors import AmplihackError, Problem
from amplihack.records import Record, field, replace
from amplihack.system.bundle_files import BundleFiles
from amplihack.system.bundle_lock import Closure, require_frozen, stored_lock
from amplihack.system.bundle_reader import BundleReader
from amplihack.system.garbage import fewer_collections
from amplihack.system.registry_file import remember
from amplihack.system.sources import Sources


class LoadRequest(Record, kw_only=True):
    """What to load, the facts about the place that asks, and how strictly to load it."""

    source: str  # a name, an address, a path or `namespace:path`
    base: Path  # where relative paths start
    cache_dir: Path
    environment: Mapping[str, str] = field(repr=False)
    names: KnownNames
    redirector: Callable[[str], str | None] | None = None  # another address for an include, or None
    settings: Settings | None = None  # laid over the bundle, with the policies that they name
    scope: MentionScope | None = None  # where mentions may lead; None: no system prompt is made
    lock_directory: Path | None = None  # load exactly what the lock file there says, or fail
    registry_home: Path | None = None  # where names of remote bundles are remembered
    instead: Mapping[str, str] = field(default_factory=dict)  # ours, for repositories that cannot be had
    offline: bool = False
    follow: bool = True  # False: the bundle alone, without what it includes
    knows_here: bool = False  # whether the bundle in `base` may be meant by its name
    strict: bool = True  # an include that fails is the failure of the whole
    tolerant: bool = False  # read on past what is wrong with a file; it is among the problems
    no_circles: bool = False
    whole_agents: bool = False  # an agent that cannot be had as listed is the failure of the whole


# No `repr`: `asyncio.run` asks for that of every result, and a whole composition takes seconds to print.
class LoadedBundle(Record, repr=False):
    """A bundle that a session could be opened with, and everything worth telling about it."""

    bundle: Bundle
    composition: Composition
    prompt: Prompt
    files: BundleFiles
    problems: tuple[Problem, ...]
    policies: tuple[Composition, ...] = ()
    failed: tuple[str, ...] = ()  # addresses of bundles that could not be had

    @property
    def nodes(self) -> Mapping[str, Node]:
        """Return every bundle file that takes part by its key, those of policies included."""
        return {key: node for each in (self.composition, *self.policies) for key, node in each.nodes.items()}

    @property
    def closure(self) -> Closure:
        return Closure(self.nodes, self.bundle, self.prompt, self.files)

    @property
    def contents(self) -> Contents:
        """List every part with its cost; looks into the source of local tools, without running it."""
        return contents_of(self.bundle, self.prompt, self._tool_tokens)

    def _tool_tokens(self, path: str) -> int | None:
        reachable = ReachableFiles(self.files, self.bundle.reach, path)
        sources = (f"{path}/{name}/__init__.py" for name in reachable.list(path).directories)
        is_whole = all(reachable.is_file(each) for each in sources if self.files.is_file(each))
        return _tool_tokens(path) if is_whole else None

    @property
    def plan(self) -> MountPlan:
        """Return the mount plan; `${VARIABLES}` stand in it as they were written."""
        return mount_plan(self.bundle)

    @property
    def fingerprint(self) -> str:
        commits = {node.uri: node.checkout.commit for node in self.nodes.values() if node.checkout.commit}
        hashes = {part.name: part.sha256 for part in self.prompt.parts}
        return fingerprint(self.bundle, context_hashes=hashes, commits=commits)


def _tool_tokens(path: str) -> int | None:
    # Deferred: it loads Python's own parser, and few bundles have tools on this disk.
    from amplihack.system.tool_schema import estimate_module_tool_tokens

    cost = estimate_module_tool_tokens(Path(path))
    return cost["total_tokens"] if cost else None


def open_sources(request: LoadRequest) -> Sources:
    """Return the sources of a request, to be entered with `async with`."""
    return Sources(
        request.cache_dir,
        environment=request.environment,
        base_path=request.base,
        offline=request.offline,
    )


async def load(request: LoadRequest) -> LoadedBundle:
    """Load, compose and complete a bundle. Raises BundleError."""
    frozen = request.lock_directory
    pins = pins_of(await asyncio.to_thread(stored_lock, frozen)) if frozen is not None else None
    settings = request.settings or Settings()
    async with open_sources(request) as sources:
        loader = Loader(request, sources, pins)
        if request.knows_here:
            await loader.learn_here(request.source)
        composition = await loader.composition(request.source)
        policies, told = await loader.policies(policies_of(settings))
        whole = compose_policies(composition.bundle, [each.bundle for each in policies], root_session=True)
        lay = partial(lay_settings, settings=settings) if request.settings is not None else Resolved
        done = await asyncio.to_thread(complete, whole, loader.files, request.scope, lay)
    asked = _ignored_of(request.source)
    problems = tuple(
        dict.fromkeys((*asked, *settings.problems, *composition.problems, *told, *done.problems))
    )
    if request.whole_agents:
        refuse_agents(composition, problems)
    loaded = LoadedBundle(
        done.bundle, composition, done.prompt, loader.files, problems, policies, tuple(loader.failed)
    )
    if frozen is not None and pins is not None:
        await asyncio.to_thread(require_frozen, frozen, loaded.closure)
        exact = with_sources(loaded.bundle, lambda uri: pinned(uri, pins) or uri)
        loaded = replace(loaded, bundle=exact)
    if request.registry_home is not None:
        told = await asyncio.to_thread(_remember, request.registry_home, request.names, loaded)
        loaded = replace(loaded, problems=(*loaded.problems, *told))
    return loaded


def _ignored_of(source: str) -> tuple[Problem, ...]:
    """Tell what of the address that was asked for has no effect."""
    ignored = ignored_part(source)
    return (Problem(ignored[0], None, ignored[1], "warning", "address-part"),) if ignored else ()


class Loader:
    """The part of a load that needs sources: a bundle and its policies share one graph."""

    def __init__(self, request: LoadRequest, sources: Sources, pins: Mapping[str, str] | None = None) -> None:
        self.files = BundleFiles()
        self._request = request
        self._graph = IncludeGraph(NameTable(request.names, request.redirector), self.files)
        self._reader = BundleReader(
            sources, self.files, request.strict, request.tolerant, pins, request.instead
        )

    async def composition(self, source: str) -> Composition:
        """Find a bundle and all that it includes, and compose them. Raises BundleError."""
        request, graph = self._request, self._graph
        with fewer_collections():
            root = await self._root(source)
            graph.follow(root)
            while request.follow and (wanted := await asyncio.to_thread(graph.wanted)):
                graph.take(await self._reader.fetch_all(wanted))
            composed = await asyncio.to_thread(compose_graph, graph, root, severe=request.strict)
        if request.strict and not request.tolerant:
            refuse_skipped(composed)
        if request.no_circles:
            refuse_circles(composed)
        return composed

    @property
    def failed(self) -> list[str]:
        return self._graph.failed

    async def policies(self, wanted: Sequence[Policy]) -> tuple[tuple[Composition, ...], tuple[Problem, ...]]:
        """Load the app-wide behaviours; one that fails is reported and left out."""
        found: list[Composition] = []
        problems: list[Problem] = []
        for policy in wanted:
            try:
                found.append(await self.composition(policy.source))
                problems += found[-1].problems
            except BundleError as error:
                what = f"the policy {policy.source} is left out: {error.what}"
                problems.append(Problem(what, policy.where, error.fix, "warning", "policy-failed"))
        return tuple(found), tuple(problems)

    async def _root(self, source: str) -> Node:
        """Fetch what was asked for; a namespace that is not here yet comes first, then the question again."""
        graph, base = self._graph, self._request.base
        while True:
            answer = await asyncio.to_thread(graph.root_address, source, str(base))
            node = graph.find(answer.uri) or await self._entered(answer.uri)
            if isinstance(answer, Target):
                return node

    async def _entered(self, uri: str) -> Node:
        try:
            return self._graph.enter(uri, await self._reader.fetch(uri, self._request.base))
        except BundleError:
            self._graph.failed.append(uri)
            raise

    async def learn_here(self, source: str) -> None:
        """Make the bundle in this directory known: `my-bundle:behaviors/x` may mean it."""
        base = self._request.base
        named = not source.startswith((".", "/", "~")) and "://" not in source
        if not named or not any((base / name).is_file() for name in BUNDLE_FILES):
            return
        uri = f"file://{base}"
        node = (await self._reader.fetch_all([uri]))[uri]
        if isinstance(node, Node) and source.partition(":")[0] in node.own.source_base_paths:
            self._graph.enter(uri, node)


def _remember(home: Path, names: KnownNames, loaded: LoadedBundle) -> tuple[Problem, ...]:
    """Note the names of remote bundles for later commands; that this fails stops nothing.

    A bundle chooses its name, so it never takes one that leads elsewhere: what other bundles include by that
    name stays the same. The bundle that was asked for may only move its own name to another version.
    """
    asked = _remembered({"": loaded.composition.root})
    found = {
        name: uri
        for name, uri in _remembered(loaded.nodes).items()
        if (known := names.lookup(name)) is None or (name in asked and is_same_place(known.uri, uri))
    }
    told = [_taken(name, uri, names) for name, uri in asked.items() if name not in found]
    try:
        remember(home, found)
    except AmplihackError as error:
        what = f"the names of these bundles are not remembered: {error.what}"
        told.append(Problem(what, None, error.fix, "warning", "not-remembered"))
    return tuple(told)


def _taken(name: str, uri: str, names: KnownNames) -> Problem:
    """Tell that a name goes on meaning another bundle than the one that was loaded."""
    known = names.lookup(name)
    elsewhere = shown(known.uri) if known is not None else ""
    what = f"the name {name!r} goes on meaning {elsewhere}, and not this bundle"
    fix = f"use its address, or write bundle: {{added: {{{name}: {uri}}}}} in settings.yaml"
    return Problem(what, None, fix, "warning", "name-taken")


def _remembered(nodes: Mapping[str, Node]) -> dict[str, str]:
    """Return remote root bundles by name; of a nested one, its root.

    Local paths are not worth a name, and an address that holds a secret is never written down.
    """
    found: dict[str, str] = {}
    for node in nodes.values():
        if node.is_local or shown(node.uri) != node.uri:
            continue
        if node.standing.is_root and node.own.name:
            found.setdefault(node.own.name, node.uri)
        elif node.standing.root_name:
            found.setdefault(node.standing.root_name, without_fragment(node.uri))
    return found
