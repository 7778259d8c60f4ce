"""Draw a kept run as one page for a browser."""

from __future__ import annotations

import time
from typing import Any

from amplihack.app.runs.recorded_shelf import RecordedShelf
from amplihack.errors import AmplihackError
from amplihack.recipes.run_history import RunHistory
from amplihack.recipes.run_page import page_data
from amplihack.recipes.run_rows import RunRows
from amplihack.recipes.run_story import tell_story
from amplihack.recipes.values import to_text
from amplihack.system.run_page.html import page_html
from amplihack.system.run_store.rows import KeptRun
from amplihack.system.run_store.store import RunStore
from amplihack.version import __version__


def draw_page(store: RunStore, run: KeptRun, damage: list[AmplihackError]) -> str:
    """Return the page of a run as HTML. `damage` receives what cannot be read of it. Raises StoreError."""
    events = list(store.told(run, damage))
    history = RunHistory(events, alive=run.status == "running", damage=damage)
    story = tell_story(events)
    shelf = RecordedShelf(store, run)
    rows = RunRows(history, story, shelf.recipe, run.path or "").rows()
    head = {**_head(run), **_ending(history), "notes": [*shelf.notes, *(each.what for each in damage)]}
    return page_html(f"{run.recipe} {run.run_id}", page_data(head, rows, story))


def _head(run: KeptRun) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "recipe": run.recipe,
        "status": run.status,
        "started": run.started,
        "ended": run.ended,
        "forked_from": run.forked_from,
        "working_dir": run.working_dir,
        "path": run.path,
        "inputs": {name: to_text(value) for name, value in run.inputs.values.items()},
        "left_out": list(run.inputs.left_out),
        "told": time.time(),
        "version": __version__,
    }


def _ending(history: RunHistory) -> dict[str, Any]:
    result = history.result
    return {
        "cost_usd": history.cost_usd,
        "error": history.error(),
        "summary": result.summary if result else "",
        "warnings": list(result.warnings) if result else [],
        "never_reached": list(history.never_reached()),
    }
