"""Show what a run gives back, and what a dry run tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from amplihack.cli.show import err, out, out_exactly, printable

if TYPE_CHECKING:
    from amplihack.recipes.engine.dry_run import Forecast
    from amplihack.recipes.model import Recipe
    from amplihack.recipes.results import RunResult


def show_own_result(result: RunResult, recipe: Recipe, warnings: Sequence[str]) -> None:
    """Print the recipe's own result and nothing else; warnings and what went wrong go to stderr."""
    for warning in warnings:
        err(printable(f"warning: {warning}"))
    if result.success:
        from amplihack.recipes.semantics import still_run  # deferred: a help page needs none of it

        tidying = [step.id for step in still_run(recipe.steps)]
        out_exactly(result.own_text(has_output=recipe.summary is not None, tidying=tidying))
    else:
        err(printable(result.failure_text()))


def show_dry_run(result: RunResult, steps: Sequence[Forecast]) -> None:
    out()
    show_forecast(steps)
    out(f"\nRecipe '{result.recipe_name}': SUCCESS (dry run: nothing was run)")


def show_forecast(steps: Sequence[Forecast]) -> None:
    for step in steps:
        indent = "  " * step.depth
        why = f": {step.why}" if step.why else ""
        out(printable(f"{indent}[{step.kind:<6}] {step.step_id} — {step.verdict}{why}"))
        for line in (*step.text.splitlines(), *_remarks(step)):
            out(printable(f"{indent}    {line}".rstrip()))


def _remarks(step: Forecast) -> Iterator[str]:
    if step.verdict == "would be skipped":
        return
    if step.open:
        yield f"… only the run can tell: {', '.join(step.open)}"
    if step.missing:
        yield f"… nothing sets, so it renders empty: {', '.join(step.missing)}"
    if step.fails:
        yield f"✗ would fail: {step.fails}"
