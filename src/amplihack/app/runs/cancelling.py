"""End a run with its whole tree, from any process of the same machine."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

from amplihack.errors import AmplihackError, UsageError
from amplihack.system.event_loop import run_to_end
from amplihack.system.home import login_name
from amplihack.system.killed_runs import remove_abandoned
from amplihack.system.limit_marks import Sign
from amplihack.system.process_table import TABLE, look_up, send
from amplihack.system.process_tree import end_tree
from amplihack.system.run_store.ownership import Owner
from amplihack.system.run_store.rows import KeptRun
from amplihack.system.run_store.store import RunStore
from amplihack.system.spawn import GRACE
from amplihack.system.temporary import temporary_place

_PAUSE = 0.05  # seconds between two looks at whether it has ended
_CAN_END = ("running", "waiting", "interrupted")


def cancel(store: RunStore, name: str) -> KeptRun:
    """End the run and return it as it is then. Raises UsageError if it has ended already."""
    run = store.find(name)
    if run.status not in _CAN_END:
        fix = "name another: `amplihack runs list --status running` shows the runs that run"
        raise UsageError(f"run {run.run_id} has ended already: it is {run.status}", fix=fix)
    if run.holder is not None and not run.holder.is_here:
        raise UsageError(
            f"run {run.run_id} cannot be cancelled from here: {run.holder.shown()} has it", fix="do it there"
        )
    store.mark_cancelled(run, login_name())
    if run.holder is not None:
        _end_runner(store, run, run.holder)
    memory = store.claim(run)
    try:
        run_to_end(_end_rest(run))
        now = store.find(run.run_id)
        if now.status in (*_CAN_END, "cancelled"):
            memory.cancel()
    finally:
        memory.close()
    return store.find(run.run_id)


def _end_runner(store: RunStore, run: KeptRun, owner: Owner) -> None:
    """Ask the process that has the run to end, twice if need be, then insist."""
    for number, patience in (
        (signal.SIGTERM, GRACE * 2),
        (signal.SIGTERM, GRACE),
        (signal.SIGKILL, GRACE * 2),
    ):
        _signal(owner, number)
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            if not store.is_taken(run.run_id):
                return
            time.sleep(_PAUSE)
    raise AmplihackError(
        f"run {run.run_id} does not end: {owner.shown()} has it", fix="end that process by hand"
    )


def _signal(owner: Owner, number: signal.Signals) -> None:
    now = look_up(owner.pid)
    if now is not None:
        send(now, number)
    elif not TABLE:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(owner.pid, number)


async def _end_rest(run: KeptRun) -> None:
    remove_abandoned(temporary_place())  # of a runner that was killed with its watcher
    if not await end_tree(Sign(f"{run.run_id}."), grace=GRACE):
        raise AmplihackError(f"processes of run {run.run_id} do not end", fix="end them by hand")
