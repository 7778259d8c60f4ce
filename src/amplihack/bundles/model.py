"""Define what a bundle is, whether read from one file or composed of many."""

from __future__ import annotations

from collections.abc import Mapping

from amplihack.bundles.reach import NO_DOWNLOADS, Reach
from amplihack.bundles.tree import Leaf, Pending, Table
from amplihack.errors import Location
from amplihack.records import Record, field, replace

DEFAULT_VERSION = "1.0.0"
NO_ENTRIES = Table()


class Include(Record):
    """One entry of `includes:`, as it was written."""

    source: str
    where: Location | None = field(default=None, compare=False)
    mapping: bool = True  # `- bundle: x` rather than `- x`


class Lineage(Record):
    """A bundle and, in order, those that were composed beneath it."""

    bundle: str = ""
    version: str = ""
    file: str = ""
    uri: str = ""
    parts: tuple[Lineage, ...] = field(default=(), repr=False)  # a graph, too large to be shown

    def __deepcopy__(self, _memo: object) -> Lineage:
        """Share it: it cannot change, and of bundles composed one by one it is as deep as they are many."""
        return self


class Bundle(Record):
    """A composable configuration.

    `sections` holds one table for each section that has something in it, by the names of
    `sections.table`: modules are keyed by id, agents and context by name, all in order. The table of
    context holds paths and, for references whose namespace is not known yet, `Pending`. `extra` holds the
    keys of the file that are no sections.
    """

    name: str = ""
    version: str = ""
    description: str = ""
    includes: tuple[Include, ...] = ()
    namespace_root: str | None = None
    sections: Mapping[str, Table] = field(default_factory=dict)
    instruction: Leaf | None = None
    base_path: str | None = None
    source_base_paths: Mapping[str, str] = field(default_factory=dict)
    extra: Table = field(default_factory=Table)
    lineage: Lineage = field(default_factory=Lineage, compare=False)
    reach: Reach = field(default=NO_DOWNLOADS, compare=False)  # what downloaded parts of it may name

    def section(self, name: str) -> Table:
        """Return a section, an empty one when the bundle has none of that name."""
        return self.sections.get(name, NO_ENTRIES)

    def with_sections(self, changed: Mapping[str, Table]) -> Bundle:
        """Return the bundle with some sections replaced; empty ones are dropped."""
        kept = {name: table for name, table in {**self.sections, **changed}.items() if table}
        return replace(self, sections=kept)

    @property
    def session(self) -> Table:
        return self.section("session")

    @property
    def agents(self) -> Table:
        return self.section("agents")

    @property
    def context(self) -> Table:
        return self.section("context")

    @property
    def shown_version(self) -> str:
        return self.version or DEFAULT_VERSION

    @property
    def system_instruction(self) -> str | None:
        return str(self.instruction.value) if self.instruction else None

    @property
    def resolved_context(self) -> dict[str, str]:
        """Return context names and the paths that they stand for, in the order of declaration."""
        return context_paths(self.context)

    @property
    def pending_context(self) -> dict[str, str]:
        """Return context names and their references that no namespace is known for yet."""
        return context_references(self.context)


def context_paths(context: Table) -> dict[str, str]:
    """Return the names in a section of context that stand for paths."""
    return {
        key: leaf.value for key, leaf in context if isinstance(leaf, Leaf) and isinstance(leaf.value, str)
    }


def context_references(context: Table) -> dict[str, str]:
    """Return the names in a section of context that no namespace is known for yet."""
    return {
        key: leaf.value.reference
        for key, leaf in context
        if isinstance(leaf, Leaf) and isinstance(leaf.value, Pending)
    }
