"""Running a recipe on this machine."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from amplihack.app.request import RunRequest
from amplihack.app.run_agents import Isolated, agent_for, environment_for
from amplihack.app.run_book import Book, Personas, in_words
from amplihack.app.workspace import Opened, Workspace
from amplihack.errors import Problem, RecipeError
from amplihack.recipes.engine import run_recipe
from amplihack.recipes.engine.dry_run import Forecast
from amplihack.recipes.engine.dry_run import forecast as forecast_recipe
from amplihack.recipes.events import Warned
from amplihack.recipes.model import Recipe
from amplihack.recipes.ports import Approver, Journal, World
from amplihack.recipes.results import RunResult
from amplihack.system.agents.environment import RunIdentity
from amplihack.system.scratch import scratch_directory
from amplihack.system.shell import BashShell
from amplihack.system.surroundings import Disk, GitWorkTree, Nobody, SystemClock


def new_run_id() -> str:
    """Sorts by time and is never used twice."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(4)}"


async def run(
    workspace: Workspace,
    opened: Opened,
    request: RunRequest,
    journal: Journal,
    *,
    run_id: str,
    approver: Approver | None = None,
    on_recipe: Callable[[Recipe], None] = lambda _recipe: None,
) -> RunResult:
    """Runs an opened recipe to its end; whatever happens, nothing of it is left running or lying about.

    `on_recipe` hears of every sub-recipe before it runs.
    """
    _refuse_what_strictness_forbids(workspace, opened, request)
    identity = RunIdentity(run_id=run_id, tree_id=secrets.token_hex(4))
    agent = agent_for(workspace, opened.located, request, identity)
    with scratch_directory("run") as scratch:
        shell = BashShell(environment_for(workspace, request, identity), scratch)
        world = World(
            shell=shell,
            agents=Isolated(agent, scratch) if request.isolate_agents else agent,
            personas=Personas(workspace.agents),
            recipes=Book(
                workspace, on_recipe, lambda each: journal.record(Warned("", in_words(each))), request.strict
            ),
            clock=SystemClock(),
            journal=journal,
            approver=approver or Nobody(),
            work_tree=GitWorkTree(workspace.environment),
            places=Disk(workspace.home.user),
        )
        try:
            return await run_recipe(
                opened.located, request.overrides, world, request.options(workspace.directory, run_id)
            )
        finally:
            await shell.close()


def _refuse_what_strictness_forbids(workspace: Workspace, opened: Opened, request: RunRequest) -> None:
    found = opened.decoded.warnings if request.strict else ()
    if request.strict_vars:
        found += _undefined(workspace, opened, request)
    if found:
        raise RecipeError(found[0].what, where=found[0].where, fix=found[0].fix, found=found)


def _undefined(workspace: Workspace, opened: Opened, request: RunRequest) -> tuple[Problem, ...]:
    """Every variable of the recipe that neither it nor the user sets."""
    from amplihack.app.check import check_opened  # deferred: only strict runs pay for the check

    recipe = opened.located.recipe
    told = replace(recipe, context={**recipe.context, **request.overrides})
    findings = check_opened(
        workspace, replace(opened, located=replace(opened.located, recipe=told)), everything=True
    )
    return tuple(replace(each, severity="error") for each in findings if each.code == "undefined-variable")


def forecast(workspace: Workspace, opened: Opened, request: RunRequest) -> tuple[Forecast, ...]:
    """What a run would do, sub-recipes included, as far as it can be told without doing it."""
    options = request.options(workspace.directory, "dry-run")
    return forecast_recipe(opened.located, request.overrides, Book(workspace), options)
