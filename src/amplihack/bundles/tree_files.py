"""Read YAML and frontmatter into trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amplihack.bundles.scalars import FIRST, WORDS, looks_otherwise, plain_value, surprise, surprising_key
from amplihack.bundles.tree import Items, Leaf, Origin, Table, Tree, enter
from amplihack.documents.builder import build
from amplihack.documents.frontmatter import split_page
from amplihack.documents.nodes import Source, Style
from amplihack.documents.reader import MAX_BYTES, read_source
from amplihack.errors import Location, Problem, Severity
from amplihack.records import Record

_QUOTES = ("'", '"')


class TreeFile(Record):
    """A YAML text as a tree, and what is wrong with it though it could be read."""

    root: Tree
    origin: Origin  # of all that is in the tree
    source: Source
    problems: tuple[Problem, ...]
    numbers: dict[tuple[int, int], str]  # what is no text, or looks so, as it is written, by line and column

    def where(self, tree: Tree) -> Location:
        return self.source.location(tree.line - 1, tree.column - 1)

    def written(self, leaf: Leaf) -> str:
        """Return a value as it is written: 1.10 is not the number 1.1."""
        return leaf.value if isinstance(leaf.value, str) else self.numbers[leaf.line, leaf.column]

    def call_origin(self, bundle: str) -> None:
        """Name the bundle that all this belongs to, before anybody else sees the tree.

        The name stands in the tree itself, so it is not known when the tree is made.
        """
        object.__setattr__(self.origin, "bundle", bundle)


def read_tree(text: str | bytes, file: str, *, kind: str, first_line: int = 0) -> TreeFile:
    """Read a YAML text; `first_line` is where it begins in its file. Raises DocumentError."""
    source = read_source(text, file, kind=kind, limit=MAX_BYTES, first_line=first_line)
    make = _Trees(Origin("", file))
    root, problems = build(source, make)
    told = (*problems, *_surprises(make.numbers, source), *_surprising_keys(make.keys, source))
    return TreeFile(root, make.origin, source, told, make.numbers)


def _surprises(written: dict[tuple[int, int], str], source: Source) -> Iterator[Problem]:
    """Tell values that many readers would take for text."""
    for (line, column), text in written.items():
        found = surprise(text, plain_value(text))
        if found is not None:
            is_odd = ":" in text or ("e" in text.lower() and not text.isalpha())
            severity: Severity = "warning" if is_odd else "note"
            yield Problem(found[0], source.location(line - 1, column - 1), found[1], severity, "yaml-word")


def _surprising_keys(mappings: list[dict[str, Any]], source: Source) -> Iterator[Problem]:
    """Tell keys that are text here, and a truth value or a number to other readers of bundles."""
    names: set[str] = set().union(*mappings)
    if not names or (min(names) > ":" and WORDS.isdisjoint(names)):
        return  # nearly every file; digits and signs come before letters
    odd = {key for key in names if plain_value(key) is not key}
    for keys in mappings:
        for event in (event for key, event in keys.items() if key in odd and _is_plain(event)):
            what, fix = surprising_key(event.value)
            mark = event.start_mark
            yield Problem(what, source.location(mark.line, mark.column), fix, "note", "yaml-word")


def read_page(text: str, file: str) -> tuple[TreeFile | None, str, int]:
    """Return the frontmatter of a page, the text below it and the line on which that starts.

    Raises DocumentError.
    """
    page = split_page(text, file)
    head = None if page.head is None else read_tree(page.head, file, kind="Frontmatter", first_line=1)
    return head, page.body, page.body_line


class _Trees:
    """Makes trees from what a document says, and carries out the operators in keys."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.numbers: dict[tuple[int, int], str] = {}
        self.keys: list[dict[str, Any]] = []  # the events of the keys of each mapping

    def scalar(self, text: str, style: Style, line: int, column: int, /) -> Tree:
        if style != "plain" or (text and text[0] not in FIRST):
            return Leaf(text, self.origin, line + 1, column + 1)
        value = plain_value(text)
        if value is not text or looks_otherwise(text):
            self.numbers[line + 1, column + 1] = text
        return Leaf(value, self.origin, line + 1, column + 1)

    def sequence(self, items: list[Tree], line: int, column: int, /) -> Tree:
        return Items(items, self.origin, line + 1, column + 1)

    def mapping(self, entries: dict[str, Tree], keys: dict[str, Any], line: int, column: int, /) -> Tree:
        for key in entries:
            if key.endswith(("!", "-")):
                entries = _operated(entries, keys)
                break
        self.keys.append(keys)
        return Table(entries, self.origin, line + 1, column + 1)


def _is_plain(key: Any) -> bool:
    return key.style not in _QUOTES and key.tag is None


def _operated(raw: dict[str, Tree], keys: dict[str, Any]) -> dict[str, Tree]:
    """Return entries with the operators of their keys carried out; a key in quotes is only a key."""
    entries: dict[str, Tree] = {}
    for key, tree in raw.items():
        if key in keys and keys[key].style in _QUOTES:
            entries[key] = tree
        else:
            enter(entries, key, tree)
    return entries
