"""List the recipes around a command, and compare them with a manifest or a repository."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from amplihack.app.workspace import Workspace
from amplihack.errors import NotFound

if TYPE_CHECKING:
    from amplihack.system.recipe_listing import RecipeListing
    from amplihack.system.recipe_manifest import ManifestChange
    from amplihack.system.recipe_upstream import UpstreamReport


def list_recipes(workspace: Workspace) -> RecipeListing:
    """Return every recipe that can be run by name, what shadows what, and the broken files."""
    from amplihack.system.recipe_listing import (
        list_library,  # deferred, as below: each command needs one of them
    )

    return list_library(workspace.library)


def refresh_manifest(directory: Path) -> Path:
    """Write the manifest of a directory again and return its path."""
    from amplihack.system.recipe_manifest import update_manifest

    return update_manifest(directory)


def manifest_changes(directory: Path) -> tuple[ManifestChange, ...]:
    """Return how the recipes of a directory differ from its manifest."""
    from amplihack.system.recipe_manifest import check_upstream_changes

    return check_upstream_changes(directory)


def recipe_directory(workspace: Workspace, directory: str | None) -> Path:
    """Return the directory of that name, or the first that recipes are looked for in. Raises NotFound."""
    if directory is not None:
        return workspace.home.path(directory)
    for candidate in workspace.library.directories:
        if candidate.is_dir():
            return candidate
    raise NotFound("there is no directory with recipes here", fix="name one: `amplihack recipe manifest DIR`")


def sync(workspace: Workspace, url: str | None, branch: str, remote: str) -> UpstreamReport:
    """Compare the project's recipes with those upstream."""
    from amplihack.system.recipe_upstream import compare_with_upstream, upstream_url

    return compare_with_upstream(
        workspace.directory,
        url if url is not None else upstream_url(workspace.environment),
        branch,
        remote,
        environment=workspace.environment,
    )
