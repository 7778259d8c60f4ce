"""`amplihack runs tail`: follow a run live, whoever runs it."""

from __future__ import annotations

import argparse

from amplihack.cli.arguments import Parser, add_color
from amplihack.cli.runs import add_run_name, open_store, show_damage
from amplihack.cli.show import err, flush_out, out
from amplihack.errors import AmplihackError


def tail_flags(parser: Parser) -> None:
    add_color(parser)
    add_run_name(parser)


def answer_tail(options: argparse.Namespace) -> int:
    """Print what happened so far and what happens until the end of the run."""
    # Deferred: a help page needs none of it.
    from amplihack.app.runs.following import follow
    from amplihack.system.listeners.narrated import narrated

    store = open_store()
    run = store.find(options.run)
    damage: list[AmplihackError] = []
    for line in narrated(follow(store, run, damage)):
        out(line)
        flush_out()
    now = store.find(run.run_id)
    err(f"run {now.run_id} is {now.status}")
    return show_damage(damage)
