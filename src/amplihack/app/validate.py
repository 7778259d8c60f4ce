"""Whether a file is a recipe, and everything that is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass

from amplihack.app.workspace import Opened, Workspace, find_recipe_file, open_file
from amplihack.errors import AmplihackError, Problem


@dataclass(frozen=True, slots=True)
class Validation:
    """The answer about one file; `opened` is None for a file that is no recipe."""

    file: str
    opened: Opened | None
    problems: tuple[Problem, ...]
    exit_code: int

    @property
    def valid(self) -> bool:
        return self.opened is not None


def validate(workspace: Workspace, reference: str) -> Validation:
    """Read one recipe. What goes wrong becomes part of the answer, so that many can be asked about."""
    try:
        path = find_recipe_file(workspace, reference)
        opened = open_file(workspace.library, path)
    except AmplihackError as error:
        return Validation(reference, None, _all_problems(workspace, reference, error), error.exit_code)
    problems = tuple(each for each in opened.decoded.problems if each.severity != "note")
    return Validation(workspace.library.shown(path), opened, problems, 0)


def _all_problems(workspace: Workspace, reference: str, error: AmplihackError) -> tuple[Problem, ...]:
    """Return the errors, and with them the warnings that the file has as well."""
    try:
        warnings = workspace.library.load(find_recipe_file(workspace, reference)).warnings
    except AmplihackError:
        warnings = ()  # the file cannot be found or read at all, which the error says
    problems = {(each.where, each.what): each for each in (*error.problems, *warnings)}
    return tuple(sorted(problems.values(), key=_place))


def _place(problem: Problem) -> tuple[int, int]:
    return (problem.where.line, problem.where.column) if problem.where else (0, 0)
