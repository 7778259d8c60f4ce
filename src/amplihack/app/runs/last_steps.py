"""Find what a run that was denied still has to do: the steps of its recipes that always run."""

from __future__ import annotations

from amplihack.app.runs.recorded_shelf import RecordedShelf
from amplihack.recipes.events import RunFinished
from amplihack.recipes.model import every_step
from amplihack.recipes.semantics import still_run
from amplihack.system.run_store.rows import KeptRun
from amplihack.system.run_store.store import RunStore


def last_steps(store: RunStore, run: KeptRun) -> tuple[str, ...]:
    """Return the ids of steps that always run, where nobody was there to run them after the denial."""
    if run.status != "denied" or run.path is None:
        return ()
    endings = [event.result.ending for _, _, event in store.events(run) if isinstance(event, RunFinished)]
    if endings[-1:] == ["denied"]:
        return ()  # it was denied at a terminal, or has gone on since: they have run
    shelf = RecordedShelf(store, run)
    recipes = filter(None, (shelf.recipe(each.path) for each in store.recipes(run)))
    return tuple(step.id for recipe in recipes for step in still_run(every_step(recipe.steps)))
