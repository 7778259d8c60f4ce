"""Answer `amplihack model list|pull|remove`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from amplihack.cli.arguments import Parser, add_json
from amplihack.cli.show import err, out, out_json, printable

if TYPE_CHECKING:
    from pathlib import Path

_STEP = 5  # percent between two lines of progress where nobody watches


def list_flags(parser: Parser) -> None:
    add_json(parser)


def name_flags(parser: Parser) -> None:
    add_json(parser)
    parser.add_argument("model", metavar="MODEL", help="its name in `amplihack model list`")


def answer_list(options: argparse.Namespace) -> int:
    # Deferred, as in the other answers: a help page needs none of it.
    from amplihack.app.models import list_models
    from amplihack.records import as_dict
    from amplihack.system.home import Home, this_process

    rows = list_models(Home.from_environment(*this_process()))
    if options.json:
        out_json([as_dict(row) for row in rows])
        return 0
    for row in rows:
        state = "here" if row.here else "partly here" if row.fetched_bytes else "not here"
        out(printable(f"{row.name}  {state}, {row.bytes / 1e6:.0f} MB, {row.licence}"))
        out(printable(f"    {row.summary}"))
    if not any(row.here for row in rows):
        err(f"fetch one with: amplihack model pull {rows[0].name}")
    return 0


def answer_pull(options: argparse.Namespace) -> int:
    path, is_new = fetched(options.model)
    if options.json:
        out_json({"model": options.model, "path": str(path), "fetched": is_new})
    else:
        out(printable(str(path)))
        err(f"{options.model} is {'fetched and checked' if is_new else 'here already, and checked'}")
    return 0


def fetched(model: str) -> tuple[Path, bool]:
    """Fetch a model and show how far it is. Return where it is, and whether it was not here before."""
    import asyncio

    from amplihack.app.models import pull_model
    from amplihack.system.home import Home, this_process

    environment, cwd = this_process()
    progress = _Progress(model)
    try:
        home = Home.from_environment(environment, cwd)
        return asyncio.run(pull_model(home, model, environment, progress.show))
    finally:
        progress.end()


def answer_remove(options: argparse.Namespace) -> int:
    from amplihack.app.models import remove_model
    from amplihack.system.home import Home, this_process

    size = remove_model(Home.from_environment(*this_process()), options.model)
    if options.json:
        out_json({"model": options.model, "bytes": size})
    else:
        out(f"removed {options.model}, {size / 1e6:.0f} MB")
    return 0


class _Progress:
    """Shows how far a fetch is: one line that changes on a terminal, a line now and then elsewhere."""

    def __init__(self, name: str) -> None:
        self._name, self._last = name, -_STEP
        self._live = sys.stderr.isatty()
        self._open = False

    def show(self, have: int, total: int) -> None:
        percent = have * 100 // total
        if percent < self._last + (1 if self._live else _STEP):
            return
        self._last = percent
        text = f"{self._name}: {have / 1e6:.0f} of {total / 1e6:.0f} MB ({percent} %)"
        if self._live:
            sys.stderr.write(f"\r{text}")
            sys.stderr.flush()
            self._open = True
        else:
            err(text)

    def end(self) -> None:
        if self._open:
            sys.stderr.write("\n")
