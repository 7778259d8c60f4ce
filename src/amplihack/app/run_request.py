"""Define what a caller can request of a run, on the command line and from Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from amplihack.app.adapter import Adapter, ExecutionListener
from amplihack.recipes.engine import Options
from amplihack.records import field

if TYPE_CHECKING:
    from amplihack.system.run_store.new_runs import NewRuns


class RunRequest(Options, kw_only=True):
    """The engine's options, and the options that the engine does not need to know.

    It extends `Options`, so that each option is declared once and the engine reads its part of the request.
    """

    run_id: str = ""  # empty: the run gets a new one
    working_dir: str = "."
    agent: str | None = None
    adapter: Adapter | None = None  # works in place of this machine
    strict: bool = False  # warnings about a recipe's file are errors
    isolate_agents: bool = False
    listener: ExecutionListener = field(default_factory=ExecutionListener)
    audit_dir: str | None = None
    events: str | None = None  # a file for every event as a JSON line; `-` is stderr
    progress: bool = False  # on stderr
    verbose: bool = False
    color: str = "auto"  # or always, never: of the progress
    store: NewRuns | None = None  # keeps the run, so that it can be resumed; None keeps nothing
    on_kept: Callable[[str], None] = lambda _run_id: None  # hears the id of a run that is kept, as it starts
    on_begin: Callable[[], None] = lambda: None  # called once nothing can refuse the run any more
    standalone: bool = False  # the process is there for the run: it may ask a person, and others watch it
