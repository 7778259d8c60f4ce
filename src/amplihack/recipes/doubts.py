"""Find the steps of a run that may have done their work although nobody knows."""

from __future__ import annotations

from amplihack.recipes.events import below
from amplihack.recipes.results import StepResult
from amplihack.recipes.run_parts import HOLDERS, Instance
from amplihack.recipes.run_state import RunState


def in_doubt(state: RunState) -> tuple[StepResult, ...]:
    """Return the steps that may have done their work, unknown to us, and must not do it twice unasked."""
    begun = state.instances()
    guarded = [identity for identity, known in begun.items() if not known.idempotent]
    return tuple(
        known.result
        for identity, known in begun.items()
        if any(identity == each or below(identity, each) for each in guarded) and _may_be_done(state, known)
    )


def _may_be_done(state: RunState, known: Instance) -> bool:
    if known.finished and not known.withheld:
        return False
    holds_others = known.result.kind in HOLDERS or state.has_parts(known.result.identity)
    waits_for_its_next_attempt = known.due > 0 and known.process is None
    # One that waits goes on where it is, unless a secret kept that from being stored.
    goes_on = known.result.status == "waiting" and known.paused is not None and bool(known.paused.state)
    return not holds_others and not waits_for_its_next_attempt and not goes_on
