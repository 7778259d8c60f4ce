"""Run an opened recipe and return its masked result."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from amplihack.app.adapter import ExecutionListener
from amplihack.app.run_listeners import listening
from amplihack.app.run_request import RunRequest
from amplihack.app.run_world import Book, open_world
from amplihack.app.runs.keeping import Keeper, begin
from amplihack.app.variables import slips, start_with
from amplihack.app.workspace import Opened, Workspace
from amplihack.errors import Problem, RecipeError
from amplihack.recipes.engine import run_recipe
from amplihack.recipes.extends import Located
from amplihack.recipes.results import RunResult
from amplihack.recipes.secrets import redactor_for
from amplihack.recipes.values import Value
from amplihack.records import replace
from amplihack.system.event_loop import run_until_signal
from amplihack.system.listeners.fan_out import FanOut
from amplihack.system.run_store.ids import new_run_id

if TYPE_CHECKING:
    from amplihack.recipes.engine.dry_run import Forecast
    from amplihack.system.run_store.journal import RunJournal


async def run(
    workspace: Workspace,
    opened: Opened,
    values: Mapping[str, Value],
    request: RunRequest,
    *,
    memory: RunJournal | None = None,
) -> RunResult:
    """Run an opened recipe to its end and return its result, with secrets masked.

    `memory` is that of a run that goes on; a new one is kept if the request has a store.

    Whatever happens, no process and no temporary file of the run is left. A cancelled run stays cancelled;
    its listener has received the result by then. Raises AmplihackError if the run cannot begin.
    """
    request = replace(request, run_id=request.run_id or new_run_id(), working_dir=str(workspace.directory))
    try:
        opened, values = start_with(workspace, opened, values)
        _refuse(workspace, opened, values, request)
        # A run that goes on has told these already, but for those of a recipe that was edited since.
        remarks = (*_remarks(workspace, opened.located), *slips(workspace, opened, values))
        request = replace(request, remarks=remarks)
        async with listening(workspace, opened.located.recipe, values, request) as journal:
            keeper = Keeper(workspace, journal.mask)
            world = open_world(workspace, opened.located, request, journal, on_opened=keeper.opened)
            async with world as opened_world:
                keeper.memory = memory or begin(workspace, opened, values, request, journal)
                if keeper.memory is not None:
                    request = _keep(keeper, keeper.memory, opened, request, journal)
                request.on_begin()
                await run_recipe(opened.located, values, opened_world, request)
    finally:
        if memory is not None:
            memory.close()
    return journal.result()


def _keep(
    keeper: Keeper, memory: RunJournal, opened: Opened, request: RunRequest, journal: FanOut
) -> RunRequest:
    """Let the memory hear everything, tell the id of the run, and say what to do about a gate."""
    journal.remember(memory)
    memory.on_lines(journal.mask_lines)
    keeper.opened(opened)
    request.on_kept(request.run_id)
    commands = f"`amplihack runs approve {request.run_id}` or `amplihack runs deny {request.run_id}`"
    after = f"then `amplihack runs resume {request.run_id}`"
    how = f"answer with {commands}, {after}; --yes approves every gate"
    return replace(request, how_to_answer=how, answered_later=True)


class _Ending(ExecutionListener):
    """Keeps the result of a cancelled run, which returns none."""

    result: RunResult | None = None

    def on_run_complete(self, result: RunResult) -> None:
        self.result = result


def run_until_interrupted(
    workspace: Workspace,
    opened: Opened,
    values: Mapping[str, Value],
    request: RunRequest,
    *,
    memory: RunJournal | None = None,
) -> RunResult:
    """Run a recipe in the main thread. Ctrl-C or SIGTERM ends it early, and its result says so."""
    ending = _Ending()
    try:
        work = run(workspace, opened, values, replace(request, listener=ending), memory=memory)
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
    masked, book = redactor.redact_shown, Book(workspace, on_recipe=redactor.know)
    steps = forecast_recipe(opened.located, values, book, request, masked)
    return tuple(
        replace(
            step,
            step_id=masked(step.step_id),  # of a recipe that a value names
            why=masked(step.why),
            text=masked(step.text),
            fails=masked(step.fails),
        )
        for step in steps
    )


def _refuse(workspace: Workspace, opened: Opened, values: Mapping[str, Value], request: RunRequest) -> None:
    """Raise RecipeError with all that is certain to fail, and all that the request forbids."""
    found = opened.decoded.warnings if request.strict else ()
    if not request.dry_run:
        recipe = opened.located.recipe
        located = replace(opened.located, recipe=replace(recipe, context={**recipe.context, **values}))
        found += _certain_failures(workspace, located, request)
    if found:
        errors = tuple(replace(each, severity="error") for each in found)
        raise RecipeError(errors[0].what, where=errors[0].where, fix=errors[0].fix, found=errors)


def _remarks(workspace: Workspace, located: Located) -> tuple[str, ...]:
    from amplihack.app.check import meaningless  # deferred, as below

    return tuple(f"{each.what} (fix: {each.fix})" for each in meaningless(workspace, located))


def _certain_failures(workspace: Workspace, located: Located, request: RunRequest) -> tuple[Problem, ...]:
    from amplihack.app.check import failures, unset_variables  # deferred: a dry run does not ask

    found = failures(workspace, located, bash=request.adapter is None)
    return (*found, *unset_variables(workspace, located)) if request.strict_vars else found
