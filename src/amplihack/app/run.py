"""Running a recipe on this machine."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from amplihack.app.workspace import Opened, Workspace, open_file
from amplihack.errors import AmplihackError, RecipeError
from amplihack.recipes.agents import AgentReply, AgentRequest, AgentRunner
from amplihack.recipes.engine import Options, run_recipe
from amplihack.recipes.engine.dry_run import Forecast
from amplihack.recipes.engine.dry_run import forecast as forecast_recipe
from amplihack.recipes.extends import Located
from amplihack.recipes.model import Agent, Recipe, SubRecipe, every_step
from amplihack.recipes.ports import Approver, Journal, Persona, World
from amplihack.recipes.results import RunResult
from amplihack.recipes.values import Value
from amplihack.system.agent_files import AgentFiles
from amplihack.system.agents import RunIdentity, Surroundings, agent_spec, child_environment, choose_agent
from amplihack.system.shell import BashShell
from amplihack.system.surroundings import Disk, GitWorkTree, Nobody, SystemClock


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What the user asked for on the command line."""

    overrides: Mapping[str, Value] = field(default_factory=dict)
    agent: str | None = None
    include_tags: frozenset[str] = frozenset()
    exclude_tags: frozenset[str] = frozenset()
    dry_run: bool = False
    strict: bool = False
    strict_vars: bool = False
    strict_agents: bool = False
    auto_stage: bool = True
    isolate_agents: bool = False
    max_parallel: int = 50
    max_agents: int = 8
    step_timeout: float | None = None
    approve_all: bool = False


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
    agent = _agent(workspace, opened.located, request, identity)
    with _scratch() as scratch:
        shell = BashShell(_environment(workspace, request, identity), scratch)
        world = World(
            shell=shell,
            agents=_Isolated(agent, scratch) if request.isolate_agents else agent,
            personas=_Personas(workspace.agents),
            recipes=_Book(workspace, on_recipe),
            clock=SystemClock(),
            journal=journal,
            approver=approver or Nobody(),
            work_tree=GitWorkTree(workspace.environment),
            places=Disk(workspace.home.user),
        )
        try:
            return await run_recipe(
                opened.located, request.overrides, world, _options(workspace, request, run_id)
            )
        finally:
            await shell.close()


def _options(workspace: Workspace, request: RunRequest, run_id: str) -> Options:
    return Options(
        run_id=run_id,
        working_dir=str(workspace.directory),
        include_tags=request.include_tags,
        exclude_tags=request.exclude_tags,
        dry_run=request.dry_run,
        strict_vars=request.strict_vars,
        strict_agents=request.strict_agents,
        auto_stage=request.auto_stage,
        max_parallel=request.max_parallel,
        max_agents=request.max_agents,
        step_timeout=request.step_timeout,
        approve_all=request.approve_all,
    )


@contextmanager
def _scratch() -> Iterator[Path]:
    """A private directory for files that live no longer than the run."""
    try:
        path = Path(tempfile.mkdtemp(prefix="amplihack-run-"))
    except OSError as error:
        raise AmplihackError(
            f"cannot make a temporary directory: {error.strerror or error}",
            fix="free some space, or set TMPDIR to a directory that you can write to",
        ) from error
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _refuse_what_strictness_forbids(workspace: Workspace, opened: Opened, request: RunRequest) -> None:
    found = opened.decoded.warnings if request.strict else ()
    if request.strict_vars:
        from amplihack.app.check import check_opened  # deferred: only strict runs pay for the check

        undefined = check_opened(workspace, opened)
        given = request.overrides.keys()
        found += tuple(
            each
            for each in undefined
            if each.code == "undefined-variable" and not any(f"'{name}'" in each.what for name in given)
        )
    if found:
        raise RecipeError(found[0].what, where=found[0].where, fix=found[0].fix, found=found)


# agents -----------------------------------------------------------------------------------------------


def _agent(
    workspace: Workspace, located: Located, request: RunRequest, identity: RunIdentity
) -> AgentRunner | None:
    """The agent to ask; it is an error to have none when a step will need one."""
    around = Surroundings(environment=workspace.environment, cwd=workspace.home.cwd, run=identity)
    if request.dry_run:
        return None
    if request.agent is not None or needs_agent(workspace, located):
        return choose_agent(request.agent, around)
    return _Late(lambda: choose_agent(None, around))


def needs_agent(workspace: Workspace, located: Located, seen: frozenset[str] = frozenset()) -> bool:
    """Whether the recipe, or one that it calls by a plain name, has an agent step."""
    for step in every_step(located.recipe.steps):
        if isinstance(step.action, Agent):
            return True
        if isinstance(step.action, SubRecipe) and _child_needs_agent(workspace, step.action, located, seen):
            return True
    return False


def _child_needs_agent(
    workspace: Workspace, action: SubRecipe, located: Located, seen: frozenset[str]
) -> bool:
    if action.recovery:
        return True
    try:
        child = _Book(workspace).sub_recipe(action.recipe.text, located.path)
    except AmplihackError:
        return False  # the step itself will say what is wrong, if it is reached
    path = child.path or ""
    return path not in seen and needs_agent(workspace, child, seen | {path})


class _Late:
    """Chooses an agent only when a step that nobody foresaw asks for one."""

    name = "late"

    def __init__(self, choose: Callable[[], AgentRunner]) -> None:
        self._choose = choose

    async def ask(self, request: AgentRequest, on_line: Callable[[str], None]) -> AgentReply:
        return await self._choose().ask(request, on_line)


@dataclass(frozen=True, slots=True)
class _Isolated:
    """Has the agent work in an empty directory of its own instead of the step's."""

    agent: AgentRunner | None
    scratch: Path
    name: str = "isolated"

    async def ask(self, request: AgentRequest, on_line: Callable[[str], None]) -> AgentReply:
        if self.agent is None:
            raise AmplihackError("there is no agent to ask")
        directory = tempfile.mkdtemp(prefix="agent-", dir=self.scratch)
        return await self.agent.ask(replace(request, working_dir=directory), on_line)


def _environment(workspace: Workspace, request: RunRequest, identity: RunIdentity) -> dict[str, str]:
    around = Surroundings(environment=workspace.environment, cwd=workspace.home.cwd, run=identity)
    try:
        spec = agent_spec(request.agent, around)
    except AmplihackError:
        spec = None  # no agent is installed, and a run that only needs bash does not mind
    return child_environment(workspace.environment, agent=spec, run=identity)


# recipes and personas ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Book:
    workspace: Workspace
    on_recipe: Callable[[Recipe], None] = lambda _recipe: None

    def sub_recipe(self, reference: str, caller: str | None) -> Located:
        path = self.workspace.library.sub_recipe(reference, Path(caller) if caller else None)
        located = open_file(self.workspace, path).located
        self.on_recipe(located.recipe)
        return located


@dataclass(frozen=True, slots=True)
class _Personas:
    files: AgentFiles

    def persona(self, reference: str) -> Persona:
        found = self.files.resolve(reference)
        return Persona(found.text, found.model)


def forecast(workspace: Workspace, opened: Opened, request: RunRequest) -> tuple[Forecast, ...]:
    """What a run would do, sub-recipes included, as far as it can be told without doing it."""
    options = _options(workspace, request, "dry-run")
    return forecast_recipe(opened.located, request.overrides, _Book(workspace), options)
