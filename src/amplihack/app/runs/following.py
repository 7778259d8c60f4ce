"""Follow a run as it happens, also one that another process runs."""

from __future__ import annotations

import time
from collections.abc import Iterator

from amplihack.recipes.events import Recorded
from amplihack.system.run_store.rows import KeptRun
from amplihack.system.run_store.store import RunStore

_PAUSE = 0.1  # seconds between two looks


def follow(store: RunStore, run: KeptRun) -> Iterator[tuple[float, Recorded]]:
    """Yield every event of a run with its time, until no process has the run any more."""
    last = 0
    while True:
        over = not store.is_taken(run.run_id)  # asked first: what is written until then is still found below
        for seq, at, event in store.events(run, last, lines=True):
            last = seq
            yield at, event
        if over:
            return
        time.sleep(_PAUSE)
