"""Who listens to a run: progress for people, logs for later, and the result with its secrets masked."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from amplihack.app.request import RunRequest
from amplihack.app.workspace import Opened, Workspace
from amplihack.errors import AmplihackError
from amplihack.recipes.events import Event, RunFinished
from amplihack.recipes.ports import Approver
from amplihack.recipes.progress import workstream_id
from amplihack.recipes.results import RunResult
from amplihack.recipes.secrets import Redactor
from amplihack.system.listeners.fan_out import FanOut
from amplihack.system.listeners.listener import Listener
from amplihack.system.listeners.plain import PlainProgress
from amplihack.system.listeners.progress_file import ProgressFile, WorkstreamFile
from amplihack.system.surroundings import Nobody, PersonAtTerminal


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the user wants to see and to keep."""

    progress: bool = True
    verbose: bool = False
    audit_dir: str | None = None
    events: str | None = None


class _Keeper(Listener):
    """Remembers the result, for whoever asks at the end."""

    name = "the result"

    def __init__(self) -> None:
        self.result: RunResult | None = None

    def hear(self, event: Event) -> None:
        if isinstance(event, RunFinished):
            self.result = event.result


@dataclass(frozen=True, slots=True)
class Watch:
    """The journal of a run, who can be asked, and what is known at its end."""

    journal: FanOut
    approver: Approver
    keeper: _Keeper
    redactor: Redactor

    @property
    def ended(self) -> bool:
        return self.keeper.result is not None

    def result(self) -> RunResult:
        """What happened, with secrets masked, and with what went wrong in telling it."""
        if self.keeper.result is None:
            raise AmplihackError("the run ended before it began")
        kept = self.keeper.result
        return replace(kept, warnings=(*kept.warnings, *self.journal.problems))


@asynccontextmanager
async def watch(
    workspace: Workspace, opened: Opened, request: RunRequest, wanted: Wanted
) -> AsyncIterator[Watch]:
    """Opens every listener, or fails before anything runs; closes them whatever happens."""
    keeper = _Keeper()
    progress, approver = _progress(wanted)
    recipe = opened.located.recipe
    listeners = [keeper, *progress, *_logs(workspace, recipe.name, wanted, request)]
    redactor = Redactor(
        recipe.secrets, environment=workspace.environment, values={**recipe.context, **request.overrides}
    )
    redactor.know(recipe)
    journal = FanOut(listeners, redactor, report=_report)
    try:
        async with journal.ticking():
            yield Watch(journal, approver, keeper, redactor)
    finally:
        journal.close()


def _report(problem: str) -> None:
    sys.stderr.write(f"warning: {problem}\n")


def _progress(wanted: Wanted) -> tuple[list[Listener], Approver]:
    """Live progress on a terminal, plain lines elsewhere; and who can be asked at a gate."""
    person = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    if not wanted.progress:
        return [], PersonAtTerminal(_nothing, _nothing) if person else Nobody()
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        from amplihack.system.listeners.live import LiveProgress, terminal  # deferred: rich is slow to load

        live = LiveProgress(terminal(sys.stderr), clock=time.monotonic, verbose=wanted.verbose)
        return [live], PersonAtTerminal(live.pause, live.resume) if person else Nobody()
    return [PlainProgress(sys.stderr, clock=time.monotonic, verbose=wanted.verbose)], Nobody()


def _nothing() -> None:
    pass


def _logs(workspace: Workspace, recipe: str, wanted: Wanted, request: RunRequest) -> Iterator[Listener]:
    if wanted.audit_dir:
        from amplihack.system.listeners.audit import AuditLog  # deferred, like the next: seldom asked for

        yield AuditLog(workspace.home.path(wanted.audit_dir), recipe, now=time.time)
    if wanted.events:
        yield _events(workspace, wanted.events)
    if not request.dry_run:
        yield ProgressFile(Path(tempfile.gettempdir()), recipe, pid=os.getpid(), now=time.time)
    if path := workspace.environment.get("AMPLIHACK_WORKSTREAM_PROGRESS_FILE"):
        workstream = workstream_id(workspace.environment, recipe)
        yield WorkstreamFile(Path(path), workstream, recipe, pid=os.getpid(), now=time.time)


def _events(workspace: Workspace, target: str) -> Listener:
    from amplihack.system.listeners.json_lines import JsonLines

    if target == "-":
        return JsonLines(sys.stderr.buffer, now=time.time)
    return JsonLines.to_file(workspace.home.path(target), now=time.time)
