"""`amplihack runs list|show|approve|deny|cancel|prune`: what is kept of runs, and what to do with it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from amplihack.cli.arguments import Parser, add_json, positive
from amplihack.cli.pruning import add_pruning, pruning_limits
from amplihack.cli.run_pages import ending_json, run_json, run_line, run_page
from amplihack.cli.show import err, out, out_json, printable, show_problems
from amplihack.errors import AmplihackError, UsageError

if TYPE_CHECKING:
    from amplihack.system.run_store.rows import KeptRun
    from amplihack.system.run_store.store import RunStore

_STATUSES = (
    "running",
    "waiting",
    "completed",
    "degraded",
    "failed",
    "interrupted",
    "denied",
    "cancelled",
)


# Flags ----------------------------------------------------------------------------------------------------


def list_flags(parser: Parser) -> None:
    add_json(parser)
    parser.add_argument("--status", choices=_STATUSES, help="only runs that are in this state")
    parser.add_argument("--limit", type=positive, metavar="N", help="only the newest N")


def run_flags(parser: Parser) -> None:
    """Add the name of a run, and --json."""
    add_json(parser)
    add_run_name(parser)


def show_flags(parser: Parser) -> None:
    run_flags(parser)
    parser.add_argument(
        "--html",
        metavar="FILE",
        help="write a page for a browser, in one file of its own; - is stdout",
    )


def add_run_name(parser: Parser) -> None:
    parser.add_argument(
        "run",
        metavar="RUN",
        nargs="?",
        default="last",
        help="its id, the beginning of it, or last (default: last)",
    )


def gate_flags(parser: Parser) -> None:
    run_flags(parser)
    parser.add_argument("--stage", metavar="STAGE", help="the gate that is meant, where there are several")
    parser.add_argument("-m", "--message", default="", metavar="TEXT", help="what to tell later steps")


def prune_flags(parser: Parser) -> None:
    add_json(parser)
    add_pruning(parser, "runs", "ended")


# Answers --------------------------------------------------------------------------------------------------


def open_store() -> RunStore:
    """Return the runs under this user's home root."""
    # Deferred, as below: a help page needs none of it.
    from amplihack.system.home import Home, this_process
    from amplihack.system.run_store.store import RunStore

    return RunStore(Home.from_environment(*this_process()).root)


def answer_list(options: argparse.Namespace) -> int:
    """List the runs, newest first; those that can be read, if some cannot."""
    listing = open_store().listing()
    runs = [run for run in listing.runs if options.status in (None, run.status)]
    if options.limit is not None:
        runs = runs[: options.limit]
    if options.json:
        out_json([run_json(run) for run in runs])
    elif runs:
        width = max(len(printable(run.recipe, keep="")) for run in runs)
        for run in runs:
            out(run_line(run, width))
    elif listing.problem is None:
        err("there are no runs" if options.status is None else f"no run is {options.status}")
    return show_damage([each for each in (listing.problem, listing.lost) if each is not None])


def answer_show(options: argparse.Namespace) -> int:
    """Show everything about one run."""
    from amplihack.recipes.run_history import RunHistory

    store = open_store()
    run = store.find(options.run)
    if options.html is not None:
        return _write_page(store, run, options)
    damage: list[AmplihackError] = []
    history = RunHistory(store.told(run, damage), alive=run.status == "running", damage=damage)
    if options.json:
        damaged = {"damage": [each.what for each in damage]} if damage else {}
        out_json({**run_json(run), **history.to_json(), **ending_json(history), **damaged})
    else:
        for line in run_page(run, history):
            out(printable(line))
    return show_damage(damage)


def show_damage(damage: Sequence[AmplihackError]) -> int:
    """Tell what could not be read, each thing once, and return the exit code of an answer without it."""
    show_problems(dict.fromkeys(problem for error in damage for problem in error.problems))
    return 1 if damage else 0


def _write_page(store: RunStore, run: KeptRun, options: argparse.Namespace) -> int:
    from amplihack.app.runs.page import draw_page
    from amplihack.system.home import Home, this_process
    from amplihack.system.replace import write_atomic

    if options.html == "-" and options.json:
        raise UsageError("--html - and --json both print to stdout", fix="give --html a file")
    damage: list[AmplihackError] = []
    page = draw_page(store, run, damage)
    if options.html == "-":
        out(page)
        return show_damage(damage)
    path = Home.from_environment(*this_process()).path(options.html)
    write_atomic(path, page.encode("utf-8"))
    if options.json:
        out_json({**run_json(run), "html": str(path)})
    else:
        err(f"wrote {printable(options.html)}")
    return show_damage(damage)


def answer_approve(options: argparse.Namespace) -> int:
    return _answer_gate(options, approved=True)


def answer_deny(options: argparse.Namespace) -> int:
    return _answer_gate(options, approved=False)


def _answer_gate(options: argparse.Namespace, *, approved: bool) -> int:
    from amplihack.app.runs.gates import answer_gate
    from amplihack.app.runs.last_steps import last_steps
    from amplihack.recipes.run_history import moment

    store = open_store()
    run = store.find(options.run)
    decided = answer_gate(store, run.run_id, stage=options.stage, approved=approved, message=options.message)
    word = "approved" if approved else "denied"
    if options.json:
        at = moment(decided.at)
        told = {"stage": decided.stage, "step": decided.step or None, "decision": word}
        out_json({"run_id": run.run_id, **told, "by": decided.by, "at": at})
        return 0
    name = printable(decided.stage, keep="")
    out(f"{word}: {f'a tool of step {name!r}' if decided.step else f'stage {name!r}'} of run {run.run_id}")
    if not decided.ends_the_run:
        err(f"`amplihack runs resume {run.run_id}` goes on{'' if approved else ' without it'}")
    elif names := last_steps(store, store.find(run.run_id)):
        err(f"`amplihack runs resume {run.run_id}` runs the steps that always run: {', '.join(names)}")
    return 0


def answer_cancel(options: argparse.Namespace) -> int:
    from amplihack.app.runs.cancelling import cancel

    run = cancel(open_store(), options.run)
    if options.json:
        out_json(run_json(run))
    else:
        out(f"{run.status}: run {run.run_id}")
    return 0


def answer_prune(options: argparse.Namespace) -> int:
    from amplihack.app.runs.pruning import prune

    age, keep = pruning_limits(options, "runs")
    removed = prune(open_store(), older_than=age, keep=keep)
    if options.json:
        out_json([run_json(run) for run in removed])
    else:
        out(f"removed {len(removed)} run{'s' if len(removed) != 1 else ''}")
    return 0
