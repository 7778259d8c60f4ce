"""Write a new recipe, and the schema that editors check it with."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

from amplihack.app.workspace import Workspace
from amplihack.errors import InputError, UsageError
from amplihack.patterns import pattern
from amplihack.recipes.schema import json_schema
from amplihack.recipes.starter import starter
from amplihack.records import Record
from amplihack.system.replace import write_atomic
from amplihack.system.search_dirs import project_of

_NAME = pattern(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_OTHER = pattern(r"[^A-Za-z0-9_]+")
_SUFFIXES = (".yaml", ".yml")
_SCHEMA = Path(".amplihack", "recipe.schema.json")
_READABLE = 0o644


class NewRecipe(Record):
    """The files that were written, and the recipe that the new one hides, if any."""

    name: str
    file: Path
    schema: Path
    hides: Path | None


def new_recipe(workspace: Workspace, word: str, output: str | None, *, force: bool = False) -> NewRecipe:
    """Write a recipe to start with. `word` is its name, or the path of its file.

    Raises UsageError for a name that no recipe can have, and InputError for a file that exists.
    """
    name, file = _place(workspace, word, output)
    if not force:
        _refuse_existing(workspace, file)
    before = workspace.library.find(name)
    schema = _project(workspace, file) / _SCHEMA
    shown = shlex.quote(workspace.library.shown(file))
    text = starter(name, file=shown, schema=os.path.relpath(schema, os.path.realpath(file.parent)))
    for path, content in ((file, text), (schema, json.dumps(json_schema(), indent=2) + "\n")):
        _make_directory(path.parent)
        write_atomic(path, content.encode(), _READABLE)
    hidden = before if before and before != Path(os.path.realpath(file)) else None
    return NewRecipe(name, file, schema, hidden if workspace.library.find(name) != hidden else None)


def _like(name: str) -> str:
    """Return a name that may be used and looks like another one, or an example."""
    from unicodedata import normalize  # deferred: most names may be used

    plain = normalize("NFKD", name).encode("ascii", "ignore").decode()
    return _OTHER.sub("-", plain).strip("-_") or "release-notes"


def _place(workspace: Workspace, word: str, output: str | None) -> tuple[str, Path]:
    """Return the name and the file that the words mean."""
    last = word.rpartition("/")[2]
    name, dot, suffix = last.rpartition(".") if last.endswith(_SUFFIXES) else (last, ".", "yaml")
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"'{word}' cannot be the name of a recipe",
            fix=f"use the letters a to z, digits, - and _, as in `amplihack recipe new {_like(name)}`",
        )
    path = workspace.home.path(workspace.directory / word).with_name(f"{name}{dot}{suffix}")
    if output is None:
        return name, path
    target = workspace.home.path(workspace.directory / output)
    if output.endswith(_SUFFIXES) and not target.is_dir():
        return name, target
    return name, target / path.name


def _project(workspace: Workspace, file: Path) -> Path:
    """Return the directory that keeps the schema for all recipes around the file."""
    project = project_of(file)
    if project != Path(os.path.realpath(file.parent)) or not file.is_relative_to(workspace.directory):
        return project
    return workspace.directory


def _refuse_existing(workspace: Workspace, file: Path) -> None:
    for path in (file, file.with_suffix(".yml")):
        if os.path.lexists(path):
            raise InputError(
                f"{workspace.library.shown(path)} exists"
                + ("" if path == file else f", and {file.name} would hide it"),
                fix="choose another name, or overwrite it with --force"
                if path == file
                else "choose another name, or write the new one all the same with --force",
            )


def _make_directory(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"IO error: cannot make the directory {directory}: {error.strerror}", fix="choose another place"
        ) from error
