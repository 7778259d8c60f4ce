"""The include graph, discovered in rounds: each round resolves what can be resolved and names what to fetch.

No bundle ever waits for another, so circles cannot block, and the order of answers changes nothing.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from amplihack.app.bundles.model import Directive, Failure, Node
from amplihack.app.bundles.names import NameTable
from amplihack.bundles.errors import BundleDependencyError, BundleError
from amplihack.bundles.graph import Fetch, Resolution, Target, Unresolved, resolve_include
from amplihack.bundles.ports import Files, Namespace
from amplihack.bundles.uris import canonical, shown, without_fragment
from amplihack.errors import Location, Problem


@dataclass(slots=True)
class Round:
    """What to fetch now, by canonical address; and the directives that wait for a name still unknown."""

    targets: dict[str, str] = field(default_factory=dict)
    namespaces: dict[str, str] = field(default_factory=dict)
    reached: list[Directive] = field(default_factory=list)  # of nodes that were here already
    later: list[tuple[Directive, Unresolved]] = field(default_factory=list)

    @property
    def wanted(self) -> tuple[str, ...]:
        return tuple({**self.namespaces, **self.targets}.values())

    @property
    def moves(self) -> bool:
        return bool(self.targets or self.namespaces or self.reached)


@dataclass(slots=True)
class Graph:
    """All that one or more loads have found. A node fetched for its namespace alone has no targets."""

    names: NameTable
    files: Files
    nodes: dict[str, Node] = field(default_factory=dict)
    clashes: dict[str, list[Problem]] = field(default_factory=dict)
    _keys: dict[str, str] = field(default_factory=dict)  # canonical address to the key of its node
    _errors: dict[str, BundleError] = field(default_factory=dict)  # canonical address to why it failed
    _targets: dict[str, list[str | BundleError | None]] = field(default_factory=dict)
    _aliases: dict[str, str] = field(default_factory=dict)  # a registered name to the address it stands for

    def find(self, uri: str) -> Node | None:
        key = self._keys.get(canonical(uri))
        return self.nodes[key] if key is not None else None

    def enter(self, uri: str, node: Node) -> Node:
        """Makes a node and its namespaces known; another spelling of its address leads to the same node."""
        self._keys[canonical(uri)] = node.key
        if node.key in self.nodes:
            return self.nodes[node.key]
        self.nodes[node.key] = node
        for name, path in node.own.source_base_paths.items():
            self._learn(name, path, node)
        self._learn_aliases(uri, node)
        return node

    def _learn_aliases(self, uri: str, node: Node) -> None:
        """A name that settings give to an address is a namespace too, whatever the bundle calls itself."""
        root = node.own.source_base_paths.get(node.own.name) or node.directory
        for name, address in self._aliases.items():
            if address == canonical(uri):
                self.names.learn(name, Namespace(_address(root, node), root), uri)

    def expect(self, name: str, uri: str) -> None:
        """The bundle at an address, once it is here, is known by this name as well."""
        self._aliases[name] = canonical(uri)
        node = self.find(uri)
        if node is not None:
            self._learn_aliases(uri, node)

    def fail(self, uri: str, error: BundleError) -> None:
        self._errors[canonical(uri)] = error

    def expand(self, node: Node) -> list[Directive]:
        """Makes a node part of a composition; the directives that are now to be followed."""
        if node.key in self._targets:
            return []
        self._targets[node.key] = [None] * len(node.own.includes)
        return [Directive(node.key, index, include) for index, include in enumerate(node.own.includes)]

    def resolve(self, waiting: Iterable[Directive], *, wide: bool) -> Round:
        """Follows directives as far as possible. Looks at the disk."""
        found = Round()
        self.names.wide = wide
        for directive in waiting:
            node = self.nodes[directive.node]
            match self.resolve_one(directive.include.source, node.directory):
                case Target(uri):
                    self._aim(directive, uri, found)
                case Fetch(namespace, uri):
                    self._want_namespace(directive, namespace, uri, found)
                case Unresolved() as unresolved:
                    found.later.append((directive, unresolved))
        return found

    def resolve_one(self, source: str, directory: str) -> Resolution:
        """What a source means for a bundle in the directory; a name of this load comes before all others."""
        redirected = self.names.redirect(source)
        known = self.names.bundle(source) if redirected is None else None
        if redirected is None and source.startswith("~/"):
            known = source  # which home that is, the sources know
        return Target(known) if known else resolve_include(source, directory, self.names, self.files)

    def _aim(self, directive: Directive, uri: str, found: Round) -> None:
        address = canonical(uri)
        self._targets[directive.node][directive.index] = address
        node = self.find(uri)
        if node is not None:
            found.reached += self.expand(node)
        elif address not in self._errors:
            found.targets.setdefault(address, uri)

    def _want_namespace(self, directive: Directive, name: str, uri: str, found: Round) -> None:
        """Something in a bundle is meant that has to be fetched before one can look into it."""
        failed = self._errors.get(canonical(uri))
        what = failed.what if failed else f"{shown(uri)} is not called {name!r}"
        fix = failed.fix if failed else "a namespace is the `bundle.name` of a bundle"
        found.later.append((directive, Unresolved("unknown-namespace", what, fix)))
        self.expect(name, uri)
        if failed is None and self.find(uri) is None:
            found.namespaces.setdefault(canonical(uri), uri)

    def give_up(self, directive: Directive, reason: Unresolved) -> None:
        error = BundleDependencyError(reason.what, where=directive.include.where, fix=reason.fix)
        self._targets[directive.node][directive.index] = error

    def edges(self) -> dict[str, list[str]]:
        """For each node of a composition the nodes it includes, without those that failed."""
        return {
            key: [
                self._keys[target] for target in targets if isinstance(target, str) and target in self._keys
            ]
            for key, targets in self._targets.items()
        }

    def place(self, key: str, target: str) -> Location | None:
        """Where a node says that it includes another one."""
        for include, address in zip(self.nodes[key].own.includes, self._targets[key], strict=True):
            if isinstance(address, str) and self._keys.get(address) == target:
                return include.where
        return None

    def failures(self, reachable: Iterable[str]) -> Iterator[Failure]:
        """Every include of these nodes that failed, in the order of the files."""
        for key in reachable:
            for index, include in enumerate(self.nodes[key].own.includes):
                target = self._targets[key][index]
                error = self._errors.get(target) if isinstance(target, str) else target
                if error is not None:
                    yield Failure(Directive(key, index, include), error)

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


def _address(path: str, node: Node) -> str:
    """The address of a directory of a node's source."""
    if node.is_local:
        return f"file://{path}"
    whole = without_fragment(node.uri)
    inside = posixpath.relpath(path, str(node.source.source_root))
    return whole if inside == "." else f"{whole}#subdirectory={inside}"
