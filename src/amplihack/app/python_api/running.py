"""Run recipes from Python: on this machine, or through the caller's adapter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from amplihack.app.adapter import Adapter
from amplihack.app.python_api.reading import located, recipe_file
from amplihack.app.run import run
from amplihack.app.run_request import RunRequest
from amplihack.app.workspace import Opened, Workspace, open_decoded, open_file, open_workspace
from amplihack.recipes.decode import Decoded, decode_text
from amplihack.recipes.dialect import Verdict
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Recipe
from amplihack.recipes.results import RunResult
from amplihack.recipes.values import Value
from amplihack.system.event_loop import run_to_end

Context: TypeAlias = Mapping[str, Value] | None
RecipeSource: TypeAlias = Recipe | Located | Decoded | Path  # a path is a file that has not been read


class RecipeRunner(RunRequest, kw_only=True):
    """The settings for running recipes: one request that serves for many of them.

    Without an adapter they run on this machine, as the command line does it.
    """

    recipe_dirs: tuple[str, ...] = ()

    def execute(self, recipe: RecipeSource, context: Context = None) -> RunResult:
        """Run the recipe to its end. Raises AmplihackError only if it cannot even begin."""
        return run_to_end(self.execute_async(recipe, context))

    async def execute_async(self, recipe: RecipeSource, context: Context = None) -> RunResult:
        """Run it in the caller's event loop. When cancelled, it ends its processes first."""
        workspace = open_workspace(self.recipe_dirs, self.working_dir)
        return await run(workspace, _open(workspace, recipe), dict(context or {}), self)


def _open(workspace: Workspace, source: RecipeSource) -> Opened:
    library = workspace.library
    if isinstance(source, Path):
        return open_file(library, workspace.home.path(source))
    if isinstance(source, Decoded):
        return open_decoded(library, source, None)
    found = source if isinstance(source, Located) else located(source)
    decoded = Decoded(
        found.recipe, (), Verdict(found.recipe.dialect)
    )  # its warnings were told when it was read
    return open_decoded(library, decoded, Path(found.path) if found.path else None)


def run_file(
    path: str | PathLike[str],
    adapter: Adapter | None = None,
    context: Context = None,
    *,
    dry_run: bool = False,
) -> RunResult:
    """Run a recipe file; recipes beside it are found. Raises NotFound, DocumentError or RecipeError."""
    return RecipeRunner(adapter=adapter, dry_run=dry_run).execute(Path(path), context)


async def run_file_async(
    path: str | PathLike[str],
    adapter: Adapter | None = None,
    context: Context = None,
    *,
    dry_run: bool = False,
) -> RunResult:
    """Run a recipe file in the caller's event loop. When cancelled, it ends its processes first."""
    return await RecipeRunner(adapter=adapter, dry_run=dry_run).execute_async(Path(path), context)


def run_recipe(
    text: str | bytes, adapter: Adapter | None = None, context: Context = None, *, dry_run: bool = False
) -> RunResult:
    """Run the recipe in a YAML text. Raises DocumentError or RecipeError."""
    return RecipeRunner(adapter=adapter, dry_run=dry_run).execute(decode_text(text), context)


def run_recipe_by_name(
    name: str,
    adapter: Adapter | None = None,
    context: Context = None,
    *,
    dry_run: bool = False,
    dirs: Sequence[str] = (),
) -> RunResult:
    """Run a recipe that can be found by name. Raises NotFound."""
    runner = RecipeRunner(adapter=adapter, dry_run=dry_run, recipe_dirs=tuple(dirs))
    return runner.execute(recipe_file(name, dirs or None), context)
