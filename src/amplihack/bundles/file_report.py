"""Report what is wrong with one file, and read the shapes that several sections share."""

from __future__ import annotations

import posixpath
from collections.abc import Container, Iterable, Iterator

from amplihack.bundles.tree import Items, Leaf, Removed, Table, Tree, to_plain
from amplihack.documents.suggest import closest
from amplihack.errors import Location, Problem, Severity, in_file_order
from amplihack.records import Record, field, replace


class FileReport(Record, frozen=False):
    """Collects the problems of one file; `owner` is what messages call the bundle in it."""

    owner: str = "unknown"
    lines: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    bare_modules: bool = False  # whether a module may be listed by its name alone, as agents do

    def error(self, code: str, what: str, at: Tree, fix: str = "") -> None:
        self._add("error", code, what, at, fix)

    def warn(self, code: str, what: str, at: Tree, fix: str = "") -> None:
        self._add("warning", code, what, at, fix)

    def note(self, code: str, what: str, at: Tree, fix: str = "") -> None:
        self._add("note", code, what, at, fix)

    def _add(self, severity: Severity, code: str, what: str, at: Tree, fix: str) -> None:
        self.problems.append(Problem(what, place_of(at, self.lines), fix, severity, code))

    def in_file_order(self) -> tuple[Problem, ...]:
        return in_file_order(self.problems)


def place_of(tree: Tree, lines: list[str] | None = None) -> Location | None:
    """Return where a value stands, or None when it came from no file."""
    if not tree.line:
        return None
    text = lines[tree.line - 1] if lines and tree.line <= len(lines) else ""
    return Location(tree.origin.file, tree.line, tree.column, text)


def kind_of(tree: Tree) -> str:
    """Return what Python calls the value; messages say `expected dict, got str`."""
    return type(to_plain(tree)).__name__


def is_absent(tree: Tree | None) -> bool:
    return tree is None or isinstance(tree, Removed) or (isinstance(tree, Leaf) and tree.value is None)


def is_text(tree: Tree | None) -> bool:
    return isinstance(tree, Leaf) and isinstance(tree.value, str)


def text_keys(table: Table, key: str, report: FileReport) -> Table:
    """Return a mapping of names without those that are no text, as only programs write them; report them."""
    if all(isinstance(name, str) for name in table.entries):
        return table
    for name in table.entries:
        if not isinstance(name, str):
            what = f"`{key}`: the name {name!r} should be text, got {type(name).__name__}"
            report.error("wrong-type", what, table, f'write "{name}" in quotes')
    return replace(
        table, entries={name: item for name, item in table.entries.items() if isinstance(name, str)}
    )


def as_table(tree: Tree | None, key: str, report: FileReport) -> Table:
    """Return the mapping under a key; nothing is an empty one, and anything else is reported."""
    if isinstance(tree, Table):
        return tree
    if isinstance(tree, Removed):
        return Table({}, tree.origin, tree.line, tree.column, fresh=True)
    if tree is not None and not is_absent(tree):
        fix = f"write `{key}:` and below it, indented, a line `name: value` for each part"
        what = f"`{key}` should be a mapping, got {kind_of(tree)}: {_short(tree)}"
        report.error("wrong-type", what, tree, fix)
    return Table()


def as_items(tree: Tree | None, key: str, report: FileReport) -> Items:
    """Return the list under a key; a single value counts as a list of one, with a warning."""
    if tree is None or is_absent(tree):
        return Items()
    if isinstance(tree, Items):
        return tree
    report.warn(
        "single-value", f"`{key}` should be a list", tree, "start each entry on its own line with `- `"
    )
    return Items([tree], tree.origin, tree.line, tree.column)


def texts(items: Items, key: str, report: FileReport) -> Iterator[Leaf]:
    """Return the texts of a list; anything else in it is reported and passed over."""
    for index, item in enumerate(items.items):
        yield from text(item, f"{key}[{index}]", report)


def text(item: Tree, at: str, report: FileReport, code: str = "ignored-entry") -> Iterator[Leaf]:
    """Return a text; anything else is reported by its place and passed over."""
    if isinstance(item, Leaf) and isinstance(item.value, str) and item.value.strip():
        yield without_at(item, at, report)
    else:
        what = f"`{at}` should be text, got {kind_of(item)}: {_short(item)}"
        lost = "ignored-entry" if is_absent(item) else code  # a dash with nothing behind it loses nothing
        report.warn(lost, what, item, "write one text, in quotes if need be")


def without_at(leaf: Leaf, key: str, report: FileReport) -> Leaf:
    """Take the @ of a mention off a reference, where YAML takes none, and report it."""
    if not leaf.value.startswith("@"):
        return leaf
    bare = leaf.value.lstrip("@")
    report.warn(
        "at-in-yaml",
        f"`{key}`: {leaf.value!r} starts with @, which is markdown syntax; YAML takes bare references",
        leaf,
        f"write {bare}",
    )
    return replace(leaf, value=bare)


def _short(tree: Tree) -> str:
    shown = repr(to_plain(tree))
    return shown if len(shown) <= 80 else f"{shown[:77]}..."


def unknown_keys(table: Table, known: Iterable[str], owner: str, report: FileReport) -> None:
    """Report unknown keys: a warning where one looks like a typing mistake, else a note."""
    names = set(known)
    for key, tree in table.entries.items():
        if not isinstance(key, str) or key in names or key.startswith("x-"):
            continue
        meant = closest(key, names)
        if meant:
            report.warn("unknown-key", f"{owner} `{key}` is not known", tree, f"did you mean `{meant}`?")
        elif key in ("steps", "stages") and "includes" in names:
            what, fix = f"a file with `{key}` is a recipe, not a bundle", "`amplihack recipe run` runs it"
            report.warn("unknown-key", what, tree, f"{fix}, `amplihack recipe check` looks for mistakes")
        elif key == "profile" and "includes" in names:
            what = "`profile` is the head of an older format, and has no effect here"
            report.warn("unknown-key", what, tree, "write `bundle:`, and what it extends below `includes:`")
        else:
            fix = f"remove it, or rename it to x-{key} to keep it as a note"
            report.note("unknown-key", f"{owner} `{key}` is not known and has no effect here", tree, fix)


def mistyped_keys(
    table: Table, known: Iterable[str], owner: str, report: FileReport, *, told: Container[str] = ()
) -> set[str]:
    """Report keys that are nearly known ones, in a mapping that may hold anything; not those told already.

    Returns the keys that were reported.
    """
    names = set(known)
    found: set[str] = set()
    for key, tree in table.entries.items():
        is_settled = key in names or key in told or not isinstance(key, str)
        meant = None if is_settled else closest(key, names)
        if meant and meant not in table.entries:
            report.warn("unknown-key", f"{owner} `{key}` is not known", tree, f"did you mean `{meant}`?")
            found.add(key)
    return found


def anchored(path: str, base: str | None) -> str:
    """Make a `./` or `../` path absolute; any other text, or no base, leaves it as it is."""
    if base is None or not path.startswith(("./", "../")):
        return path
    return posixpath.normpath(posixpath.join(base, path))
