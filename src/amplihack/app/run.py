"""Run an opened recipe and return its masked result."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from amplihack.app.adapter import ExecutionListener
from amplihack.app.run_listeners import listening
from amplihack.app.run_request import RunRequest
from amplihack.app.run_world import Book, open_world
from amplihack.app.variables import start_with
from amplihack.app.workspace import Opened, Workspace
from amplihack.errors import Problem, RecipeError
from amplihack.recipes.engine import run_recipe
from amplihack.recipes.results import RunResult
from amplihack.recipes.secrets import redactor_for
from amplihack.recipes.values import Value
from amplihack.records import replace
from amplihack.system.event_loop import run_until_signal
from amplihack.system.random_tokens import token

if TYPE_CHECKING:
    from amplihack.recipes.engine.dry_run import Forecast


async def run(
    workspace: Workspace, opened: Opened, values: Mapping[str, Value], request: RunRequest
) -> RunResult:
    """Run an opened recipe to its end and return its result, with secrets masked.

    Whatever happens, no process and no temporary file of the run is left. A cancelled run stays cancelled;
    its listener has received the result by then. Raises AmplihackError if the run cannot begin.
    """
    request = replace(request, run_id=request.run_id or _new_run_id(), working_dir=str(workspace.directory))
    opened, values = start_with(workspace, opened, values)
    _refuse(workspace, opened, values, request)
    async with (
        listening(workspace, opened.located.recipe, values, request) as journal,
        open_world(workspace, opened.located, request, journal) as world,
    ):
        await run_recipe(opened.located, values, world, request)
    return journal.result()


class _Ending(ExecutionListener):
    """Keeps the result of a cancelled run, which returns none."""

    result: RunResult | None = None

    def on_run_complete(self, result: RunResult) -> None:
        self.result = result


def run_until_interrupted(
    workspace: Workspace, opened: Opened, values: Mapping[str, Value], request: RunRequest
) -> RunResult:
    """Run a recipe in the main thread. Ctrl-C or SIGTERM ends it early, and its result says so."""
    ending = _Ending()
    try:
        work = run(workspace, opened, values, replace(request, listener=ending))
        return run_until_signal(work, stopping=_say_stopping)
    except KeyboardInterrupt:
        if ending.result is None:
            raise
        return ending.result


def _say_stopping() -> None:
    with suppress(OSError, ValueError):  # the terminal may be gone; that may be why we end
        sys.stderr.write("stopping … (again to stop at once)\n")
        sys.stderr.flush()


def forecast(
    workspace: Workspace, opened: Opened, values: Mapping[str, Value], request: RunRequest
) -> tuple[Forecast, ...]:
    """Predict what a run would do, including its sub-recipes, with secrets masked."""
    from amplihack.recipes.engine.dry_run import forecast as forecast_recipe  # deferred: a run needs none

    opened, values = start_with(workspace, opened, values)
    redactor = redactor_for(workspace.environment, opened.located.recipe, values)
    steps = forecast_recipe(opened.located, values, Book(workspace, on_recipe=redactor.know), request)
    return tuple(
        replace(step, why=redactor.redact_text(step.why), text=redactor.redact_text(step.text))
        for step in steps
    )


def _new_run_id() -> str:
    """Return an id that sorts by time and is never used twice."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{token(4)}"


def _refuse(workspace: Workspace, opened: Opened, values: Mapping[str, Value], request: RunRequest) -> None:
    """Raise RecipeError with everything that the strictness of the request forbids."""
    found = opened.decoded.warnings if request.strict else ()
    if request.strict_vars:
        found += _undefined(workspace, opened, values)
    if found:
        raise RecipeError(found[0].what, where=found[0].where, fix=found[0].fix, found=found)


def _undefined(workspace: Workspace, opened: Opened, values: Mapping[str, Value]) -> tuple[Problem, ...]:
    """Return a problem for each variable of the recipe that neither the recipe nor the caller sets."""
    from amplihack.app.check import check_opened  # deferred: only strict runs pay for the check

    recipe = opened.located.recipe
    told = replace(recipe, context={**recipe.context, **values})
    findings = check_opened(
        workspace, replace(opened, located=replace(opened.located, recipe=told)), everything=True
    )
    return tuple(replace(each, severity="error") for each in findings if each.code == "undefined-variable")
