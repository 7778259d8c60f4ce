"""Build the world of a run: the shell, the agent, the recipes and the person that the engine can ask."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from amplihack.app.adapter import AdapterAgent, AdapterShell
from amplihack.app.run_request import RunRequest
from amplihack.app.workspace import Opened, Workspace, open_file
from amplihack.errors import AmplihackError, NothingToUse, RecipeError
from amplihack.recipes.agent_port import AgentRunner
from amplihack.recipes.extends import Located
from amplihack.recipes.inputs import from_environment
from amplihack.recipes.model import Agent, Recipe, SubRecipe, every_step
from amplihack.recipes.ports import Approver, Persona, Personas, World
from amplihack.records import Record, replace
from amplihack.system.agent_tools.environment import RunIdentity, for_commands
from amplihack.system.agent_tools.spec import AgentSearch, agent_spec, session_bundle, spec_for_children
from amplihack.system.agent_tools.table import SESSION
from amplihack.system.agent_tools.wrapped import Discreet, Isolated, Late
from amplihack.system.approver import Nobody, PersonAtTerminal, person_is_there
from amplihack.system.background import OnStart
from amplihack.system.clock import SystemClock
from amplihack.system.disk import Disk
from amplihack.system.listeners.fan_out import FanOut
from amplihack.system.pinned_generation import pinned, pinned_environment
from amplihack.system.random_tokens import token
from amplihack.system.scratch import scratch_directory
from amplihack.system.shell import BashShell
from amplihack.system.watcher import own_what_we_start
from amplihack.system.work_tree import GitWorkTree

if TYPE_CHECKING:
    from amplihack.app.run_approvals import RunApprovals
    from amplihack.app.session_agent import SessionAgent


@asynccontextmanager
async def open_world(
    workspace: Workspace,
    located: Located,
    request: RunRequest,
    journal: FanOut,
    *,
    on_opened: Callable[[Opened], None] = lambda _opened: None,
) -> AsyncIterator[World]:
    """Open what the engine needs. At the end, processes are ended and temporary files are removed.

    Raises NothingToUse when a step will need an agent and there is none.
    """
    search = AgentSearch(
        environment=pinned_environment(workspace.environment, workspace.home),
        cwd=workspace.home.cwd,
        run=RunIdentity(run_id=request.run_id, tree_id=token(4)),
    )
    approver = _approver(request, journal)
    agent = _agent(workspace, located, request, search, partial(_approvals, workspace, request, journal))
    personas: Personas = PersonaFiles(workspace)
    if (session := session_behind(agent)) is not None:
        await session.ready()  # before the first step: what cannot be asked at all is no failure half-way
        personas = session.personas(personas)
    if request.standalone and not request.dry_run:
        own_what_we_start()
    with pinned(workspace.home), scratch_directory("run") as scratch:
        shell = _shell(request, search, scratch, journal.process_started)
        try:
            yield World(
                shell=shell,
                agents=_asked(agent, journal, scratch if request.isolate_agents else None),
                personas=personas,
                recipes=Book(
                    workspace,
                    on_recipe=journal.know,
                    on_opened=on_opened,
                    strict=request.strict,
                ),
                clock=SystemClock(),
                journal=journal,
                approver=approver,
                work_tree=GitWorkTree(workspace.environment),
                places=Disk(workspace.home.user),
            )
        finally:
            await shell.close()


def _shell(
    request: RunRequest, search: AgentSearch, scratch: Path, on_start: OnStart
) -> AdapterShell | BashShell:
    if request.adapter is not None:
        return AdapterShell(request.adapter)
    spec = spec_for_children(request.agent, search)
    left = request.store.directory(request.run_id) / "left" if request.store and not request.dry_run else None
    environment = for_commands(search.child_environment(spec))
    return BashShell(environment, scratch, on_start, left=left, alone=request.standalone)


def _approver(request: RunRequest, journal: FanOut) -> Approver:
    person = request.standalone and person_is_there()
    return PersonAtTerminal(journal.pause, journal.resume) if person else Nobody()


# What a run reads on the way --------------------------------------------------------------------------------


class Book(Record):
    """Finds sub-recipes, and reports each before it runs. With `strict`, warnings about a file are errors."""

    workspace: Workspace
    on_recipe: Callable[[Recipe], None] = lambda _recipe: None
    on_opened: Callable[[Opened], None] = lambda _opened: None
    strict: bool = False

    def sub_recipe(self, reference: str, caller: str | None) -> Located:
        library = self.workspace.library
        path = library.sub_recipe(reference, Path(caller) if caller else None)
        opened = open_file(library, path)
        found = opened.decoded.warnings
        if self.strict and found:
            raise RecipeError(found[0].what, where=found[0].where, fix=found[0].fix, found=found)
        seen = for_commands(self.workspace.environment)
        recipe = from_environment(opened.located.recipe, seen)
        located = replace(opened.located, recipe=recipe, remarks=tuple(self._remarks(opened, path)))
        self.on_recipe(located.recipe)
        self.on_opened(opened)
        return located

    def _remarks(self, opened: Opened, path: Path) -> Iterator[str]:
        """Yield what the command would tell of a file that it was given itself."""
        yield from (each.in_one_line for each in opened.decoded.warnings)
        if told := opened.decoded.told_dialect:
            yield f"{self.workspace.library.shown(path)}: {told}"


class PersonaFiles(Record):
    """Finds agents by their files."""

    workspace: Workspace

    def persona(self, reference: str) -> Persona:
        found = self.workspace.agents.resolve(reference)
        return Persona(found.text, found.model, found.namesake)


# The agent --------------------------------------------------------------------------------------------------


def _agent(
    workspace: Workspace,
    located: Located,
    request: RunRequest,
    search: AgentSearch,
    approvals: Callable[[], RunApprovals],
) -> AgentRunner | None:
    """Return the agent to ask; raise NothingToUse when a step will need one and there is none."""
    if request.dry_run:
        return None
    if request.adapter is not None:
        if not request.adapter.is_available():
            fix = "install what it runs, or give another adapter"
            raise NothingToUse(f"the adapter {request.adapter.name} is not available", fix=fix)
        return AdapterAgent(request.adapter)
    # Chosen before the first step: a run must not fail half-way because no agent is installed.
    if request.agent is not None or needs_agent(workspace, located, request, set()):
        return _choose(workspace, request.agent, search, approvals)
    return Late(lambda: _choose(workspace, None, search, approvals))


def _choose(
    workspace: Workspace, given: str | None, search: AgentSearch, approvals: Callable[[], RunApprovals]
) -> AgentRunner:
    # Deferred: a run of bash steps needs no agent.
    from amplihack.system.agent_tools.choose import choose_agent, patient

    spec = agent_spec(given, search)
    bundle = session_bundle(spec)
    if bundle is None:
        return choose_agent(spec, search)
    from amplihack.app.session_agent import SessionAgent  # deferred: it loads what bundles need

    return patient(SessionAgent(workspace, bundle, search.child_environment(spec), approvals()), search)


def _asked(agent: AgentRunner | None, journal: FanOut, scratch: Path | None) -> AgentRunner | None:
    """Return the agent as steps ask it; with `scratch`, each time in a directory of its own there."""
    if agent is None:
        return None
    discreet = Discreet(agent, journal.mask)
    return Isolated(discreet, scratch) if scratch is not None else discreet


def session_behind(agent: AgentRunner | None) -> SessionAgent | None:
    """Return our own sessions, if they are what answers."""
    inner = getattr(agent, "agent", agent)
    return cast("SessionAgent", inner) if inner is not None and inner.name == SESSION else None


def _approvals(workspace: Workspace, request: RunRequest, journal: FanOut) -> RunApprovals:
    from amplihack.app.run_approvals import RunApprovals  # deferred: only our own sessions ask

    return RunApprovals(journal.mask, journal.secrets, all_allowed=_all_allowed(request, workspace))


def _all_allowed(request: RunRequest, workspace: Workspace) -> bool:
    environment = workspace.environment
    asked = environment.get("AMPLIHACK_ALLOW_ALL_TOOLS", "") not in ("", "0")
    return request.approve_all or (asked and not environment.get("AMPLIHACK_NO_ALLOW_ALL_TOOLS"))


def needs_agent(workspace: Workspace, located: Located, request: RunRequest, seen: set[str]) -> bool:
    """Tell whether the recipe, or one it calls by a plain name, has an agent step that its tags let run.

    `seen` collects the files that were visited.
    """
    for step in every_step(located.recipe.steps):
        match step.action:
            case _ if request.excludes(step.when_tags):
                continue
            case Agent() | SubRecipe(recovery=True):
                return True
            case SubRecipe(recipe=name):
                child = _unseen_child(workspace, name.text, located, seen)
                if child is not None and needs_agent(workspace, child, request, seen):
                    return True
    return False


def _unseen_child(workspace: Workspace, name: str, caller: Located, seen: set[str]) -> Located | None:
    try:
        child = Book(workspace).sub_recipe(name, caller.path)
    except AmplihackError:
        return None  # the step itself will say what is wrong, if it is reached
    path = child.path or ""
    new = path not in seen
    seen.add(path)
    return child if new else None
