"""What loading makes: the nodes of an include graph, and a bundle composed of them.

What holds a whole bundle has no `repr` of its own: `asyncio.run` asks for that of every result, and printing
a thousand bundles into a text that nobody reads takes longer than loading them.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

from amplihack.bundles.errors import BundleError
from amplihack.bundles.graph import Order
from amplihack.bundles.model import Bundle, Include
from amplihack.bundles.roots import Standing
from amplihack.errors import Problem
from amplihack.system.sources import ResolvedSource


@dataclass(frozen=True, slots=True, repr=False)
class Node:
    """One bundle file of the graph, as it stands alone. All spellings of its place share one key."""

    key: str
    uri: str
    file: str
    own: Bundle
    source: ResolvedSource
    standing: Standing
    problems: tuple[Problem, ...] = ()

    @property
    def directory(self) -> str:
        return posixpath.dirname(self.file)

    @property
    def label(self) -> str:
        """What messages call it."""
        return self.own.name or self.file

    @property
    def is_local(self) -> bool:
        return self.source.kind == "local"


@dataclass(frozen=True, slots=True)
class Directive:
    """One include: who says it, and at which place of its list."""

    node: str
    index: int
    include: Include


@dataclass(frozen=True, slots=True)
class Failure:
    """An include that cannot be had, and why."""

    directive: Directive
    error: BundleError


@dataclass(frozen=True, slots=True)
class Skipped:
    """An include that is missing from the result: the names on the way to it, and the reason."""

    source: str
    chain: tuple[str, ...]
    reason: str
    error: BundleError | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Loaded:
    """A composed bundle, the graph that it came from, and everything that is not as it should be."""

    bundle: Bundle
    root: Node
    nodes: Mapping[str, Node]
    order: Order
    problems: tuple[Problem, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    included: Mapping[str, Bundle] = field(default_factory=dict)  # by node, each with what it includes
