"""Loads a bundle and everything it includes: what one round has named is fetched and read all at once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from amplihack.app.bundles.composing import compose_graph, refusal
from amplihack.app.bundles.discovery import Graph
from amplihack.app.bundles.locking import pin
from amplihack.app.bundles.model import Directive, Loaded, Node
from amplihack.app.bundles.names import NameTable
from amplihack.app.bundles.reading import Reader, as_bundle_error
from amplihack.bundles.errors import BundleDependencyError, BundleError, BundleNotFoundError, Subject
from amplihack.bundles.graph import Fetch, Resolution, Target, Unresolved
from amplihack.bundles.uris import parse_uri, shown, without_fragment
from amplihack.documents.suggest import closest
from amplihack.errors import AmplihackError
from amplihack.system.bundle_files import BundleFiles
from amplihack.system.sources import ResolvedSource, Sources


@dataclass(slots=True)
class Loader:
    """Loads one bundle or several that share a graph.

    `strict` makes an include that fails the failure of the whole. `tolerant` never fails for what is wrong
    with a file: everything that is wrong is among the problems. `pins` maps each source that may be fetched
    to the address of exactly the version that may be; None leaves all of them free.
    """

    sources: Sources
    names: NameTable
    files: BundleFiles = field(default_factory=BundleFiles)
    strict: bool = True
    tolerant: bool = False
    pins: Mapping[str, str] | None = None
    _graph: Graph = field(init=False)
    _reader: Reader = field(init=False)

    def __post_init__(self) -> None:
        self._graph = Graph(self.names, self.files)
        self._reader = Reader(self.files, self.strict, self.tolerant)

    async def load(self, source: str, base: Path, *, follow: bool = True) -> Loaded:
        """The bundle at a name, an address or a path, composed. Raises BundleError.

        With `follow` off it is the bundle alone, without what it includes.
        """
        root = await self._root(source, base)
        directives = self._graph.expand(root)
        if follow:
            await self._discover(directives)
        loaded = await asyncio.to_thread(compose_graph, self._graph, root, severe=self.strict)
        if self.strict and not self.tolerant and loaded.skipped:
            raise refusal(loaded)
        return loaded

    async def learn(self, uri: str, name: str) -> None:
        """Makes a bundle known that may be meant by this name; it need not be one, or have that name."""
        source = await self._resolve(uri)
        (node,) = await asyncio.to_thread(self._read_all, [uri], [source])
        if isinstance(node, Node) and name in node.own.source_base_paths:
            self._graph.enter(uri, node)

    async def _root(self, source: str, base: Path) -> Node:
        """What was asked for; a namespace that is not here yet is fetched, and the question asked again."""
        answer = await asyncio.to_thread(self._resolve_root, source, base)
        if isinstance(answer, Fetch):
            self._graph.expect(answer.namespace, answer.uri)
            await self._fetch_one(answer.uri, base)
            answer = await asyncio.to_thread(self._resolve_root, source, base)
        match answer:
            case Target(uri):
                return self._graph.find(uri) or await self._fetch_one(uri, base)
            case Fetch(namespace, uri):
                raise _nowhere(source, f"{shown(uri)} is not called {namespace!r}")
            case Unresolved(reason, what, fix):
                raise _nowhere(source, what, self._advice(source, reason) or fix)

    def _advice(self, source: str, reason: str) -> str:
        """What to do about a bundle that was asked for, not included, and is not there."""
        if reason == "missing-path":
            return "check the path"
        name = source.partition(":")[0]
        meant = closest(name, [known.name for known in self.names.every()])
        return f"did you mean {meant!r}?" if meant and meant != name else ""

    def _resolve_root(self, source: str, base: Path) -> Resolution:
        self.names.wide = True
        return self._graph.resolve_one(source, str(base))

    async def _discover(self, directives: Sequence[Directive]) -> None:
        waiting = list(directives)
        while waiting:
            found = await asyncio.to_thread(self._graph.resolve, waiting, wide=False)
            later = found.later
            if not found.moves:
                found = await asyncio.to_thread(self._graph.resolve, [each for each, _ in later], wide=True)
                later = found.later
            if not found.moves:
                for directive, reason in later:
                    self._graph.give_up(directive, reason)
                return
            await self._fetch(found.wanted)
            reached = (node for uri in found.targets.values() if (node := self._graph.find(uri)))
            fresh = [each for node in reached for each in self._graph.expand(node)]
            waiting = [*(each for each, _ in later), *found.reached, *fresh]

    async def _fetch_one(self, uri: str, base: Path) -> Node:
        try:
            source = await self._fetched(uri, base)
            node = await asyncio.to_thread(self._reader.node, uri, source)
        except AmplihackError as error:
            raise as_bundle_error(error) from error
        return self._graph.enter(uri, node)

    async def _fetch(self, uris: Sequence[str]) -> None:
        """Fetches all at once, then reads all in one thread; answers are taken in the order of asking."""
        found = await asyncio.gather(*(self._resolve(uri) for uri in uris))
        for uri, answer in zip(uris, await asyncio.to_thread(self._read_all, uris, found), strict=True):
            if isinstance(answer, BundleError):
                self._graph.fail(uri, answer)
            else:
                self._graph.enter(uri, answer)

    async def _resolve(self, uri: str) -> ResolvedSource | BundleError:
        try:
            return await self._fetched(uri)
        except AmplihackError as error:
            return as_bundle_error(error)

    async def _fetched(self, uri: str, base: Path | None = None) -> ResolvedSource:
        """The source of an address; what is cached for a branch is used if that is the locked version."""
        exact = self._pinned(uri)
        if exact != uri and not await self.sources.missing((uri,)):
            cached = await self.sources.resolve(uri, base=base)
            locked = parse_uri(exact)
            if (cached.commit or cached.sha256) in (locked.ref, locked.sha256):
                return cached
        return await self.sources.resolve(exact, base=base)

    def _read_all(
        self, uris: Sequence[str], found: Sequence[ResolvedSource | BundleError]
    ) -> list[Node | BundleError]:
        answers: list[Node | BundleError] = []
        for uri, source in zip(uris, found, strict=True):
            try:
                answers.append(source if isinstance(source, BundleError) else self._reader.node(uri, source))
            except BundleError as error:
                answers.append(error)
        return answers

    def _pinned(self, uri: str) -> str:
        """The address that the lock names for this source, in place of a branch that may have moved."""
        if self.pins is None or parse_uri(uri).is_file:
            return uri
        exact = pin(uri, self.pins)
        if exact is None:
            raise BundleDependencyError(
                f"{shown(without_fragment(uri))} is not in the lock file",
                fix="`amplihack bundle lock` locks what is used now",
                subject=Subject(uri=shown(uri)),
            )
        return exact


def _nowhere(source: str, what: str, fix: str = "") -> BundleNotFoundError:
    fix = fix or "a namespace is the `bundle.name` of a bundle"
    return BundleNotFoundError(what, fix=fix, subject=Subject(uri=shown(source)))
