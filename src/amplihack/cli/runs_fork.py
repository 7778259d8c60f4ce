"""`amplihack runs fork`: begin a new run that shares what came before a step of another one."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from amplihack.cli.arguments import Parser, add_json
from amplihack.cli.recipe_run import as_json, given_by, told_id
from amplihack.cli.runs import add_run_name, open_store
from amplihack.cli.runs_resume import add_going_on_flags, go_on, settle
from amplihack.errors import UsageError


def fork_flags(parser: Parser) -> None:
    add_json(parser)
    add_run_name(parser)
    parser.add_argument(
        "--from",
        dest="step",
        metavar="STEP",
        help="the first step to run again, by its id or as `runs show --json` names it",
    )
    add_going_on_flags(parser)


def answer_fork(options: argparse.Namespace) -> int:
    """Fork a run, go on with the new one and tell what came of it."""
    if options.step is None:
        raise UsageError(
            "amplihack runs fork: from which step on?",
            fix="say --from STEP; `amplihack runs show` shows the steps",
        )
    if not options.detach:
        return _fork(options, told_id(options))
    from amplihack.cli.detaching import detached

    return detached(lambda begun: _fork(options, begun), open_store(), as_json=as_json(options))


def _fork(options: argparse.Namespace, on_kept: Callable[[str], None]) -> int:
    from amplihack.app.runs.forking import fork  # deferred: a help page needs none of it

    store = open_store()
    ready = fork(store, options.run, options.step, given_by(options))
    try:
        settle(ready, options)
    except BaseException:
        store.remove(ready.run)  # it has not begun, so nobody misses it
        raise
    return go_on(ready, options, on_kept)
