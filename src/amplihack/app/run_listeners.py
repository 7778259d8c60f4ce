"""Open the listeners of a run: one table of them, behind one journal that masks secrets."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeAlias

from amplihack.app.adapter import CallersListener, ExecutionListener
from amplihack.app.run_request import RunRequest
from amplihack.app.workspace import Workspace
from amplihack.recipes.model import Recipe
from amplihack.recipes.secrets import redactor_for
from amplihack.recipes.values import Value
from amplihack.system.approver import person_is_there
from amplihack.system.colour import use_colours
from amplihack.system.listeners.fan_out import FanOut
from amplihack.system.listeners.listener import Listener, NobodyReads
from amplihack.system.listeners.progress_file import ProgressFile
from amplihack.system.temporary import temporary_place

_SILENCE = 2.0  # seconds without a reader before that is told
_GLANCE = 0.05  # seconds between looks for one
Open: TypeAlias = Callable[[Workspace, str, RunRequest], Listener | None]  # the text is the recipe's name


@asynccontextmanager
async def listening(
    workspace: Workspace, recipe: Recipe, values: Mapping[str, Value], request: RunRequest
) -> AsyncIterator[FanOut]:
    """Open every requested listener, or fail before anything runs. All are closed at the end."""
    report = _report if request.standalone else _keep_quiet
    journal = FanOut((), redactor_for(workspace.environment, recipe, values), report=report)
    try:
        for open_listener in LISTENERS.values():
            if listener := await _opened(partial(open_listener, workspace, recipe.name, request), report):
                journal.add(listener)
        async with journal.ticking():
            yield journal
    finally:
        journal.close()


async def _opened(open_it: Callable[[], Listener | None], report: Callable[[str], None]) -> Listener | None:
    """Open a listener; one that writes to a named pipe as soon as somebody reads that."""
    since = time.monotonic()
    told = False
    while True:
        try:
            return open_it()
        except NobodyReads as missing:
            if not told and time.monotonic() > since + _SILENCE:
                told = True
                report(f"{missing.what}; the run begins when somebody does")
        await asyncio.sleep(_GLANCE)


def _report(problem: str) -> None:
    sys.stderr.write(f"warning: {problem}\n")
    sys.stderr.flush()


def _keep_quiet(_problem: str) -> None:
    """Print nothing inside another program. The warnings of the result contain the problem."""


def _progress(_workspace: Workspace, _recipe: str, request: RunRequest) -> Listener | None:
    """Show live progress on a terminal, plain lines elsewhere."""
    if not request.progress:
        return None
    # Deferred, as below: each command needs at most one of them, and rich is slow to load.
    at_terminal = sys.stderr.isatty()
    colours = use_colours(request.color, os.environ, is_terminal=at_terminal)
    asks = request.standalone and not request.approve_all and person_is_there()
    options = {"verbose": request.verbose, "asks": asks}
    if not at_terminal or os.environ.get("TERM") == "dumb":
        from amplihack.system.listeners.plain import PlainProgress

        return PlainProgress(sys.stderr, clock=time.monotonic, colours=colours, **options)
    from amplihack.system.listeners.live import LiveProgress, terminal

    return LiveProgress(terminal(sys.stderr, colours=colours), clock=time.monotonic, **options)


def _audit_log(workspace: Workspace, recipe: str, request: RunRequest) -> Listener | None:
    if not request.audit_dir:
        return None
    from amplihack.system.listeners.audit import AuditLog  # deferred, like the next: seldom asked for

    return AuditLog(workspace.home.path(request.audit_dir), recipe, now=time.time)


def _events(workspace: Workspace, _recipe: str, request: RunRequest) -> Listener | None:
    if not request.events:
        return None
    from amplihack.system.listeners.json_lines import JsonLines

    if request.events == "-":
        return JsonLines(sys.stderr.buffer, now=time.time)
    return JsonLines.to_file(workspace.home.path(request.events), now=time.time)


def _progress_file(_workspace: Workspace, recipe: str, request: RunRequest) -> Listener | None:
    if not request.standalone or request.dry_run:
        return None
    return ProgressFile(temporary_place(), recipe, pid=os.getpid(), now=time.time)


def _workstream_file(workspace: Workspace, recipe: str, request: RunRequest) -> Listener | None:
    path = workspace.environment.get("AMPLIHACK_WORKSTREAM_PROGRESS_FILE")
    if not path or not request.standalone:
        return None
    from amplihack.recipes.workstreams import workstream_id  # deferred: few runs are one of several
    from amplihack.system.listeners.workstream_file import WorkstreamFile

    workstream = workstream_id(workspace.environment, recipe)
    return WorkstreamFile(Path(path), workstream, recipe, pid=os.getpid(), now=time.time)


def _callers_own(_workspace: Workspace, _recipe: str, request: RunRequest) -> Listener | None:
    silent = type(request.listener) is ExecutionListener  # it overrides nothing
    return None if silent else CallersListener(request.listener)


# They hear each event in this order. To add a listener: write it in `system/listeners`, then add a row.
LISTENERS: dict[str, Open] = {
    "progress": _progress,
    "audit log": _audit_log,
    "events": _events,
    "progress file": _progress_file,
    "workstream file": _workstream_file,
    "the caller's own": _callers_own,  # last: what it hears of the result names the others that broke
}
