"""A bundle as JSON data and back, with every line and trail, so that a cache need not parse it again.

A tree becomes a list: its kind, its content, the number of its origin, its line and column, and behind
them, only where it is needed, whether it is fresh and what it replaced.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from amplihack.bundles.errors import BundleLoadError
from amplihack.bundles.model import Bundle, Include, Lineage
from amplihack.bundles.tree import Items, Leaf, Origin, Pending, Removed, Table, Tree
from amplihack.errors import Location

FORMAT = 1
_TABLES = ("session", "providers", "tools", "hooks", "spawn", "agents", "context", "extra")
_TEXTS = ("name", "version", "description", "namespace_root", "base_path")


def to_record(bundle: Bundle) -> dict[str, Any]:
    """Data that JSON can hold, complete enough to make an equal bundle of it."""
    writer = _Writer()
    return {
        "format": FORMAT,
        **{key: getattr(bundle, key) for key in _TEXTS},
        "includes": [_include(each) for each in bundle.includes],
        **{key: writer.tree(getattr(bundle, key)) for key in _TABLES},
        "instruction": writer.tree(bundle.instruction) if bundle.instruction else None,
        "source_base_paths": dict(bundle.source_base_paths),
        "lineage": _lineage(bundle.lineage),
        "origins": [[origin.bundle, origin.file] for origin in writer.origins],
    }


def from_record(data: Any) -> Bundle:
    """The bundle that was recorded. Raises BundleLoadError for anything that is not a record of ours."""
    try:
        if data["format"] != FORMAT:
            raise BundleLoadError(f"the record has format {data['format']!r}, not {FORMAT}")
        reader = _Reader([Origin(str(bundle), str(file)) for bundle, file in data["origins"]])
        tables: dict[str, Any] = {key: reader.table(data[key]) for key in _TABLES}
        instruction = reader.tree(data["instruction"]) if data["instruction"] else None
        return Bundle(
            **{key: data[key] for key in _TEXTS},
            **tables,
            includes=tuple(
                Include(s, Location(*at) if at else None, mapping) for s, at, mapping in data["includes"]
            ),
            instruction=instruction if isinstance(instruction, Leaf) else None,
            source_base_paths=dict(data["source_base_paths"]),
            lineage=_read_lineage(data["lineage"]),
        )
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise BundleLoadError("this is no record of a bundle", fix="read the bundle file itself") from error


def _include(include: Include) -> list[Any]:
    at = include.where
    return [include.source, [at.file, at.line, at.column, at.text] if at else None, include.mapping]


def _lineage(lineage: Lineage) -> list[list[Any]]:
    """Each bundle once, after all that it includes: a graph, since a bundle may be included often."""
    numbers: dict[int, int] = {}
    found: list[list[Any]] = []
    waiting = [lineage]
    while waiting:
        each = waiting[-1]
        missing = [part for part in each.parts if id(part) not in numbers]
        if missing:
            waiting.extend(missing)
            continue
        waiting.pop()
        if id(each) not in numbers:
            numbers[id(each)] = len(found)
            parts = [numbers[id(part)] for part in each.parts]
            found.append([each.bundle, each.version, each.file, each.uri, parts])
    return found


def _read_lineage(data: list[list[Any]]) -> Lineage:
    found: list[Lineage] = []
    for bundle, version, file, uri, parts in data:
        found.append(Lineage(bundle, version, file, uri, tuple(found[number] for number in parts)))
    return found[-1]


@dataclass(slots=True)
class _Writer:
    origins: dict[Origin, int] = field(default_factory=dict)

    def tree(self, tree: Tree) -> list[Any]:
        kind, content = self._content(tree)
        number = self.origins.setdefault(tree.origin, len(self.origins))
        record = [kind, content, number, tree.line, tree.column]
        fresh = isinstance(tree, Table | Items) and tree.fresh
        if fresh or tree.over:
            record += [fresh, [self.tree(past) for past in tree.over]]
        return record

    def _content(self, tree: Tree) -> tuple[str, Any]:
        if isinstance(tree, Leaf):
            pending = isinstance(tree.value, Pending)
            return ("p", tree.value.reference) if pending else ("v", tree.value)
        if isinstance(tree, Table):
            return "t", {key: self.tree(item) for key, item in tree.entries.items()}
        if isinstance(tree, Items):
            return "i", [self.tree(item) for item in tree.items]
        return "r", None


@dataclass(slots=True)
class _Reader:
    origins: list[Origin]

    def table(self, record: list[Any]) -> Table:
        tree = self.tree(record)
        if not isinstance(tree, Table):
            raise TypeError("a section should be a table")
        return tree

    def tree(self, record: list[Any]) -> Tree:
        kind, content, number, line, column, *more = record
        origin = self.origins[number]
        fresh, past = more or (False, ())
        over = tuple(self.tree(each) for each in past) if past else ()
        if kind == "v":
            return Leaf(content, origin, line, column, over)
        if kind == "p":
            return Leaf(Pending(content), origin, line, column, over)
        if kind == "t":
            entries = {key: self.tree(item) for key, item in content.items()}
            return Table(entries, origin, line, column, over, fresh)
        if kind == "i":
            return Items([self.tree(item) for item in content], origin, line, column, over, fresh)
        if kind == "r":
            return Removed(origin, line, column, over)
        raise ValueError(f"there is no tree of kind {kind!r}")
