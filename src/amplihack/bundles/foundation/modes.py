"""Read mode files: ways of working that can be switched on, and what they contribute."""

from __future__ import annotations

import posixpath
from typing import Any

from amplihack.bundles.decode import open_file
from amplihack.bundles.file_report import FileReport, is_absent, kind_of
from amplihack.bundles.ports import FileText, Texts
from amplihack.bundles.tree import Items, Leaf, Table, Tree, to_plain
from amplihack.errors import DocumentError, Problem
from amplihack.records import Record, field

CONTRIBUTIONS = ("agents", "context", "skills")
_OWN = ("name", "description", "advertised", "contributes")


class Mode(Record):
    name: str
    description: str = ""
    advertised: bool = True
    contributes: dict[str, Any] = field(default_factory=dict)
    rest: dict[str, Any] = field(default_factory=dict)
    instruction: str | None = None
    problems: tuple[Problem, ...] = ()


def decode_mode(text: str | bytes, file: str) -> Mode:
    """Read the mode in a file. Anything wrong with it is a warning, never an exception."""
    stem = posixpath.basename(file).removesuffix(".md")
    try:
        document, body, _ = open_file(text, file)
    except DocumentError as error:
        return Mode(stem, problems=(Problem(error.what, error.where, error.fix, "warning", "mode-file"),))
    if document is not None:
        document.call_origin(stem)
    tree = document.root if document is not None else Table()
    report = FileReport(stem, document.source.lines if document else [])
    mode = tree.get("mode") if isinstance(tree, Table) else None
    table = mode if isinstance(mode, Table) else Table()
    _check(table.get("contributes"), report)
    contributes = table.get("contributes")
    advertised = table.get("advertised")
    return Mode(
        name=table.text("name") or stem,
        description=table.text("description"),
        advertised=not (isinstance(advertised, Leaf) and advertised.value is False),
        contributes=to_plain(contributes) if isinstance(contributes, Table) else {},
        rest={key: to_plain(item) for key, item in table if key not in _OWN},
        instruction=body.strip() or None,
        problems=report.in_file_order(),
    )


def mode_problems(base: str, world: Texts) -> tuple[Problem, ...]:
    """Return the problems of a bundle's mode files, ordered by name."""
    directory = posixpath.join(base, "modes")
    found: list[Problem] = []
    for name in sorted(world.list(directory).files if world.is_dir(directory) else ()):
        if name.endswith(".md"):
            file = posixpath.join(directory, name)
            text = world.read(file)
            unreadable = Problem(f"{file} cannot be read", None, "", "warning", "mode-file")
            found += decode_mode(text.content, file).problems if isinstance(text, FileText) else (unreadable,)
    return tuple(found)


def _check(contributes: Tree | None, report: FileReport) -> None:
    if contributes is None or is_absent(contributes):
        return
    if not isinstance(contributes, Table):
        what = f"`contributes` should be a mapping, got {kind_of(contributes)}"
        report.warn("mode-shape", what, contributes, f"its keys are {', '.join(CONTRIBUTIONS)}")
        return
    for key, item in contributes:
        if key not in CONTRIBUTIONS:
            known = ", ".join(CONTRIBUTIONS)
            report.warn("mode-shape", f"`contributes.{key}` is not known", item, f"use one of {known}")
        elif key == "agents" and not _maps_of_maps(item):
            what = "`contributes.agents` should map names to mappings"
            report.warn("mode-shape", what, item, "write `name:` and its fields below it, indented")
        elif key != "agents" and not _texts(item):
            what = f"`contributes.{key}` should be a list of texts"
            report.warn("mode-shape", what, item, f"write `{key}: [a, b]`")


def _maps_of_maps(tree: Tree) -> bool:
    return isinstance(tree, Table) and all(isinstance(item, Table) for _, item in tree)


def _texts(tree: Tree) -> bool:
    return isinstance(tree, Items) and all(
        isinstance(item, Leaf) and isinstance(item.value, str) for item in tree.items
    )
