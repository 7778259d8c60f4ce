"""Remove old runs; what runs or waits is never removed."""

from __future__ import annotations

import time

from amplihack.system.run_store.rows import KeptRun
from amplihack.system.run_store.store import RunStore

_NEEDED = ("running", "waiting")


def prune(store: RunStore, *, older_than: float | None, keep: int | None) -> tuple[KeptRun, ...]:
    """Remove runs that ended longer ago than that, or all but the newest, and return them."""
    listing = store.listing()
    if listing.problem is not None:
        raise listing.problem
    ended = [run for run in listing.runs if run.status not in _NEEDED]
    if keep is not None:
        ended = [run for run in listing.runs[keep:] if run.status not in _NEEDED]
    if older_than is not None:
        limit = time.time() - older_than
        ended = [run for run in ended if (run.ended or run.started) < limit]
    removed = tuple(run for run in ended if store.remove(run))
    store.give_back()
    return removed
