"""Read the recipes of a kept run twice: as they were recorded, and as they are now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from amplihack.app.workspace import STDIN_NAME, Opened, Workspace, open_decoded, open_file
from amplihack.documents import read_document
from amplihack.errors import AmplihackError, NotFound
from amplihack.recipes.decode import Decoded, decode
from amplihack.recipes.extends import Located, resolve_extends
from amplihack.recipes.model import Recipe, Text
from amplihack.records import Record, replace
from amplihack.system.recipe_library import Library
from amplihack.system.run_store.store import RecordedRecipe
from amplihack.system.run_store.values import hash_of


class Then(Record):
    """The recipes of a run by their paths, as they were recorded and as they are now; `edited` differ."""

    before: Callable[[str], Recipe | None]
    now: Callable[[str], Recipe | None]
    edited: tuple[str, ...]


def read_then(
    workspace: Workspace, recorded: Sequence[RecordedRecipe], path: Path
) -> tuple[Then, Opened, tuple[str, ...]]:
    """Return both, the recipe at `path` to go on with, and what to tell. Raises AmplihackError."""
    library, known = workspace.library, {each.path: each for each in recorded}
    main = known.get(str(path))
    if main is not None and main.path == STDIN_NAME and not main.masked:
        opened = open_decoded(library, _decoded(library, main), None)
    elif path.exists():
        opened = open_file(library, path)
    elif main is not None and main.path == STDIN_NAME:
        raise NotFound(
            "the recipe of the run came by stdin and holds a secret, so its text was not kept",
            fix="take the secret from the environment instead, and start the recipe anew",
        )
    elif main is None or main.masked:
        raise NotFound(f"the recipe of the run is gone: {path}", fix="put it back")
    else:
        opened = open_decoded(library, _decoded(library, main), path)
    notes = tuple(f"{each} is gone; the run goes on with the recipe as it was" for each in library.gone)
    then = Then(
        as_recorded(library, recorded),
        lambda place: _present_recipe(library, place, path, opened),
        tuple(sorted(each.path for each in recorded if _differs(each))),
    )
    return then, opened, notes


def with_gone(workspace: Workspace, recorded: Sequence[RecordedRecipe]) -> Workspace:
    """Return the workspace in which recipe files of a run that are gone are read as they were."""
    gone = {
        Path(each.path): each.text.encode("utf-8", "surrogateescape")
        for each in recorded
        if not each.masked and each.path != STDIN_NAME and not Path(each.path).exists()
    }
    return replace(workspace, library=replace(workspace.library, gone=gone)) if gone else workspace


def as_recorded(library: Library, recorded: Sequence[RecordedRecipe]) -> Callable[[str], Recipe | None]:
    """Return what reads a recipe of a run, by its path, as it was recorded; it raises AmplihackError."""
    known = {each.path: each for each in recorded}
    return lambda place: _recorded_recipe(library, known, place)


def _differs(recorded: RecordedRecipe) -> bool:
    if recorded.path == STDIN_NAME:
        return False
    try:
        return hash_of(Path(recorded.path).read_bytes()) != recorded.sha256
    except OSError:
        return False  # gone or unreadable: whoever needs it says so


def _decoded(library: Library, recorded: RecordedRecipe) -> Decoded:
    return decode(
        read_document(recorded.text.encode("utf-8", "surrogateescape"), _shown(library, recorded.path))
    )


def _shown(library: Library, path: str) -> str:
    return path if path == STDIN_NAME else library.shown(Path(path))


def _recorded_recipe(library: Library, known: dict[str, RecordedRecipe], place: str) -> Recipe | None:
    if place not in known:
        return None

    def parent(wanted: Text, child: str | None) -> Located | None:
        found = str(library.sub_recipe(wanted.text, Path(child) if child else None))
        return Located(_decoded(library, known[found]).required(), found) if found in known else None

    itself = None if place == STDIN_NAME else place
    return resolve_extends(Located(_decoded(library, known[place]).required(), itself), parent)


def _present_recipe(library: Library, place: str, main: Path, opened: Opened) -> Recipe | None:
    if place == str(main):
        return opened.located.recipe
    try:
        return open_file(library, Path(place)).located.recipe
    except AmplihackError:
        return None  # the step that calls it says what is wrong
