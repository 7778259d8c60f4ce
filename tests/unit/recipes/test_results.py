"""Results: how they read as text and as JSON, and what they count."""

from __future__ import annotations

import json

from amplihack.recipes.agent_port import Usage
from amplihack.recipes.results import RunResult, StepResult, every_result


def step(step_id: str = "a", status: str = "completed", **more: object) -> StepResult:
    return StepResult(**{"step_id": step_id, "identity": step_id, "kind": "bash", "status": status, **more})  # type: ignore[arg-type]  # fields by name


def test_the_text_is_the_verdict_and_one_line_per_step() -> None:
    result = RunResult(
        run_id="x",
        recipe_name="demo",
        ending="failed",
        step_results=(
            step("greet", duration=0.04),
            step("skip", "skipped"),
            step("bad", "failed", duration=1.26, error="no"),
        ),
        duration=1.3,
        never_reached=("c", "d"),
    )
    assert result.to_text() == (
        "Recipe 'demo': FAILED (1.3s)\n  [completed] greet (0.0s)\n  [skipped] skip\n"
        "  [failed] bad (1.3s) -- error: no\n  2 never reached: c, d\n"
    )


def test_a_plain_success_has_no_remarks() -> None:
    result = RunResult(run_id="x", recipe_name="demo", ending="completed", step_results=(step(),))
    assert result.to_text() == "Recipe 'demo': SUCCESS\n  [completed] a\n"


def test_a_run_with_a_degraded_step_says_so_in_json_as_kept_runs_do_and_stays_a_success() -> None:
    result = RunResult(
        run_id="x", recipe_name="demo", ending="completed", step_results=(step(status="degraded"),)
    )
    shown = result.to_json()
    assert (shown["status"], shown["success"]) == ("degraded", True)
    assert RunResult.from_json(shown) == result


def test_tokens_and_cost_stand_in_the_text_where_an_agent_told_them() -> None:
    asked = (
        step("a", usage=Usage(input_tokens=12_000, output_tokens=300, cached_tokens=9_000), cost_usd=0.0123),
        step("b", usage=Usage(input_tokens=500)),
        step("c"),
    )
    result = RunResult(run_id="x", recipe_name="demo", ending="completed", step_results=asked)
    assert result.to_text().splitlines()[-1] == (
        "  tokens: 12,500 in (9,000 cached), 300 out; cost: at least $0.0123"  # one told no price
    )
    dear = RunResult(run_id="x", recipe_name="demo", ending="completed", step_results=(step(cost_usd=12.5),))
    assert dear.to_text().splitlines()[-1] == "  cost: $12.50"
    free = RunResult(run_id="x", recipe_name="demo", ending="completed", step_results=(step(cost_usd=0.0),))
    assert free.to_text().splitlines()[-1] == "  cost: $0.0000"


def test_other_endings_are_named() -> None:
    for ending, word in (("denied", "DENIED"), ("waiting", "WAITING"), ("interrupted", "INTERRUPTED")):
        result = RunResult(run_id="x", recipe_name="demo", ending=ending, error="why")  # type: ignore[arg-type]  # each is one
        label = "" if ending == "waiting" else "error: "
        assert result.to_text() == f"Recipe 'demo': {word}\n  {label}why\n"
        assert not result.success


def test_the_json_has_every_promised_key_and_leaves_out_what_is_unknown() -> None:
    result = RunResult(run_id="x", recipe_name="demo", ending="completed", step_results=(step(),))
    shown = json.loads(json.dumps(result.to_json()))
    assert shown == {
        "run_id": "x",
        "recipe_name": "demo",
        "success": True,
        "status": "completed",
        "error": "",
        "warnings": [],
        "counts": {
            "completed": 1,
            "skipped": 0,
            "degraded": 0,
            "failed": 0,
            "failed_allowed": 0,
            "interrupted": 0,
            "never_reached": 0,
        },
        "never_reached": [],
        "usage": None,
        "cost_usd": None,
        "step_results": [
            {
                "step_id": "a",
                "status": "completed",
                "output": "",
                "error": "",
                "type": "bash",
                "identity": "a",
                "stderr": "",
                "exit_code": None,
                "attempts": 0,
                "warnings": [],
                "usage": None,
                "cost_usd": None,
                "executed": 0,
            }
        ],
    }


def test_failures_inside_what_went_well_are_allowed_ones() -> None:
    inner = step("inner", "failed")
    results = (
        step("fine", children=(inner,)),
        step("bad", "failed", children=(inner,)),
        step("let", "failed", allowed=True, children=(inner,)),
        step("cut", "interrupted", children=(inner,)),
    )
    assert [(each.step_id, each.allowed) for each in every_result(results)] == [
        ("inner", True),
        ("inner", False),
        ("inner", True),
        ("inner", False),
    ]
