"""Give shells what only this machine knows: recipes, their inputs, runs, sessions and agents.

Nothing here fails: whoever is typing a line wants no error in the middle of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from amplihack.app.workspace import open_recipe, open_workspace
from amplihack.errors import AmplihackError
from amplihack.recipes.values import one_line
from amplihack.records import Record
from amplihack.system.home import Home, this_process

_SUFFIXES = (".yaml", ".yml")


class InputHint(Record):
    """What a recipe says of an input, in a line, and the values that it may have."""

    meaning: str = ""
    choices: tuple[str, ...] = ()


def recipe_names(recipe_dirs: Iterable[str], directory: str | None) -> dict[str, str]:
    """Return the recipes that can be run by name, each with its description."""
    from amplihack.app.catalogue import list_recipes

    try:
        listing = list_recipes(open_workspace(tuple(recipe_dirs), directory))
    except (AmplihackError, OSError):
        return {}
    return {info.name: _short(info.description) for info in listing.recipes if info.shadowed_by is None}


def recipe_paths(current: str) -> list[str]:
    """Return the recipe files, and directories, that a path may become."""
    folder, _, _ = current.rpartition("/")
    shown = f"{folder}/" if "/" in current else ""
    try:
        home = Home.from_environment(*this_process())
        found = list(home.path(shown or ".").iterdir())
        return [f"{shown}{path.name}{_end(path)}" for path in found if path.is_dir() or _is_recipe(path)]
    except (AmplihackError, OSError):
        return []


def _is_recipe(path: Path) -> bool:
    return path.suffix in _SUFFIXES and not path.name.startswith(".")


def _end(path: Path) -> str:
    return "/" if path.is_dir() else ""


def recipe_inputs(recipe: str, recipe_dirs: Iterable[str], directory: str | None) -> dict[str, InputHint]:
    """Return the variables that a recipe takes, by name."""
    from amplihack.recipes.inputs import input_names, possible_values
    from amplihack.recipes.model import Input

    if recipe == "-":
        return {}  # it comes by stdin, which is not there yet
    try:
        found = open_recipe(open_workspace(tuple(recipe_dirs), directory), recipe).located.recipe
    except (AmplihackError, OSError):
        return {}
    said = {name: found.declared.get(name, Input()) for name in input_names(found)}
    return {name: InputHint(_short(each.description), possible_values(each)) for name, each in said.items()}


def run_ids() -> dict[str, str]:
    """Return the runs that are kept, each with its recipe and state."""
    from amplihack.system.run_store.store import RunStore

    try:
        listing = RunStore(Home.from_environment(*this_process()).root).listing()
    except (AmplihackError, OSError):
        return {}
    return {run.run_id: _short(f"{run.recipe}, {run.status}") for run in listing.runs}


def session_ids() -> dict[str, str]:
    """Return the sessions that are kept, each with what was said first."""
    from amplihack.system.session_store.listing import kept_sessions
    from amplihack.system.session_store.store import SessionStore

    try:
        kept = kept_sessions(SessionStore(Home.from_environment(*this_process()).root / "sessions"))
    except (AmplihackError, OSError):
        return {}
    return {each.session_id: _short(each.prompt or each.status) for each in kept if each.agent is None}


def agent_names() -> dict[str, str]:
    """Return what `--agent` takes; a name that wants something behind it ends with a colon."""
    from amplihack.system.agent_tools.table import AGENTS, DescribedAgent, LaunchedAgent

    own = {name: row for name, row in AGENTS.items() if not isinstance(row, LaunchedAgent)}
    return {f"{name}:" if isinstance(row, DescribedAgent) else name: "" for name, row in own.items()}


def _short(text: str) -> str:
    return one_line(text, 60)
