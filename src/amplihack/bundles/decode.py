"""Decode the text of a bundle file, and report everything that is wrong with it at once."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping as AnyMapping
from typing import Any

from amplihack.bundles.errors import (
    BundleLoadError,
    BundleValidationError,
    Subject,
    error_from,
    unreadable,
)
from amplihack.bundles.file_report import (
    FileReport,
    as_items,
    as_table,
    is_absent,
    kind_of,
    mistyped_keys,
    texts,
    unknown_keys,
)
from amplihack.bundles.includes import decode_includes
from amplihack.bundles.merge import merge_tables
from amplihack.bundles.model import Bundle, Lineage
from amplihack.bundles.sections.table import SECTIONS
from amplihack.bundles.tree import Items, Leaf, Origin, Removed, Table, Tree, from_value
from amplihack.bundles.tree_files import TreeFile, read_page, read_tree
from amplihack.errors import DocumentError, Location, Problem
from amplihack.patterns import pattern
from amplihack.records import Record, replace

_KEYS = (*(section.name for section in SECTIONS), "includes", "exclude")
HEAD_KEYS = ("name", "version", "description", "namespace_root")
# Entries without effect, and what becomes of them where that is no error.
_LOST = {
    "include-shape": "skipped",
    "includes-below-bundle": "skipped",
    "module-missing": "skipped",
    "duplicate-key": "the last one counts",
}
_VALIDATION_CODES = frozenset(
    {"module-list", "module-entry", "module-missing", "module-config", "two-defaults"}
)
_EXCLUDABLE = tuple(section.name for section in SECTIONS if section.excludable)
# Namespaces of mentions that are no bundles, and where they lead.
_SHORTCUTS = {"user": "the home root", "project": "the directory .amplihack of the project"}
_AGENT_KEYS = ("meta", "model_role", "provider_preferences", "name", "description")
_NAME = pattern(r"[^\s:/@~][^\s:/@]*")


class DecodedBundle(Record):
    """A bundle as far as its file could be read, and what is wrong with the file."""

    bundle: Bundle
    problems: tuple[Problem, ...] = ()

    def judged(self, *, strict: bool) -> tuple[Problem, ...]:
        """Return the problems; `strict` makes what would be lost errors: includes, modules, values."""
        return tuple(_judged(each, strict) if each.code in _LOST else each for each in self.problems)

    def checked(self, *, strict: bool = True) -> Bundle:
        """Return the bundle, or raise for errors; `strict` counts what would be lost as errors."""
        problems = self.judged(strict=strict)
        wrong = [each for each in problems if each.severity == "error"]
        if not wrong:
            return self.bundle
        kind = BundleValidationError if wrong[0].code in _VALIDATION_CODES else BundleLoadError
        raise error_from(kind, problems, Subject(path=self.bundle.lineage.file or None))


def _judged(problem: Problem, strict: bool) -> Problem:
    """Return what would be lost as an error, or say what becomes of it."""
    if strict:
        return replace(problem, severity="error")
    return replace(problem, what=f"{problem.what}; {_LOST[problem.code]}", severity="warning")


class Head(Record):
    """The name, version and description that a file gives itself."""

    name: str = ""
    version: str = ""
    description: str = ""
    namespace_root: str | None = None


def decode_bundle(text: str | bytes, file: str, *, base_path: str | None = None) -> DecodedBundle:
    """Decode a `.md`, `.yaml` or `.yml` file. Raises BundleLoadError when it is no bundle at all."""
    try:
        document, body, body_line = open_file(text, file)
    except DocumentError as error:
        raise unreadable(error, file) from error
    base = base_path if base_path is not None else posixpath.dirname(file)
    root, head = _root_of(document, file)
    origin = root.origin
    report = FileReport(head.name or base or "unknown", document.source.lines if document else [])
    report.problems.extend(document.problems if document else ())
    if document is None and body_line == 1:
        _misplaced_frontmatter(body, file, report)
    bundle = _decode(root, head, base, report)
    instruction = _instruction(body, body_line, origin)
    return DecodedBundle(replace(bundle, instruction=instruction), report.in_file_order())


def decode_data(data: AnyMapping[str, Any], *, base_path: str | None = None, file: str = "") -> DecodedBundle:
    """Decode plain data; its values know their bundle, and no line."""
    if not isinstance(data, AnyMapping):
        what = f"the data of a bundle should be a mapping, got {type(data).__name__}: {data!r}"
        raise BundleLoadError(what, fix="give what `yaml.safe_load` makes of a bundle file")
    raw = data.get("bundle") or {}
    if not isinstance(raw, dict):
        what = f"`bundle` should be a mapping, got {type(raw).__name__}: {raw!r}"
        raise BundleLoadError(what, fix="write `bundle:` and below it, indented, `name: …`")
    texts_of = {key: raw[key] for key in HEAD_KEYS if raw.get(key) is not None}
    wrong = [key for key, value in texts_of.items() if not _is_readable(value)]
    head = Head(**{key: str(value) for key, value in texts_of.items() if key not in wrong})
    tree = from_value(dict(data), Origin(head.name, file), operators=True)
    report = FileReport(head.name or base_path or "unknown")
    for key in wrong:
        what = f"`bundle.{key}` should be text, got {type(raw[key]).__name__}: {raw[key]!r}"
        report.error("wrong-type", what, tree, "put it in quotes")
    bundle = _decode(tree if isinstance(tree, Table) else Table(), head, base_path, report)
    return DecodedBundle(bundle, report.in_file_order())


def _is_readable(value: object) -> bool:
    """Tell whether a value is a text or a number: what `on` or a list was to say, nobody knows."""
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def open_file(text: str | bytes, file: str) -> tuple[TreeFile | None, str, int]:
    """Return a file's YAML, its markdown and the line where that starts. Raises DocumentError."""
    if isinstance(text, bytes):
        text = _utf8(text, file)
    text = text.lstrip("\ufeff")
    if file.endswith(".md"):
        return read_page(text.replace("\r\n", "\n"), file)
    if not file.endswith((".yaml", ".yml")):
        raise DocumentError(
            f"{posixpath.basename(file)} is no bundle file", fix="a bundle is a .md, .yaml or .yml file"
        )
    if all(re.fullmatch(r"\s*(#.*|---|\.\.\.)?\s*", line) for line in text.splitlines()):
        return None, "", 1
    return read_tree(text, file, kind="Bundle file"), "", 1


def _utf8(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DocumentError(
            f"the file is not UTF-8: byte 0x{data[error.start]:02x} cannot be read",
            where=Location(file, line, 1),
            fix="save it as UTF-8",
        ) from error


def _root_of(document: TreeFile | None, file: str) -> tuple[Table, Head]:
    """Return the table of a file, an empty one if the file says nothing, and what it calls itself."""
    if document is None or is_absent(document.root):
        return Table(origin=Origin("", file)), Head()
    root = document.root
    if not isinstance(root, Table):
        kind = type(root.value).__name__ if isinstance(root, Leaf) else "list"
        raise BundleLoadError(
            f"{file} should hold a mapping, got {kind}",
            where=document.where(root),
            fix="begin it with `bundle:`",
        )
    head = read_head(root, document)
    document.call_origin(head.name)
    return root, head


def read_head(root: Table, document: TreeFile) -> Head:
    """Read name, version and description as they are written: a version of 1.10 stays 1.10."""
    part = next((tree for key in ("bundle", "meta") if (tree := root.get(key)) is not None), None)
    if part is None or is_absent(part):
        part = root if root.get("bundle") is None else None
    if part is not None and not isinstance(part, Table):
        raise BundleLoadError(
            "`bundle` should be a mapping", where=document.where(part), fix="write `bundle:\\n  name: …`"
        )
    if part is None:
        return Head()
    found = {
        key: document.written(leaf)
        for key in HEAD_KEYS
        if isinstance(leaf := part.get(key), Leaf) and leaf.value is not None
    }
    return Head(**found)


def _decode(root: Table, head: Head, base: str | None, report: FileReport) -> Bundle:
    _check_head(root, head, report)
    is_agent = "bundle" not in root.entries and ("meta" in root.entries or "name" in root.entries)
    report.bare_modules = is_agent
    known = (*_KEYS, "bundle", *((*_AGENT_KEYS, *HEAD_KEYS) if is_agent else ()))
    unknown_keys(root, known, "the section", report)
    extra = {key: item for key, item in root.entries.items() if key not in known}
    removals = _exclusions(root.get("exclude"), report)
    sections: dict[str, Table] = {}
    for section in SECTIONS:
        found = section.read(root.entries.get(section.name), report, base)
        gone = removals.get(section.name)
        table = merge_tables((gone, found)) if gone is not None else found
        if table:
            sections[section.name] = table
    return Bundle(
        name=head.name,
        version=head.version,
        description=head.description,
        includes=decode_includes(root.get("includes"), report),
        namespace_root=head.namespace_root,
        sections=sections,
        base_path=base,
        extra=Table({**extra, **_context_options(root.get("context"))}, root.origin),
        lineage=Lineage(head.name, head.version, root.origin.file),
    )


def _context_options(tree: Tree | None) -> dict[str, Tree]:
    """Return `context.expand`; it is no context file, so it travels with what is no section."""
    expand = tree.get("expand") if isinstance(tree, Table) else None
    if expand is None or tree is None:
        return {}
    return {"context": Table({"expand": expand}, tree.origin, tree.line, tree.column)}


def _check_flat_head(root: Table, report: FileReport) -> None:
    """Report a bundle whose name stands where only agents have it."""
    name = root.get("name")
    if name is not None and root.get("meta") is None and (root.get("version") or root.get("includes")):
        said = ", ".join(f"`{key}`" for key in HEAD_KEYS if root.get(key) is not None)
        report.warn("head-outside", f"{said} stand outside of `bundle:`", name, "write them below `bundle:`")


def _check_head(root: Table, head: Head, report: FileReport) -> None:
    part = root.get("bundle")
    if not isinstance(part, Table):
        _check_flat_head(root, report)
        return
    mistyped_keys(part, HEAD_KEYS, "`bundle`:", report, told=_KEYS)
    for key in HEAD_KEYS:
        said = part.get(key)
        if said is not None and said.line and isinstance(said, Table | Items):  # in data, it is told already
            what = f"`bundle.{key}` should be text, got {kind_of(said)}"
            report.error("wrong-type", what, said, "write one text")
    for key in _KEYS:
        misplaced = part.get(key)
        if misplaced is not None:
            code, effect = ("includes-below-bundle", "includes nothing") if key == "includes" else (
                "section-below-bundle", "has no effect"
            )  # fmt: skip
            what = f"`{key}` stands below `bundle:`, where it {effect}"
            report.warn(code, what, misplaced, "move it to the start of the line, beside `bundle:`")
    name = part.get("name")
    if name is None or not head.name:
        return
    what = f"the name {head.name!r} cannot be used as a namespace"
    if head.name in _SHORTCUTS:
        meaning = _SHORTCUTS[head.name]
        report.warn("name-shape", f"{what}: @{head.name}: means {meaning}", name, "give it another name")
    elif not _NAME.fullmatch(head.name):
        report.warn("name-shape", what, name, "use lower-case letters, digits, - and _")


def _exclusions(tree: Tree | None, report: FileReport) -> dict[str, Table]:
    """Read `exclude:` as removals, by section."""
    found: dict[str, Table] = {}
    table = as_table(tree, "exclude", report)
    unknown_keys(table, _EXCLUDABLE, "`exclude`:", report)
    for name in _EXCLUDABLE:
        if not is_absent(table.get(name)):
            listed = texts(as_items(table.get(name), f"exclude.{name}", report), f"exclude.{name}", report)
            gone: dict[str, Tree] = {
                leaf.value: Removed(leaf.origin, leaf.line, leaf.column) for leaf in listed
            }
            found[name] = Table(gone, table.origin, table.line, table.column)
    return found


def _instruction(body: str, line: int, origin: Origin) -> Leaf | None:
    text = body.strip()
    if not text:
        return None
    skipped = body[: len(body) - len(body.lstrip())].count("\n")
    return Leaf(text, origin, line + skipped, 1)


def _misplaced_frontmatter(body: str, file: str, report: FileReport) -> None:
    lines = body.split("\n")[:3]
    if any(line.rstrip() == "---" for line in lines[1:]) and len(body.split("\n---")) > 2:
        report.problems.append(
            Problem(
                "the frontmatter is not read: something stands before its first ---",
                Location(file, 1, 1, lines[0]),
                "let the file begin with ---",
                "warning",
                "frontmatter-not-first",
            )
        )
