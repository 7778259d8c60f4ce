"""Run recipes from Python: on this machine, or through the caller's adapter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from amplihack.app.adapter import Adapter
from amplihack.app.python_api.reading import located, recipe_file
from amplihack.app.run import run as run_opened
from amplihack.app.run_request import RunRequest
from amplihack.app.variables import Given
from amplihack.app.workspace import Opened, Workspace, open_decoded, open_file, open_workspace
from amplihack.errors import AmplihackError, UsageError
from amplihack.recipes.decode import Decoded, decode_text
from amplihack.recipes.dialect import Verdict
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Recipe
from amplihack.recipes.results import RunResult
from amplihack.recipes.values import DEEPEST, Value, to_json
from amplihack.records import replace
from amplihack.system.event_loop import run_to_end

Context: TypeAlias = Mapping[str, Value] | None
_MOST_BITS = 10_000  # of a number; Python itself refuses to write one of some more

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
        if isinstance(self.adapter, Mapping):
            raise UsageError("the adapter is a mapping", fix="give variables by their name: context={…}")
        workspace = open_workspace(self.recipe_dirs, self.working_dir)
        return await run_opened(workspace, _open(workspace, recipe), _checked(context), self)

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

        if self.store is None:
            raise UsageError("this runner keeps no runs", fix="give it `store=RunStore(directory)`")
        store = RunStore(self.store.root)
        kept, any_adapter = find_resumable(store, run, adapter=True), self.adapter is not None
        documents = tuple(f"{name}={to_json(value)}" for name, value in _checked(context).items())
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


def _checked(context: Context) -> dict[str, Value]:
    """Return the variables of a caller. Raises UsageError for what no variable can hold."""
    given = dict(context or {})
    for name, value in given.items():
        if not isinstance(name, str):
            raise UsageError(
                f"the name of a variable is {type(name).__name__}", fix="give it a text for a name"
            )
        if why := _misfit(value):
            fix = "give texts, numbers, lists and maps with texts for keys, such as str(…) of it"
            raise UsageError(f"the variable '{name}' {why}", fix=fix)
    return given


def _misfit(value: object, depth: int = 0) -> str:
    """Tell why a variable cannot hold a value; nothing if it can."""
    if depth > DEEPEST:
        return f"is nested more than {DEEPEST} levels deep"
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return f"holds a number of more than {_MOST_BITS} bits"
    if value is None or isinstance(value, str | int | float):
        return ""
    if isinstance(value, Mapping):
        odd = [key for key in value if not (key is None or isinstance(key, str | int | float))]
        if odd:
            return f"holds a map with a key of the type {type(odd[0]).__name__}"
        parts: Iterable[object] = value.values()
    elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        parts = value
    else:
        return f"holds something of the type {type(value).__name__}"
    return next(filter(None, (_misfit(part, depth + 1) for part in parts)), "")


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
