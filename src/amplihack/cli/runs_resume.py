"""`amplihack runs resume`: go on with a run, after telling and asking what a person must decide."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from amplihack.cli.arguments import Parser, add_json
from amplihack.cli.guard import keep_results_apart
from amplihack.cli.recipe_run import (
    add_telling_flags,
    add_variable_flags,
    as_json,
    given_by,
    tell_result,
    told_id,
)
from amplihack.cli.runs import add_run_name, open_store
from amplihack.cli.show import err, printable, show_problems
from amplihack.records import replace
from amplihack.system.agent_tools.table import choices

if TYPE_CHECKING:
    from amplihack.app.run_request import RunRequest
    from amplihack.app.runs.resuming import Resumption
    from amplihack.recipes.recipe_changes import Changes


def resume_flags(parser: Parser) -> None:
    add_json(parser)
    add_run_name(parser)
    add_going_on_flags(parser)


def add_going_on_flags(parser: Parser) -> None:
    """Add what can be said about a run that goes on."""
    parser.add_argument(
        "--accept-changes", action="store_true", help="go on with recipes that were edited meanwhile"
    )
    parser.add_argument(
        "--run-again",
        action="store_true",
        help="run steps again that were cut off, also those that say `idempotent: false`",
    )
    parser.add_argument(
        "--agent", "--agent-binary", metavar="AGENT", help=f"{choices()} (default: the one that the run has)"
    )
    parser.add_argument("--yes", action="store_true", help="approve every gate without asking")
    parser.add_argument("--detach", action="store_true", help="go on in the background")
    add_variable_flags(parser)
    add_telling_flags(parser)


def answer_resume(options: argparse.Namespace) -> int:
    """Go on with a run and tell what came of it."""
    if not options.detach:
        return _resume(options, told_id(options))
    from amplihack.cli.detaching import detached

    return detached(lambda begun: _resume(options, begun), open_store(), as_json=as_json(options))


def _resume(options: argparse.Namespace, on_kept: Callable[[str], None]) -> int:
    from amplihack.app.runs.resuming import find_resumable, prepare  # deferred: a help page needs none of it

    store = open_store()
    ready = prepare(store, find_resumable(store, options.run), given_by(options))
    settle(ready, options)
    return go_on(ready, options, on_kept)


def settle(ready: Resumption, options: argparse.Namespace) -> None:
    """Tell and ask what a person must know and decide before the run goes on. Raises UsageError."""
    try:
        show_problems(ready.opened.decoded.warnings)
        for note in ready.notes:
            err(printable(note))
        _settle_changes(ready, options)
        _settle_doubts(ready, options)
    except BaseException:
        ready.memory.close()
        raise


def go_on(ready: Resumption, options: argparse.Namespace, on_kept: Callable[[str], None]) -> int:
    """Run what is left, tell the result and return the exit code."""
    from amplihack.app.run import run_until_interrupted  # deferred, as above

    request = replace(_request(ready.request, options), on_kept=on_kept)
    keep_results_apart()
    result = run_until_interrupted(ready.workspace, ready.opened, ready.values, request, memory=ready.memory)
    more = {"forked_from": ready.run.forked_from} if ready.run.forked_from else {}
    return tell_result(result, ready.opened.located.recipe, options, kept=True, more=more)


def _request(kept: RunRequest, options: argparse.Namespace) -> RunRequest:
    return replace(
        kept,
        agent=options.agent or kept.agent,
        approve_all=options.yes or kept.approve_all,
        audit_dir=options.audit_dir,
        events=options.events,
        progress=options.progress or not options.quiet,
        verbose=options.verbose,
        color=options.color,
    )


def _settle_changes(ready: Resumption, options: argparse.Namespace) -> None:
    """Tell what edits of the recipes mean, and accept them if the user does. Raises UsageError."""
    for line in _told(ready.changes) if ready.changes else ():
        err(printable(line))
    ready.settle_changes(accept=options.accept_changes)


def _told(changes: Changes) -> list[str]:
    rows = (
        ("kept", changes.kept),
        ("runs again", changes.again),
        ("new", changes.new),
        ("can no longer be", changes.gone),
        ("in another order", changes.moved),
    )
    return ["the recipe was edited:", *(f"  {word}: {', '.join(names)}" for word, names in rows if names)]


def _settle_doubts(ready: Resumption, options: argparse.Namespace) -> None:
    """Ask whether steps may run again that perhaps have done their work. Raises UsageError if not."""
    allowed = options.run_again
    if ready.in_doubt and not allowed and sys.stdin.isatty() and sys.stderr.isatty():
        from amplihack.system.stdin import typed_line  # deferred: hardly any run is in doubt

        sys.stderr.write(f"{printable(ready.doubt)}.\nRun again? [y/N] ")
        sys.stderr.flush()
        allowed = typed_line().strip().lower() in ("y", "yes")
    ready.settle_doubts(run_again=allowed)
