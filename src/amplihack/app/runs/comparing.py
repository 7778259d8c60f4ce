"""Compare two kept runs."""

from __future__ import annotations

from amplihack.app.runs.recorded_shelf import RecordedShelf
from amplihack.errors import AmplihackError, NotFound
from amplihack.recipes.compared_run import RunSide
from amplihack.recipes.run_diff import RunDifference, compare_runs
from amplihack.records import Record
from amplihack.system.run_store.rows import KeptRun
from amplihack.system.run_store.store import RunStore


class ComparedRuns(Record):
    """Two runs, how they differ, and what could not be compared."""

    one: KeptRun
    other: KeptRun
    differences: tuple[RunDifference, ...]
    notes: tuple[str, ...]


def diff_runs(store: RunStore, name: str | None, other: str) -> ComparedRuns:
    """Compare two runs by what is kept of them. Raises NotFound and StoreError.

    Without a name, the other run is compared with its source, or with the run of its recipe before it.
    """
    b = store.find(other)
    a = store.find(name) if name is not None else _before(store, b)
    sides, notes = [], []
    for run in (a, b):
        shelf = RecordedShelf(store, run)
        damage: list[AmplihackError] = []
        sides.append(_side(store, run, shelf, damage))
        told = (*shelf.notes, *(each.what for each in damage))
        notes += [each for each in dict.fromkeys(told) if each not in notes]
    if secret := sorted({*a.inputs.left_out, *b.inputs.left_out}):
        notes.append(f"secrets are not kept, so they are not compared: {', '.join(secret)}")
    return ComparedRuns(a, b, tuple(compare_runs(*sides)), tuple(notes))


def _before(store: RunStore, run: KeptRun) -> KeptRun:
    runs = store.listing().runs
    source = [each for each in runs if each.run_id == run.forked_from]
    older = [each for each in runs if each.path == run.path and each.number < run.number]
    if not source and not older:
        raise NotFound(
            f"there is no earlier run of {run.recipe} to compare {run.run_id} with",
            fix="name two runs; `amplihack runs list` shows them",
        )
    return (source or older)[0]


def _side(store: RunStore, run: KeptRun, shelf: RecordedShelf, damage: list[AmplihackError]) -> RunSide:
    events = [(at, event) for _, at, event in store.events(run, damage=damage)]
    recipe = shelf.recipe(run.path or "")
    defaults = (
        {name: value for name, value in recipe.context.items() if name not in recipe.secrets}
        if recipe
        else {}
    )
    inputs = {**defaults, **run.inputs.values}
    return RunSide(events, shelf.recipe, run.path or "", inputs, run.status == "running")
