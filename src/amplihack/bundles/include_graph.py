"""Discover the include graph in rounds: a round says what to fetch, and takes what was found.

No bundle ever waits for another, so circles cannot block, and the order of answers changes nothing.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping

from amplihack.bundles.errors import BundleDependencyError, BundleError, BundleNotFoundError, Subject
from amplihack.bundles.includes import (
    Fetch,
    Resolution,
    Target,
    UnresolvedInclude,
    Within,
    first_bundle_file,
    looks_like_path,
    resolve_include,
)
from amplihack.bundles.model import Bundle, Include
from amplihack.bundles.names import NameTable
from amplihack.bundles.ports import Namespace, Texts
from amplihack.bundles.roots import Root, Standing
from amplihack.bundles.schemes import is_address
from amplihack.bundles.uris import (
    address_inside,
    canonical,
    parse_uri,
    shown,
    split_namespace,
    without_fragment,
)
from amplihack.errors import Location, Problem
from amplihack.records import Record, field


class Checkout(Record):
    """The source that a bundle file lies in: its directory, and the version that was fetched."""

    root: str
    is_local: bool = True
    commit: str = ""
    sha256: str = ""


class Node(Record, repr=False):  # a node holds a whole bundle, too large to be printed
    """One bundle file of the graph, as it stands alone. All spellings of its place share one key."""

    key: str
    uri: str
    file: str
    own: Bundle
    checkout: Checkout
    standing: Standing
    root_above: Root | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def directory(self) -> str:
        return posixpath.dirname(self.file)

    @property
    def label(self) -> str:
        """Return what messages call it."""
        return self.own.name or self.file

    @property
    def is_local(self) -> bool:
        return self.checkout.is_local

    @property
    def source(self) -> str | None:
        """Return the directory of the downloaded source that it lies in, None for the user's own."""
        return self.own.reach.source_of(self.file)

    @property
    def within(self) -> Within | None:
        """Return what its includes must not leave, None for the user's own."""
        source = self.source
        if source is None:
            return None
        return Within(source, "" if self.is_local else self.uri, self.own.reach.downloads[source].networked)


class Directive(Record):
    """One include: who says it, and at which place of its list."""

    node: str
    index: int
    include: Include


class FailedInclude(Record):
    """An include that cannot be had, why, and the canonical address that it leads to, if it leads to one."""

    directive: Directive
    error: BundleError
    address: str = ""


class _Round(Record, frozen=False):
    """What one round has resolved, by canonical address, and the directives that wait for a name."""

    targets: dict[str, str] = field(default_factory=dict)
    namespaces: dict[str, str] = field(default_factory=dict)
    reached: list[Directive] = field(default_factory=list)  # of nodes that were here already
    later: list[tuple[Directive, UnresolvedInclude]] = field(default_factory=list)

    @property
    def wanted(self) -> tuple[str, ...]:
        return tuple({**self.namespaces, **self.targets}.values())

    @property
    def moves(self) -> bool:
        return bool(self.targets or self.namespaces or self.reached)


class IncludeGraph(Record, frozen=False):
    """All that one or more loads have found.

    One load asks for `root_address`, lets the graph `follow` the root, and then fetches what is `wanted` and
    has the graph `take` it until nothing is wanted. A node that was fetched for its namespace alone does not
    take part. Questions go to the disk through `files`: call `root_address` and `wanted` in a thread.
    """

    names: NameTable
    files: Texts
    nodes: dict[str, Node] = field(default_factory=dict)
    clashes: dict[str, list[Problem]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)  # addresses, as they were asked for
    _keys: dict[str, str] = field(default_factory=dict)  # canonical address to the key of its node
    _errors: dict[str, BundleError] = field(default_factory=dict)  # canonical address to why it failed
    _targets: dict[str, list[str | BundleError | None]] = field(default_factory=dict)
    _aimed: set[str] = field(default_factory=set)  # canonical addresses that a directive leads to
    _aliases: dict[str, str] = field(default_factory=dict)  # a registered name to the address it stands for
    _waiting: list[Directive] = field(default_factory=list)

    def root_address(self, source: str, directory: str) -> Target | Fetch:
        """Say what was asked for: the address of a bundle, or of a namespace to fetch and enter first.

        Raises BundleNotFoundError for a name or a path that leads nowhere.
        """
        self.names.wide = True
        answer = self._resolve_one(source, directory)
        if isinstance(answer, Fetch):
            is_here = self.find(answer.uri) is not None
            self._expect(answer.namespace, answer.uri)
            answer = self._resolve_one(source, directory) if is_here else answer
            if is_here and isinstance(answer, Fetch):
                raise _nowhere(source, f"{shown(answer.uri)} is not called {answer.namespace!r}")
        if isinstance(answer, UnresolvedInclude):
            raise _nowhere(
                source, answer.what, self._place_here(source, directory) or self._fix(source, answer)
            )
        return answer

    def follow(self, root: Node) -> None:
        """Make a node the root of a composition; the next round resolves its includes."""
        self._waiting += self._expand(root)

    def wanted(self) -> tuple[str, ...]:
        """Resolve includes as far as possible; return the addresses to fetch, none when all is known."""
        while self._waiting:
            found = self._resolve(self._waiting, wide=False)
            if not found.moves:
                # Names of other places count only now that nothing is left which could still bring them:
                # otherwise a name that an earlier load has registered would change this one.
                found = self._resolve([directive for directive, _ in found.later], wide=True)
            if not found.moves:
                self._give_up(found.later)
                self._waiting = []
                break
            self._waiting = [*(directive for directive, _ in found.later), *found.reached]
            if found.wanted:
                return found.wanted
        return ()

    def take(self, answers: Mapping[str, Node | BundleError]) -> None:
        """Enter what was fetched, by address; the includes of bundles that take part come next."""
        for uri, answer in answers.items():
            if isinstance(answer, BundleError):
                self._errors[canonical(uri)] = answer
                self.failed.append(uri)
            else:
                self.enter(uri, answer)
        for uri in answers:
            node = self.find(uri)
            if node is not None and canonical(uri) in self._aimed:
                self._waiting += self._expand(node)

    def find(self, uri: str) -> Node | None:
        key = self._keys.get(canonical(uri))
        return self.nodes[key] if key is not None else None

    def enter(self, uri: str, node: Node) -> Node:
        """Make a node and its namespaces known; another spelling of its address leads to the same node."""
        self._keys[canonical(uri)] = node.key
        if node.key in self.nodes:
            return self.nodes[node.key]
        self.nodes[node.key] = node
        for name, path in node.own.source_base_paths.items():
            self._learn(name, path, node)
        self._learn_aliases(uri, node)
        return node

    def _expand(self, node: Node) -> list[Directive]:
        """Make a node part of a composition; return the directives that are now to be followed."""
        if node.key in self._targets:
            return []
        self._targets[node.key] = [None] * len(node.own.includes)
        return [Directive(node.key, index, include) for index, include in enumerate(node.own.includes)]

    def _resolve(self, waiting: Iterable[Directive], *, wide: bool) -> _Round:
        """Follow directives as far as possible."""
        found = _Round()
        self.names.wide = wide
        for directive in waiting:
            node = self.nodes[directive.node]
            match self._resolve_one(directive.include.source, node.directory, node.within):
                case Target(uri):
                    self._aim(directive, uri, found)
                    if node.is_local:
                        self._tell_elsewhere(directive, uri)
                case Fetch(namespace, uri):
                    self._want_namespace(directive, namespace, uri, found)
                case UnresolvedInclude() as unresolved:
                    found.later.append((directive, unresolved))
        return found

    def _resolve_one(self, source: str, directory: str, within: Within | None = None) -> Resolution:
        """Say what a source means in a directory; a name of this load comes before all others."""
        redirected = self.names.redirect(source)
        known = self.names.bundle(source) if redirected is None else None
        if known:
            return Target(known)
        return resolve_include(source, directory, self.names, self.files, within=within)

    def _aim(self, directive: Directive, uri: str, found: _Round) -> None:
        address = canonical(uri)
        self._targets[directive.node][directive.index] = address
        self._aimed.add(address)
        node = self.find(uri)
        if node is not None:
            found.reached += self._expand(node)
        elif address not in self._errors:
            found.targets.setdefault(address, uri)

    def _tell_elsewhere(self, directive: Directive, uri: str) -> None:
        """Tell the user if a name means a downloaded bundle that only calls itself so."""
        source = directive.include.source
        name = (split_namespace(source) or (source,))[0]
        is_name = not is_address(source) and not looks_like_path(name) and self.names.redirect(source) is None
        usual = self.names.elsewhere(name, uri) if is_name and not parse_uri(uri).is_file else ""
        if usual:
            what = f"{name} means {shown(without_fragment(uri))} here, which calls itself so, and not {usual}"
            fix = f"write the address of the one you mean instead of {name}"
            problem = Problem(what, directive.include.where, fix, "warning", "name-elsewhere")
            self.clashes.setdefault(directive.node, []).append(problem)

    def _want_namespace(self, directive: Directive, name: str, uri: str, found: _Round) -> None:
        """Ask for a bundle that has to be fetched before one can look into it."""
        failed = self._errors.get(canonical(uri))
        what = failed.what if failed else f"{shown(uri)} is not called {name!r}"
        fix = failed.fix if failed else "a namespace is the `bundle.name` of a bundle"
        found.later.append((directive, UnresolvedInclude("unknown-namespace", what, fix)))
        self._expect(name, uri)
        if failed is None and self.find(uri) is None:
            found.namespaces.setdefault(canonical(uri), uri)

    def _give_up(self, later: Iterable[tuple[Directive, UnresolvedInclude]]) -> None:
        for directive, reason in later:
            fix = self._fix(directive.include.source, reason)
            error = BundleDependencyError(reason.what, where=directive.include.where, fix=fix)
            self._targets[directive.node][directive.index] = error

    def _fix(self, source: str, reason: UnresolvedInclude) -> str:
        """Suggest the known name that was probably meant, else what the failure itself suggests."""
        is_name = reason.reason in ("unknown-name", "unknown-namespace")
        return (self.names.suggestion(source) if is_name else "") or reason.fix

    def _place_here(self, source: str, directory: str) -> str:
        """Suggest the path of a bundle that was asked for as if it were a name."""
        found = (
            first_bundle_file(posixpath.join(directory, source), self.files) if "/" not in source else None
        )
        if found is None or ":" in source:
            return ""
        is_inside = self.files.is_dir(posixpath.join(directory, source))
        return f"did you mean ./{source if is_inside else posixpath.basename(found)}?"

    def _expect(self, name: str, uri: str) -> None:
        """Note that the bundle at an address, once it is here, is known by this name as well."""
        self._aliases[name] = canonical(uri)
        node = self.find(uri)
        if node is not None:
            self._learn_aliases(uri, node)

    def _learn_aliases(self, uri: str, node: Node) -> None:
        """Learn the names that settings give to an address, whatever the bundle there calls itself."""
        root = node.own.source_base_paths.get(node.own.name) or node.directory
        for name, address in self._aliases.items():
            if address == canonical(uri):
                self.names.learn(name, Namespace(_address(root, node), root), uri)

    def _learn(self, name: str, path: str, node: Node) -> None:
        own = name == node.own.name
        address = _address(path, node)
        other = self.names.learn(name, Namespace(address, path), node.uri if own else address)
        if other is not None:
            what = (
                f"two bundles are called {name!r}: {shown(other.uri)} and {shown(address)}; the first counts"
            )
            where = Location(node.file, 1, 1)
            clash = Problem(what, where, "rename one of them", "warning", "two-of-a-name")
            self.clashes.setdefault(node.key, []).append(clash)

    def edges(self) -> dict[str, list[str]]:
        """Return, for each node of a composition, the nodes it includes, without those that failed."""
        return {
            key: [
                self._keys[target] for target in targets if isinstance(target, str) and target in self._keys
            ]
            for key, targets in self._targets.items()
        }

    def place(self, key: str, target: str) -> Location | None:
        """Return where a node says that it includes another one."""
        for include, address in zip(self.nodes[key].own.includes, self._targets[key], strict=True):
            if isinstance(address, str) and self._keys.get(address) == target:
                return include.where
        return None

    def failures(self, reachable: Iterable[str]) -> Iterator[FailedInclude]:
        """Return every include of these nodes that failed, in the order of the files."""
        for key in reachable:
            for index, include in enumerate(self.nodes[key].own.includes):
                target = self._targets[key][index]
                error = self._errors.get(target) if isinstance(target, str) else target
                if error is not None:
                    address = target if isinstance(target, str) else ""
                    yield FailedInclude(Directive(key, index, include), error, address)


def _address(path: str, node: Node) -> str:
    """Return the address of a directory of a node's source."""
    if node.is_local:
        return f"file://{path}"
    return address_inside(node.uri, posixpath.relpath(path, node.checkout.root))


def _nowhere(source: str, what: str, fix: str = "") -> BundleNotFoundError:
    fix = fix or "a namespace is the `bundle.name` of a bundle"
    return BundleNotFoundError(what, fix=fix, subject=Subject(uri=shown(source)))
