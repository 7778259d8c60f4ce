"""The one line that is shown of a failed step."""

from __future__ import annotations

import pytest

from amplihack.recipes.brief_error import brief, cause
from amplihack.recipes.results import StepResult


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        ("bash step failed: Command failed (exit 3): compiling\nundefined: x\n", "exit 3: undefined: x"),
        ("bash step failed: Command failed (exit 1): (stdout) a\nb", "exit 1: b"),
        ("bash step failed: Command failed (exit 1)", "exit 1"),
        ("bash step failed: Command failed (signal 9): gone", "signal 9: gone"),
        ("bash step failed: timed out after 1s", "timed out after 1s"),
        (
            "agent step failed: it failed (exit 2)\n--- stderr (tail) ---\nwarning\nno login\n",
            "it failed (exit 2): no login",
        ),
        (
            "agent step failed: it gave nothing\n--- stderr (tail) ---\nno login\n  fix: log in",
            "it gave nothing: no login",
        ),
        (
            "agent step failed: it failed (exit 7): boom\n--- stderr (tail) ---\nboom\n",
            "it failed (exit 7): boom",
        ),
        ("Condition error: x is not a list", "Condition error: x is not a list"),
        ("first\nsecond", "first"),
        ("Sub-recipe 'x' not found. Searched these:\n  - a\n  - b", "Sub-recipe 'x' not found."),
        ("", ""),
    ],
)
def test_an_error_is_how_it_ended_and_what_was_said_last(error: str, shown: str) -> None:
    assert brief(error) == shown


def test_a_line_without_end_is_cut() -> None:
    assert len(brief(f"bash step failed: Command failed (exit 1): {'x' * 10_000}")) == 200


def result(identity: str, error: str, *children: StepResult, allowed: bool = False) -> StepResult:
    step_id = identity.rpartition("/")[2]
    return StepResult(
        step_id=step_id, identity=identity, kind="bash", status="failed", error=error, children=children,
        allowed=allowed,
    )  # fmt: skip


INNER = "Step 'lint' failed: bash step failed: Command failed (exit 1): why"


def test_what_holds_steps_names_the_way_to_the_one_that_failed() -> None:
    lint = result("call/each[0]/lint", INNER)
    one = result("call/each[0]", INNER, lint)
    each = result("call/each", f"Step 'each' failed: round 1: {INNER}", one)
    outer = f"Step 'call' failed: Sub-recipe 'x' failed.\nFailed steps:\n- each [error]: {each.error}"
    assert cause(result("call", f"{outer}\nCompleted steps: a", each)) == "each: round 1: lint: exit 1: why"


def test_a_step_with_a_reason_of_its_own_does_not_blame_what_is_inside_it() -> None:
    inside = result("call/lint", INNER)
    assert cause(result("call", "Step 'call' failed: timed out after 3s", inside)) == "timed out after 3s"
    forgiven = result("call/lint", INNER, allowed=True)
    assert cause(result("call", f"Step 'call' failed: {INNER}", forgiven)) == f"{INNER}"


def test_an_id_that_looks_like_a_round_is_an_id() -> None:
    odd = result("call/part%5B0%5D", INNER)
    named = StepResult(step_id="part[0]", identity=odd.identity, kind="bash", status="failed", error=INNER)
    assert cause(result("call", f"Step 'call' failed: {INNER}", named)).startswith("part[0]: ")


def test_a_round_that_ends_the_recipe_quietly_is_the_cause_though_it_may_fail() -> None:
    error = "bash step failed: Command failed (exit 3): deep"
    one = result("each[0]", error, allowed=True)
    assert cause(result("each", f"Step 'each' failed: round 1: {error}", one, allowed=True)) == (
        "round 1: exit 3: deep"
    )
