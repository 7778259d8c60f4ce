"""Hold values that remember who wrote them: bundle, file and line, and what they replaced.

Trees are shared freely between bundles and are never changed once they are built. They are not frozen
dataclasses because a large composition makes a hundred thousand of them, and freezing triples the cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from amplihack.records import Record, field


class Origin(Record):
    """A bundle and the file that declares it; settings and code are origins too."""

    bundle: str = ""
    file: str = ""


NOWHERE = Origin()


class Pending(Record):
    """A `namespace:path` whose namespace is not known yet."""

    reference: str


class Leaf(Record, frozen=False):
    """A single value."""

    value: Any
    origin: Origin = field(default=NOWHERE, compare=False)
    line: int = field(default=0, compare=False)  # from 1; 0 for a value that stands in no file
    column: int = field(default=0, compare=False)
    over: tuple[Tree, ...] = field(default=(), compare=False, repr=False)  # what it replaced, latest first


class Table(Record, frozen=False):
    """A mapping; a fresh one replaces what stands before it instead of merging with it."""

    entries: dict[str, Tree] = field(default_factory=dict)
    origin: Origin = field(default=NOWHERE, compare=False)
    line: int = field(default=0, compare=False)
    column: int = field(default=0, compare=False)
    over: tuple[Tree, ...] = field(default=(), compare=False, repr=False)
    fresh: bool = False

    def __bool__(self) -> bool:
        """Tell whether something is in it, be it only a removal."""
        return bool(self.entries) or self.fresh

    def __iter__(self) -> Iterator[tuple[str, Tree]]:
        """Return what is really there: removals are passed over."""
        return ((key, item) for key, item in self.entries.items() if not isinstance(item, Removed))

    def get(self, key: str) -> Tree | None:
        found = self.entries.get(key)
        return None if isinstance(found, Removed) else found

    def text(self, key: str) -> str:
        """Return the text under a key, or an empty one."""
        found = self.entries.get(key)
        return found.value if isinstance(found, Leaf) and isinstance(found.value, str) else ""


class Items(Record, frozen=False):
    """A list; a fresh one replaces what stands before it."""

    items: list[Tree] = field(default_factory=list)
    origin: Origin = field(default=NOWHERE, compare=False)
    line: int = field(default=0, compare=False)
    column: int = field(default=0, compare=False)
    over: tuple[Tree, ...] = field(default=(), compare=False, repr=False)
    fresh: bool = False
    known: set[object] | None = field(default=None, compare=False, repr=False)  # identities, once needed


class Removed(Record, frozen=False):
    """The wish that an inherited value be gone."""

    origin: Origin = field(default=NOWHERE, compare=False)
    line: int = field(default=0, compare=False)
    column: int = field(default=0, compare=False)
    over: tuple[Tree, ...] = field(default=(), compare=False, repr=False)


Tree: TypeAlias = Leaf | Table | Items | Removed


def from_value(value: object, origin: Origin = NOWHERE, *, operators: bool = False) -> Tree:
    """Turn plain data into a tree; what is neither a dict nor a list is a leaf, whatever it is."""
    if isinstance(value, dict):
        entries: dict[str, Tree] = {}
        for key, child in value.items():
            tree = from_value(child, origin, operators=operators)
            if operators and isinstance(key, str):
                enter(entries, key, tree)
            else:
                entries[key] = tree
        return Table(entries, origin)
    if isinstance(value, list):
        return Items([from_value(item, origin, operators=operators) for item in value], origin)
    return Leaf(value, origin)


def table_of(value: dict[str, Any], origin: Origin = NOWHERE) -> Table:
    """Turn plain data into a table, and carry out operators."""
    tree = from_value(value, origin, operators=True)
    return tree if isinstance(tree, Table) else Table()


def enter(entries: dict[str, Tree], key: str, tree: Tree) -> None:
    """Enter one key: `key!` replaces what is inherited, `key-` with no value removes it."""
    if len(key) > 1 and key[-1] == "!":
        entries[key[:-1]] = _freshened(tree)
    elif len(key) > 1 and key[-1] == "-" and isinstance(tree, Leaf) and tree.value is None:
        entries[key[:-1]] = Removed(tree.origin, tree.line, tree.column)
    else:
        entries[key] = tree


def _freshened(tree: Tree) -> Tree:
    if isinstance(tree, Table):
        return Table(tree.entries, tree.origin, tree.line, tree.column, tree.over, True)
    if isinstance(tree, Items):
        return Items(tree.items, tree.origin, tree.line, tree.column, tree.over, True)
    return tree


def to_plain(tree: Tree) -> Any:
    """Return new plain data: nothing in it is shared with the tree, except values that cannot change."""
    if type(tree) is Table:  # not `isinstance`: a composition has a hundred thousand values
        plain: dict[str, Any] = {}
        for key, item in tree.entries.items():
            if type(item) is Leaf:
                plain[key] = item.value
            elif type(item) is not Removed:
                plain[key] = to_plain(item)
        return plain
    if type(tree) is Items:
        return [to_plain(item) for item in tree.items if type(item) is not Removed]
    return tree.value if type(tree) is Leaf else None


def leaves(tree: Tree, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Tree]]:
    """Return every value that is no container, or an empty one, with its path."""
    if isinstance(tree, Table) and tree.entries:
        for key, item in tree:
            yield from leaves(item, (*path, key))
    elif isinstance(tree, Items) and tree.items:
        for index, item in enumerate(tree.items):
            yield from leaves(item, (*path, str(index)))
    elif not isinstance(tree, Removed):
        yield path, tree
