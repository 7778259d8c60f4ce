"""A recorded run told again: what quick steps printed comes from their results."""

from __future__ import annotations

from amplihack.recipes.events import (
    IterationFinished,
    IterationStarted,
    LinesPrinted,
    ProcessStarted,
    Recorded,
    StepFinished,
    StepStarted,
)
from amplihack.recipes.results import StepResult
from amplihack.system.listeners.narrated import narrated


def started(step: str, kind: str = "bash") -> StepStarted:
    return StepStarted(step, step, kind, step, "r", 0, 1, 1)


def result(identity: str, output: str, kind: str = "bash") -> StepResult:
    return StepResult(
        step_id=identity, identity=identity, kind=kind, status="completed", output=output, duration=1.0
    )


def told(*events: Recorded) -> list[str]:
    return list(narrated((float(at), event) for at, event in enumerate(events)))


def test_a_quick_step_tells_its_output_and_a_slow_one_its_lines_once() -> None:
    quick = told(started("a"), ProcessStarted("a", 1, "1"), StepFinished(result("a", "one\ntwo"), "r", 0))
    assert quick == ["▶ a (1 of 1)", "  │ a: one", "  │ a: two", "  ✓ a (1.0s)"]
    lines = LinesPrinted("a", "stdout", ("one",))
    assert told(started("a"), lines, StepFinished(result("a", "one"), "r", 0)) == [
        "▶ a (1 of 1)",
        "  │ a: one",
        "  ✓ a (1.0s)",
    ]


def test_a_loop_tells_each_round_and_not_the_last_one_twice() -> None:
    found = told(
        started("each"),
        IterationStarted("each", 0, 1),
        IterationFinished(result("each[0]", "x")),
        StepFinished(result("each", "x"), "r", 0),
    )
    assert [line for line in found if "│" in line] == ["  │ each[0]: x"]


def test_the_summary_of_a_sub_recipe_is_not_told_as_output() -> None:
    assert not any(
        "│" in line
        for line in told(started("call", "recipe"), StepFinished(result("call", "sum", "recipe"), "r", 0))
    )
