"""Read the recipes of a kept run as they were, also where its directory or a file is gone."""

from __future__ import annotations

from pathlib import Path

from amplihack.app.runs.recipes_then import as_recorded
from amplihack.app.workspace import Workspace, open_workspace
from amplihack.errors import AmplihackError, UsageError
from amplihack.recipes.model import Recipe
from amplihack.system.run_store.rows import KeptRun
from amplihack.system.run_store.store import RunStore


class RecordedShelf:
    """The recipes of a run as they were recorded. `notes` tell what cannot be read."""

    def __init__(self, store: RunStore, run: KeptRun) -> None:
        self.notes: list[str] = []
        self._known: dict[str, Recipe | None] = {}
        self._read = as_recorded(_workspace(run).library, store.recipes(run))

    def recipe(self, path: str) -> Recipe | None:
        if path not in self._known:
            self._known[path] = None
            try:
                self._known[path] = self._read(path)
            except AmplihackError as error:
                self.notes.append(f"the recorded recipe {path} cannot be read: {error.what}")
        return self._known[path]


def _workspace(run: KeptRun) -> Workspace:
    dirs = run.request.get("recipe_dirs") or ()
    try:
        return open_workspace(dirs, run.working_dir)
    except UsageError:  # its directory is gone; what happened in it can still be shown
        return open_workspace(dirs, str(Path.cwd()))
