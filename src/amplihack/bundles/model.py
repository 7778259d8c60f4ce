"""What a bundle is, decoded or composed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from amplihack.bundles.tree import Leaf, Pending, Table, to_plain
from amplihack.errors import Location

Section: TypeAlias = Literal["providers", "tools", "hooks"]
SECTIONS: tuple[Section, ...] = ("providers", "tools", "hooks")
DEFAULT_VERSION = "1.0.0"


@dataclass(frozen=True, slots=True)
class Include:
    """One entry of `includes:`, as it was written."""

    source: str
    where: Location | None = field(default=None, compare=False)
    mapping: bool = True  # `- bundle: x` rather than `- x`


@dataclass(frozen=True, slots=True)
class Lineage:
    """A bundle and, in order, those that were composed beneath it."""

    bundle: str = ""
    version: str = ""
    file: str = ""
    uri: str = ""
    parts: tuple[Lineage, ...] = field(default=(), repr=False)  # a graph, too large to be shown


@dataclass(frozen=True, slots=True)
class Bundle:
    """A composable configuration. Modules are keyed by id, agents and context by name, all in order.

    `context` holds paths and, for references whose namespace is not known yet, `Pending`.
    """

    name: str = ""
    version: str = ""
    description: str = ""
    includes: tuple[Include, ...] = ()
    namespace_root: str | None = None
    session: Table = field(default_factory=Table)
    providers: Table = field(default_factory=Table)
    tools: Table = field(default_factory=Table)
    hooks: Table = field(default_factory=Table)
    spawn: Table = field(default_factory=Table)
    agents: Table = field(default_factory=Table)
    context: Table = field(default_factory=Table)
    instruction: Leaf | None = None
    base_path: str | None = None
    source_base_paths: Mapping[str, str] = field(default_factory=dict)
    extra: Table = field(default_factory=Table)
    lineage: Lineage = field(default_factory=Lineage, compare=False)

    def modules(self, section: Section) -> Table:
        table: Table = getattr(self, section)
        return table

    @property
    def shown_version(self) -> str:
        return self.version or DEFAULT_VERSION

    @property
    def system_instruction(self) -> str | None:
        return str(self.instruction.value) if self.instruction else None

    @property
    def resolved_context(self) -> dict[str, str]:
        """Context names and the paths they stand for, in the order of declaration."""
        return {
            key: leaf.value
            for key, leaf in self.context
            if isinstance(leaf, Leaf) and isinstance(leaf.value, str)
        }

    @property
    def pending_context(self) -> dict[str, str]:
        return {
            key: leaf.value.reference
            for key, leaf in self.context
            if isinstance(leaf, Leaf) and isinstance(leaf.value, Pending)
        }

    def plain(self, section: str) -> Any:
        """A section as new plain data; module sections are lists."""
        tree: Table = getattr(self, section)
        data = to_plain(tree)
        return list(data.values()) if section in SECTIONS else data
