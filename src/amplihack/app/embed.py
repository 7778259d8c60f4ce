"""Running recipes from Python: on this machine, or through an adapter of the caller's own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from amplihack.app.api import load_recipe
from amplihack.app.request import RunRequest
from amplihack.app.run import new_run_id
from amplihack.app.run import run as run_here
from amplihack.app.run_book import Book, Personas
from amplihack.app.workspace import Opened, Workspace, open_workspace
from amplihack.errors import AmplihackError, NothingToUse
from amplihack.recipes.agents import AgentFailed, AgentReply, AgentRequest
from amplihack.recipes.decode import Decoded, decode_text
from amplihack.recipes.dialect import Verdict
from amplihack.recipes.engine import run_recipe as run_in_world
from amplihack.recipes.events import Event, LinesPrinted, StepFinished, StepStarted
from amplihack.recipes.extends import Located, resolve_extends
from amplihack.recipes.model import Recipe
from amplihack.recipes.ports import LeftRunning, OnLines, ShellOutcome, ShellRequest, World
from amplihack.recipes.results import RunResult, StepResult
from amplihack.recipes.templates import shell_variables
from amplihack.recipes.values import Value
from amplihack.system.listeners.audit import AuditLog
from amplihack.system.surroundings import Disk, GitWorkTree, Nobody, SystemClock


class Adapter(Protocol):
    """Does the work of steps. An exception fails the step, and its text becomes the step's error."""

    @property
    def name(self) -> str: ...

    def is_available(self) -> bool: ...

    def execute_bash_step(
        self, command: str, working_dir: str, timeout: float | None, extra_env: Mapping[str, str]
    ) -> str: ...

    def execute_agent_step(
        self,
        prompt: str,
        *,
        agent_name: str | None,
        system_prompt: str | None,
        mode: str | None,
        working_dir: str,
        model: str | None,
        timeout: float | None,
    ) -> str: ...


class ExecutionListener:
    """Hears of steps; override what is of interest."""

    def on_step_start(self, step_id: str, step_type: str) -> None:
        pass

    def on_step_complete(self, result: StepResult) -> None:
        pass

    def on_output(self, step_id: str, line: str) -> None:
        pass


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeRunner:
    """How recipes are run. Without an adapter they run on this machine, as the command does it."""

    adapter: Adapter | None = None
    agent: str | None = None
    working_dir: str = "."
    recipe_dirs: tuple[str, ...] = ()
    dry_run: bool = False
    auto_stage: bool = True
    audit_dir: str | None = None
    include_tags: frozenset[str] = frozenset()
    exclude_tags: frozenset[str] = frozenset()
    listener: ExecutionListener = field(default_factory=ExecutionListener)

    def execute(self, recipe: Recipe | Located, context: Mapping[str, Value] | None = None) -> RunResult:
        """Runs the recipe to its end. Raises AmplihackError only if it cannot even begin."""
        return asyncio.run(self.execute_async(recipe, context))

    async def execute_async(
        self, recipe: Recipe | Located, context: Mapping[str, Value] | None = None
    ) -> RunResult:
        """The same, for a caller that has an event loop of its own."""
        workspace = open_workspace(self.recipe_dirs, self.working_dir)
        located = recipe if isinstance(recipe, Located) else Located(recipe, None)
        merged = Located(resolve_extends(located, workspace.library.parent), located.path)
        journal = _Telling(self.listener, self._audit_log(workspace, merged.recipe.name))
        try:
            return await self._run(workspace, merged, journal, dict(context or {}))
        finally:
            journal.close()

    async def _run(
        self, workspace: Workspace, located: Located, journal: _Telling, context: dict[str, Value]
    ) -> RunResult:
        request = RunRequest(
            overrides=context,
            agent=self.agent,
            include_tags=self.include_tags,
            exclude_tags=self.exclude_tags,
            dry_run=self.dry_run,
            auto_stage=self.auto_stage,
        )
        run_id = new_run_id()
        if self.adapter is None:
            decoded = Decoded(located.recipe, (), Verdict(located.recipe.dialect))
            opened = Opened(Path(located.path or "."), decoded, located)
            return await run_here(workspace, opened, request, journal, run_id=run_id)
        if not self.dry_run and not self.adapter.is_available():
            raise NothingToUse(f"the adapter {self.adapter.name} is not available")
        world = _world(workspace, self.adapter, journal)
        return await run_in_world(located, context, world, request.options(workspace.directory, run_id))

    def _audit_log(self, workspace: Workspace, recipe: str) -> AuditLog | None:
        if self.audit_dir is None:
            return None
        return AuditLog(workspace.home.path(self.audit_dir), recipe, now=time.time)


def run_recipe(
    text: str | bytes,
    adapter: Adapter | None = None,
    context: Mapping[str, Value] | None = None,
    *,
    dry_run: bool = False,
) -> RunResult:
    """Runs the recipe in a YAML text. Raises DocumentError or RecipeError."""
    recipe = decode_text(text).required()
    return RecipeRunner(adapter=adapter, dry_run=dry_run).execute(recipe, context)


def run_recipe_by_name(
    name: str,
    adapter: Adapter | None = None,
    context: Mapping[str, Value] | None = None,
    *,
    dry_run: bool = False,
    dirs: Sequence[str] = (),
) -> RunResult:
    """Runs a recipe that can be found by name. Raises NotFound."""
    located = load_recipe(name, dirs or None)
    return RecipeRunner(adapter=adapter, dry_run=dry_run, recipe_dirs=tuple(dirs)).execute(located, context)


def _world(workspace: Workspace, adapter: Adapter, journal: _Telling) -> World:
    return World(
        shell=_AdapterShell(adapter),
        agents=_AdapterAgent(adapter),
        personas=Personas(workspace.agents),
        recipes=Book(workspace),
        clock=SystemClock(),
        journal=journal,
        approver=Nobody(),
        work_tree=GitWorkTree(workspace.environment),
        places=Disk(workspace.home.user),
    )


@dataclass(frozen=True, slots=True)
class _AdapterShell:
    """Hands rendered commands to an adapter, with every variable that they may refer to."""

    adapter: Adapter

    async def run(self, request: ShellRequest, on_lines: OnLines) -> ShellOutcome:
        variables = {**shell_variables(request.scope), **request.script.variables, **request.env}
        try:
            text = await asyncio.to_thread(
                self.adapter.execute_bash_step,
                request.script.source,
                request.working_dir,
                request.timeout,
                variables,
            )
        except Exception as error:
            raise AmplihackError(f"{error}") from error
        on_lines("stdout", text.splitlines())
        return ShellOutcome(stdout=text, exit_code=0)

    async def end_step(self, step: str) -> None:
        """Do nothing: what an adapter starts is the adapter's to end."""

    async def close(self) -> Sequence[LeftRunning]:
        return ()


@dataclass(frozen=True, slots=True)
class _AdapterAgent:
    adapter: Adapter

    @property
    def name(self) -> str:
        return self.adapter.name

    async def ask(self, request: AgentRequest, on_line: Callable[[str], None]) -> AgentReply:
        try:
            text = await asyncio.to_thread(
                self.adapter.execute_agent_step,
                request.prompt,
                agent_name=request.agent,
                system_prompt=request.persona,
                mode=request.mode,
                working_dir=request.working_dir,
                model=request.model,
                timeout=request.timeout,
            )
        except Exception as error:
            raise AgentFailed(str(error)) from error
        for line in text.splitlines():
            on_line(line)
        return AgentReply(text=text.strip())


@dataclass(slots=True)
class _Telling:
    """Tells a listener, and an audit log if there is one."""

    listener: ExecutionListener
    audit: AuditLog | None

    def record(self, event: Event) -> None:
        if self.audit is not None:
            self.audit.hear(event)
        match event:
            case StepStarted():
                self.listener.on_step_start(event.step_id, event.kind)
            case StepFinished():
                self.listener.on_step_complete(event.result)
            case LinesPrinted():
                for line in event.lines:
                    self.listener.on_output(event.identity, line)

    def history(self) -> Sequence[Event]:
        return ()

    def close(self) -> None:
        if self.audit is not None:
            self.audit.close()
