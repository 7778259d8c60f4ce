"""Open a command's workspace, and the recipe files in it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from amplihack.errors import AmplihackError, NotFound, NothingToUse, Problem, UsageError, in_file_order
from amplihack.recipes.naming import unsafe_name
from amplihack.records import Record, field, replace
from amplihack.system.home import Home, this_process
from amplihack.system.recipe_files import looks_like_recipe, may_be_recipe, recipe_files
from amplihack.system.recipe_library import Library
from amplihack.system.search_dirs import is_directory

if TYPE_CHECKING:
    from amplihack.recipes.decode import Decoded
    from amplihack.recipes.extends import Located
    from amplihack.recipes.model import Text
    from amplihack.system.agent_files import AgentFiles


STDIN = "-"  # names the recipe that comes from stdin
STDIN_NAME = "<stdin>"  # in messages


class Piped(Record):
    """A recipe that came by stdin, which nobody can read a second time."""

    data: bytes
    decoded: Decoded


class Workspace(Record):
    """The environment, directories and recipes that a command works with."""

    environment: Mapping[str, str]
    home: Home
    library: Library
    notes: tuple[Problem, ...] = ()  # what was left out of the files of variables
    piped: list[Piped] = field(default_factory=list, repr=False)  # the recipe of stdin, once it is read
    env_files: tuple[Path, ...] = ()  # whose variables are part of the environment

    @property
    def directory(self) -> Path:
        return self.library.working_dir

    @property
    def agents(self) -> AgentFiles:
        from amplihack.system.agent_files import AgentFiles  # deferred: reading a recipe needs no agents

        return AgentFiles.of(self.home, self.directory)


class Opened(Record):
    """A recipe file: its decoded text, and the recipe with its `extends` merged in."""

    decoded: Decoded
    located: Located
    files: tuple[Path, ...] = ()  # that it was made of: its own, and those that it extends
    piped: bytes | None = None  # what came by stdin, if it did


class Validation(Record):
    """Everything that is wrong with a file. `opened` is None if it is no recipe."""

    file: str
    opened: Opened | None
    problems: tuple[Problem, ...]
    exit_code: int

    @property
    def valid(self) -> bool:
        return self.opened is not None


def open_workspace(
    recipe_dirs: Sequence[str] = (),
    directory: str | None = None,
    env_files: Sequence[str] = (),
    *,
    generation: str = "",
) -> Workspace:
    """Return the workspace of this process, with the variables of the files added to its environment.

    `generation` is that of the framework bundle that a run began with.
    Raises UsageError if its directory does not exist, and NotFound or DocumentError for a file of variables.
    """
    environment, cwd = this_process()
    home = Home.from_environment(environment, cwd)
    notes: tuple[Problem, ...] = ()
    found: dict[str, Path] = {}
    if env_files:
        from amplihack.app.env_files import add_env_files  # deferred: hardly any command has one
        from amplihack.system.given_files import given_path

        found = {file: given_path(home, file) for file in env_files}
        environment, notes = add_env_files(environment, found)
        home = Home.from_environment(environment, cwd)
    home = home.at_generation(generation)
    working_dir = home.path(directory or ".")
    if not is_directory(working_dir):
        what = "is no directory" if working_dir.exists() else "does not exist"
        raise UsageError(f"the working directory {what}: {working_dir}", fix="check -C")
    library = Library.from_environment(environment, home, recipe_dirs=recipe_dirs, working_dir=working_dir)
    notes += tuple(_no_directory(each) for each in recipe_dirs if not is_directory(home.path(each)))
    return Workspace(environment, home, library, notes, env_files=tuple(found.values()))


def recipe_references(workspace: Workspace, given: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the given references, directories replaced by their recipes, and the other YAML files in those.

    Raises NotFound for a directory without recipes.
    """
    found: list[str] = []
    others: list[str] = []
    for reference in given:
        path = workspace.home.path(reference)
        if reference == STDIN or not reference or not is_directory(path):
            found.append(reference)
            continue
        files = {file: may_be_recipe(file) for file in recipe_files(path)}
        if not any(files.values()):
            raise NotFound(f"there are no recipes in {path}", fix="name a directory with .yaml files")
        found += [str(file) for file, is_recipe in files.items() if is_recipe]
        others += [workspace.library.shown(file) for file, is_recipe in files.items() if not is_recipe]
    return found, others


def _no_directory(name: str) -> Problem:
    return Problem(f"-R {name}: there is no such directory", None, "check the path", "warning")


def find_recipe_file(workspace: Workspace, reference: str) -> Path:
    """Return the file that a path or a name means. Raises NotFound, and NothingToUse for an empty name."""
    if not reference.strip():
        fix = "give a name or a path; a variable of your shell may be empty"
        raise NothingToUse("no recipe is given: the name is empty", fix=fix)
    path = workspace.home.path(reference)
    is_path = "/" in reference or reference.endswith((".yaml", ".yml"))
    if os.path.lexists(path) and (is_path or not _means_another(workspace, reference, path)):
        return path
    if not is_path and (found := workspace.library.find(reference)) is not None:
        return found
    from amplihack.app.recipe_not_found import file_not_found, name_not_found  # deferred: most are found

    library = workspace.library
    raise file_not_found(library, reference, path) if is_path else name_not_found(library, reference)


def _means_another(workspace: Workspace, name: str, path: Path) -> bool:
    """Tell whether a name leads to a recipe, although a directory or another kind of file is called so."""
    if looks_like_recipe(path) or unsafe_name(name):
        return False
    return workspace.library.find(name) is not None


def shown_reference(reference: str) -> str:
    """Return how messages call the recipe that a command line names."""
    return STDIN_NAME if reference == STDIN else reference


def open_recipe(workspace: Workspace, reference: str) -> Opened:
    """Load a recipe by path or name and merge its `extends`.

    Raises NotFound, DocumentError, or RecipeError with every error of the file.
    """
    if reference == STDIN:
        piped = _piped(workspace)
        return replace(open_decoded(workspace.library, piped.decoded, None), piped=piped.data)
    return open_file(workspace.library, find_recipe_file(workspace, reference))


def _piped(workspace: Workspace) -> Piped:
    """Return the recipe that stdin holds; it is read once, however often it is named."""
    # Deferred, as above.
    from amplihack.recipes.decode import decode, read_recipe
    from amplihack.system.stdin import read_stdin

    if not workspace.piped:
        data = read_stdin()
        workspace.piped.append(Piped(data, decode(read_recipe(data, STDIN_NAME))))
    return workspace.piped[0]


def open_file(library: Library, path: Path) -> Opened:
    """Load a recipe file and merge its `extends`. Raises like `open_recipe`."""
    return open_decoded(library, library.load(path), path)


def open_decoded(library: Library, decoded: Decoded, path: Path | None) -> Opened:
    """Merge what a recipe extends; `path` is None for one that was read from a text."""
    # Deferred: commands for bundles have a workspace as well, and open no recipe.
    from amplihack.recipes.extends import Located, resolve_extends

    place = str(path) if path else None
    files = [path] if path else []
    inherited: list[Problem] = []

    def parent(wanted: Text, child: str | None) -> Located | None:
        found = library.parent(wanted, child)
        if found and found.path:
            files.append(Path(found.path))
            # Behind its last steps stand those of this recipe.
            inherited.extend(each for each in library.load(files[-1]).warnings if each.code != "late-gate")
        return found

    merged = resolve_extends(Located(decoded.required(), place), parent)
    if inherited:  # its steps are steps of this recipe
        decoded = replace(decoded, problems=(*decoded.problems, *inherited))
    return Opened(decoded, Located(merged, place), tuple(files))


def validate(workspace: Workspace, reference: str) -> Validation:
    """Validate one recipe. Errors are part of the answer, so that many recipes can be validated."""
    try:
        opened = open_recipe(workspace, reference)
    except AmplihackError as error:
        shown = shown_reference(reference)
        return Validation(shown, None, _all_problems(workspace, reference, error), error.exit_code)
    problems = tuple(each for each in opened.decoded.problems if each.severity != "note")
    path = opened.located.path
    return Validation(workspace.library.shown(Path(path)) if path else STDIN_NAME, opened, problems, 0)


def _all_problems(workspace: Workspace, reference: str, error: AmplihackError) -> tuple[Problem, ...]:
    """Return the errors, and the warnings of the same file."""
    try:
        if reference == STDIN:
            warnings = workspace.piped[0].decoded.warnings if workspace.piped else ()
        else:
            warnings = workspace.library.load(find_recipe_file(workspace, reference)).warnings
    except AmplihackError:
        warnings = ()  # the file cannot be found or read at all, which the error says
    problems = {(each.where, each.what): each for each in (*error.problems, *warnings)}
    return in_file_order(problems.values())
