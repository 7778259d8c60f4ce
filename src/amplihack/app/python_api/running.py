"""Run recipes from Python: on this machine, or through the caller's adapter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from amplihack.app.adapter import Adapter
from amplihack.app.python_api.finding import refuse_one
from amplihack.app.python_api.handed_over import given_variables, refuse_unusable
from amplihack.app.python_api.reading import decode_given, located, recipe_file
from amplihack.app.run import run as run_opened
from amplihack.app.run_request import RunRequest
from amplihack.app.variables import Given, refuse_unknown
from amplihack.app.workspace import Opened, Workspace, open_decoded, open_file, open_workspace
from amplihack.errors import AmplihackError, UsageError
from amplihack.recipes.decode import Decoded
from amplihack.recipes.dialect import Verdict
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Recipe
from amplihack.recipes.results import RunResult
from amplihack.recipes.values import Value, to_json
from amplihack.records import replace
from amplihack.system.event_loop import run_to_end

Context: TypeAlias = Mapping[str, Value] | None
RecipeSource: TypeAlias = (
    Recipe | Located | Decoded | str | PathLike[str]
)  # a path, also as a text, is a file to read


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
        refuse_unusable(self)
        refuse_one("recipe_dirs", self.recipe_dirs)
        values = given_variables(context)
        workspace = open_workspace(self.recipe_dirs, self.working_dir)
        opened = _open(workspace, recipe)
        refuse_unknown(workspace, opened, Given(), self.include_tags | self.exclude_tags)
        return await run_opened(workspace, opened, values, self)

    def resume(
        self,
        run: str = "last",
        context: Context = None,
        *,
        accept_changes: bool = False,
        run_again: bool = False,
    ) -> RunResult:
        """Go on with a run of this runner's store, with this runner's settings, and return its result.

        `context` gives secrets again. `accept_changes` goes on with an edited recipe. `run_again` runs steps
        again that say `idempotent: false`. Raises AmplihackError if it cannot go on.
        """
        # Deferred: `sqlite3` is slow to load, and most programs resume nothing.
        from amplihack.app.runs.resuming import find_resumable, prepare
        from amplihack.system.run_store.store import RunStore

        refuse_unusable(self)
        if self.store is None:
            raise UsageError("this runner keeps no runs", fix="give it `store=RunStore(directory)`")
        store = RunStore(self.store.root)
        kept, any_adapter = find_resumable(store, run, adapter=True), self.adapter is not None
        documents = tuple(f"{name}={to_json(value)}" for name, value in given_variables(context).items())
        ready = prepare(store, kept, Given(documents=documents), adapter=any_adapter)
        try:
            ready.settle_changes(accept=accept_changes)
            ready.settle_doubts(run_again=run_again)
        except AmplihackError:
            ready.memory.close()
            raise
        request = replace(self, run_id=ready.run.run_id)
        return run_to_end(
            run_opened(ready.workspace, ready.opened, ready.values, request, memory=ready.memory)
        )


def _open(workspace: Workspace, source: RecipeSource) -> Opened:
    library = workspace.library
    if isinstance(source, str | PathLike):
        return open_file(library, workspace.home.path(Path(source)))
    if isinstance(source, Decoded):
        return open_decoded(library, source, None)
    if not isinstance(source, Recipe | Located):
        what = f"what is of the type {type(source).__name__} is no recipe"
        raise UsageError(what, fix="give the path of a file, or what parse_recipe returns")
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
    return RecipeRunner(adapter=adapter, dry_run=dry_run).execute(decode_given(text), context)


def run_recipe_by_name(
    name: str,
    adapter: Adapter | None = None,
    context: Context = None,
    *,
    dry_run: bool = False,
    dirs: Sequence[str] = (),
) -> RunResult:
    """Run a recipe that can be found by name. Raises NotFound."""
    refuse_one("dirs", dirs)
    runner = RecipeRunner(adapter=adapter, dry_run=dry_run, recipe_dirs=tuple(dirs))
    return runner.execute(recipe_file(name, dirs or None), context)
