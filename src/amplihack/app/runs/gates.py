"""Answer the gate of a run that waits: once, from any process, with who and when."""

from __future__ import annotations

import time
from collections.abc import Mapping

from amplihack.errors import NotFound, UsageError
from amplihack.moments import local_time
from amplihack.recipes.events import GateDecided
from amplihack.recipes.run_parts import Gate
from amplihack.recipes.run_state import RunState
from amplihack.system.home import login_name
from amplihack.system.run_store.rows import KeptRun
from amplihack.system.run_store.store import RunStore


def answer_gate(
    store: RunStore, name: str, *, stage: str | None, approved: bool, message: str
) -> GateDecided:
    """Record the decision of a person. Raises UsageError if there is nothing to decide any more."""
    run = store.find(name)
    _refuse(run)
    memory = store.claim(run)
    try:
        _refuse(store.find(run.run_id))  # somebody may have been faster
        identity, gate = _pending(run, RunState(memory.history()), stage)
        decided = GateDecided(gate.stage, approved, message, identity, login_name(), time.time(), gate.step)
        memory.answer(decided)
        return decided
    finally:
        memory.close()


def _refuse(run: KeptRun) -> None:
    if run.status == "denied":
        raise UsageError(
            f"run {run.run_id} was denied already, and that is final",
            fix="`amplihack recipe run` starts it anew",
        )
    if run.status == "running":
        who = f"{run.holder.shown()} has it" if run.holder else "a process has it"
        raise UsageError(f"run {run.run_id} is running: {who}", fix="answer there, or wait until it waits")
    if run.status != "waiting":
        over = run.status in ("completed", "degraded")
        go_on = f"`amplihack runs resume {run.run_id}` goes on, and asks at its gate if it is at one"
        others = "name another: `amplihack runs list --status waiting` shows the runs that wait"
        raise UsageError(
            f"run {run.run_id} waits for no approval: it is {run.status}", fix=others if over else go_on
        )


def _pending(run: KeptRun, state: RunState, stage: str | None) -> tuple[str, Gate]:
    """Return the gate that is meant, with its identity."""
    gates = state.gates()
    waiting = {identity: gate for identity, gate in gates.items() if gate.approved is None}
    meant = {key: gate for key, gate in waiting.items() if stage is None or stage in (gate.stage, key)}
    if not meant:
        raise _nothing(run, gates, stage)
    if len(meant) > 1:
        names = ", ".join(meant)
        raise UsageError(f"run {run.run_id} waits at several gates: {names}", fix="choose one with --stage")
    identity, gate = next(iter(meant.items()))
    if gate.due is not None and time.time() >= gate.due:
        raise UsageError(
            f"the gate of stage '{gate.stage}' has expired: nobody answered in time",
            fix=f"`amplihack runs resume {run.run_id}` goes on with the answer that the recipe gives then",
        )
    return identity, gate


def _nothing(run: KeptRun, known: Mapping[str, Gate], stage: str | None) -> UsageError | NotFound:
    answered = {identity: gate for identity, gate in known.items() if gate.approved is not None}
    decided = next(
        (gate for identity, gate in answered.items() if stage in (None, gate.stage, identity)), None
    )
    if decided is not None:
        word = "approved" if decided.approved else "denied"
        who = f" by {decided.by}" if decided.by else ""
        when = f" at {local_time(decided.at)}" if decided.at else ""
        return UsageError(
            f"the gate of stage '{decided.stage}' was {word} already{who}{when}",
            fix=f"`amplihack runs resume {run.run_id}` goes on",
        )
    names = ", ".join(known) or "none"
    return NotFound(f"run {run.run_id} waits at no stage '{stage}'", fix=f"its gates: {names}")
