"""Follow a run as it happens, also one that another process runs."""

from __future__ import annotations

import time
from collections.abc import Iterator

from amplihack.errors import AmplihackError
from amplihack.recipes.events import Recorded
from amplihack.system.run_store.rows import KeptRun
from amplihack.system.run_store.store import RunStore

_PAUSE = 0.1  # seconds between two looks


def follow(store: RunStore, run: KeptRun, damage: list[AmplihackError]) -> Iterator[tuple[float, Recorded]]:
    """Yield every event of a run with its time, until no process has the run any more.

    `damage` receives what cannot be read of it.
    """
    last = 0
    while True:
        over = not store.is_taken(run.run_id)  # asked first: what is written until then is still found below
        found: list[AmplihackError] = []
        for seq, at, event in store.events(run, last, lines=True, damage=found):
            last = seq
            yield at, event
        known = {each.what for each in damage}  # a record that cannot be read is met at every look
        damage += [each for each in found if each.what not in known]
        if over:
            return
        time.sleep(_PAUSE)
