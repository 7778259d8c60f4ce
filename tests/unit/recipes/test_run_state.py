"""Questions to the state of a run: what is in doubt, what must be done again because a secret is missing."""

from __future__ import annotations

import pytest
from tests.support.fake_world import FakeWorld

from amplihack.errors import AmplihackError
from amplihack.recipes.doubts import in_doubt
from amplihack.recipes.events import (
    IterationStarted,
    OutputStored,
    ProcessStarted,
    Recorded,
    Retrying,
    RunFinished,
    StepFinished,
    StepStarted,
    Withheld,
)
from amplihack.recipes.results import StepResult
from amplihack.recipes.run_state import RunState


def started(identity: str, kind: str = "bash", *, idempotent: bool = False) -> StepStarted:
    return StepStarted(identity, identity.rpartition("/")[2], kind, identity, "r", 0, 1, 1, idempotent)


def finished(identity: str) -> StepFinished:
    return StepFinished(
        StepResult(step_id=identity, identity=identity, kind="bash", status="completed"), "r", 0
    )


def doubts(*events: Recorded) -> list[str]:
    return [step.identity for step in in_doubt(RunState(events))]


def test_a_guarded_step_that_was_cut_off_is_in_doubt() -> None:
    assert doubts(started("a")) == ["a"]
    assert doubts(started("a", idempotent=True)) == []
    assert doubts(started("a"), finished("a")) == []


def test_what_a_guarded_step_holds_is_guarded_too() -> None:
    outer = started("call", "recipe")
    assert doubts(outer) == []
    assert doubts(outer, started("call/x", idempotent=True)) == ["call/x"]
    assert doubts(started("each"), IterationStarted("each", 0, 2)) == ["each[0]"]


def test_a_step_that_waits_for_its_next_attempt_has_done_nothing() -> None:
    retry = Retrying("a", 2, 3, 60.0, "why", 1000.0)
    assert doubts(started("a"), ProcessStarted("a", 1, "1"), retry) == []
    assert doubts(started("a"), retry, ProcessStarted("a", 2, "2")) == ["a"]


def test_a_secret_result_is_made_again() -> None:
    state = RunState([started("a"), OutputStored("a", {"a": "***"}), Withheld("a"), finished("a")])
    assert state.finished("a") is None
    assert [step.identity for step in in_doubt(state)] == ["a"]
    state.apply(started("a"))
    state.apply(finished("a"))
    assert state.finished("a") is not None


def test_a_run_goes_on_without_a_result_that_was_withheld() -> None:
    text = "name: r\nsteps:\n  - {id: a, command: echo a}\n  - {id: b, command: 'echo {{a}}'}\n"
    first = FakeWorld()
    first.run(text)
    again = FakeWorld()
    for event in first.journal.events:
        if isinstance(event, RunFinished):
            break
        again.journal.past.append(event)
        if isinstance(event, OutputStored) and event.identity == "a":
            again.journal.past.append(Withheld("a"))
    result = again.run(text)
    assert result.success
    assert again.shell.scripts == ["echo a"]


def test_events_of_a_step_that_never_began_are_told_as_damage() -> None:
    with pytest.raises(AmplihackError, match="damaged: it goes on with step 'lost'") as damage:
        RunState([OutputStored("lost", {"a": 1})])
    assert damage.value.fix
