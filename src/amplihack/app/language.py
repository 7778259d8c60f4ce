"""What a user can ask about recipes without running them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from amplihack.app.workspace import Opened, Workspace, find_recipe_file, open_recipe
from amplihack.errors import AmplihackError, NotFound, Problem

if TYPE_CHECKING:
    from amplihack.system.listing import Listing
    from amplihack.system.manifest import Change
    from amplihack.system.upstream import UpstreamReport


@dataclass(frozen=True, slots=True)
class Validation:
    """Whether a file is a recipe, and everything that is wrong with it."""

    file: str
    opened: Opened | None
    problems: tuple[Problem, ...]
    exit_code: int

    @property
    def valid(self) -> bool:
        return self.opened is not None


def list_recipes(workspace: Workspace) -> Listing:
    """Every recipe that can be run by name, what shadows what, and the files that are broken."""
    from amplihack.system.listing import (
        list_library,
    )  # deferred, like the imports below: `validate` needs none

    return list_library(workspace.library)


def validate(workspace: Workspace, reference: str) -> Validation:
    """Reads one recipe; what goes wrong becomes part of the answer, so that many can be asked about."""
    try:
        opened = open_recipe(workspace, reference)
    except AmplihackError as error:
        return Validation(reference, None, _all_problems(workspace, reference, error), error.exit_code)
    problems = tuple(each for each in opened.decoded.problems if each.severity != "note")
    return Validation(workspace.library.shown(opened.path), opened, problems, 0)


def _all_problems(workspace: Workspace, reference: str, error: AmplihackError) -> tuple[Problem, ...]:
    """The errors, and with them the warnings that the file has as well."""
    try:
        warnings = workspace.library.load(find_recipe_file(workspace, reference)).warnings
    except AmplihackError:
        warnings = ()  # the file cannot be found or read at all, which the error says
    problems = {(each.where, each.what): each for each in (*error.problems, *warnings)}
    return tuple(sorted(problems.values(), key=_place))


def _place(problem: Problem) -> tuple[int, int]:
    return (problem.where.line, problem.where.column) if problem.where else (0, 0)


def refresh_manifest(workspace: Workspace, directory: str | None) -> Path:
    from amplihack.system.manifest import update_manifest

    return update_manifest(_recipe_directory(workspace, directory))


def manifest_changes(workspace: Workspace, directory: str | None) -> tuple[Change, ...]:
    from amplihack.system.manifest import check_upstream_changes

    return check_upstream_changes(_recipe_directory(workspace, directory))


def _recipe_directory(workspace: Workspace, directory: str | None) -> Path:
    if directory is not None:
        return workspace.home.path(directory)
    for candidate in workspace.library.directories:
        if candidate.is_dir():
            return candidate
    raise NotFound("there is no directory with recipes here", fix="name one: `amplihack recipe manifest DIR`")


def sync(workspace: Workspace, url: str | None, branch: str, remote: str) -> UpstreamReport:
    """Compares the project's recipes with those upstream."""
    from amplihack.system.upstream import compare_with_upstream, upstream_url

    return compare_with_upstream(
        workspace.directory,
        url if url is not None else upstream_url(workspace.environment),
        branch,
        remote,
        environment=workspace.environment,
    )
