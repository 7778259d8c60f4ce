"""The settings of this place: files of several scopes, and what relative paths in them start at."""

from __future__ import annotations

import os
import posixpath
from dataclasses import replace
from pathlib import Path

from amplihack.app.workspace import Workspace
from amplihack.bundles.sections import with_anchored_source
from amplihack.bundles.settings import Settings, decode_settings, merge_settings
from amplihack.bundles.tree import Items, Leaf, Table, Tree
from amplihack.system.files import read_bytes

_FOLDER = ".amplihack"


def read_settings(workspace: Workspace) -> Settings:
    """Every scope, the widest first: the home root's, the project's, and the project's local one.

    Relative paths start at the home root, or at the project; the user's home directory is no project.
    Raises AmplihackError for a file that is there and cannot be used.
    """
    home, project = workspace.home.root, workspace.directory / _FOLDER
    places = [("home settings", home / "settings.yaml", home)]
    if workspace.directory != workspace.home.user and project != home:
        places += [
            ("project settings", project / "settings.yaml", workspace.directory),
            ("local settings", project / "settings.local.yaml", workspace.directory),
        ]
    return merge_settings([_scope(*place) for place in places if os.path.lexists(place[1])])


def _scope(scope: str, path: Path, base: Path) -> Settings:
    read = decode_settings(read_bytes(path, kind="Settings file"), str(path), scope=scope)
    return anchored(read, str(base))


def anchored(settings: Settings, base: str) -> Settings:
    """The same settings with the relative paths of bundles and modules made absolute."""
    rest = dict(settings.rest.entries)
    for key in ("bundle", "sources"):
        if key in rest:
            rest[key] = _paths(rest[key], base)
    overrides = rest.get("overrides")
    if isinstance(overrides, Table):
        rest["overrides"] = _modules(overrides, base)
    return replace(
        settings,
        providers=_modules(settings.providers, base),
        tools=_modules(settings.tools, base),
        hooks=_modules(settings.hooks, base),
        rest=replace(settings.rest, entries=rest),
    )


def _paths(tree: Tree, base: str) -> Tree:
    if isinstance(tree, Table):
        return replace(tree, entries={key: _paths(item, base) for key, item in tree.entries.items()})
    if isinstance(tree, Items):
        return replace(tree, items=[_paths(item, base) for item in tree.items])
    if isinstance(tree, Leaf) and isinstance(tree.value, str) and tree.value.startswith(("./", "../")):
        return replace(tree, value=posixpath.normpath(posixpath.join(base, tree.value)))
    return tree


def _modules(table: Table, base: str) -> Table:
    entries = {
        key: with_anchored_source(entry, base) if isinstance(entry, Table) else entry
        for key, entry in table.entries.items()
    }
    return replace(table, entries=entries)
