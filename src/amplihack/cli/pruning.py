"""The flags of every command that removes what is old: `runs prune`, `session prune`."""

from __future__ import annotations

import argparse

from amplihack.cli.arguments import Parser
from amplihack.errors import UsageError


def add_pruning(parser: Parser, things: str, ended: str) -> None:
    parser.add_argument(
        "--older-than", metavar="AGE", help=f"remove {things} that {ended} so long ago, such as 30d"
    )
    parser.add_argument("--keep", type=int, metavar="N", help="remove all but the newest N")


def pruning_limits(options: argparse.Namespace, group: str) -> tuple[float | None, int | None]:
    """Return the age in seconds and the number to keep. Raises UsageError for neither, or for nonsense."""
    from amplihack.documents.durations import seconds_in  # deferred: a help page needs it not

    age, keep = options.older_than, options.keep
    if age is None and keep is None:
        fix = "say --older-than 30d, or --keep 100"
        raise UsageError(f"amplihack {group} prune: what should go?", fix=fix)
    if keep is not None and keep < 0:
        raise UsageError(f"--keep cannot be {keep}", fix="give a whole number, 0 or more")
    # A bare number would count seconds, and remove what was meant to be kept for days.
    seconds = None if age is None or age.strip()[-1:].isdecimal() else seconds_in(age)
    if age is not None and seconds is None:
        raise UsageError(f"'{age}' is no age", fix="write a number and s, m, h, d or w, such as 30d")
    return seconds, keep
