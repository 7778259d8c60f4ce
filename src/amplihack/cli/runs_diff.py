"""`amplihack runs diff`: tell where two runs first differ, and why."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplihack.cli.arguments import Parser, add_json
from amplihack.cli.runs import open_store
from amplihack.cli.show import err, out, out_json, printable

if TYPE_CHECKING:
    from amplihack.recipes.run_diff import RunDifference

_WORDS = {
    "recipe": "the recipe says something else",
    "input": "it was given something else",
    "output": "it left something else, from the same",
    "status": "it ended in another way",
    "missing": "it began in one of them only",
}
_TAIL = 20  # lines of a side that are shown


def diff_flags(parser: Parser) -> None:
    add_json(parser)
    parser.add_argument(
        "a", metavar="A", nargs="?", help="a run (default: what B was forked from, or the run before B)"
    )
    parser.add_argument("b", metavar="B", nargs="?", default="last", help="another run (default: last)")


def answer_diff(options: argparse.Namespace) -> int:
    """Print the first difference with both sides, then the rest."""
    from amplihack.app.runs.comparing import diff_runs  # deferred: a help page needs none of it
    from amplihack.recipes.run_diff import summary

    compared = diff_runs(open_store(), options.a, options.b)
    for note in compared.notes:
        err(printable(note))
    a, b = compared.one, compared.other
    if options.json:
        out_json({"a": a.run_id, "b": b.run_id, **summary(compared.differences)})
        return 0
    out(printable(f"A  {a.run_id}  {a.recipe}  {a.status}\nB  {b.run_id}  {b.recipe}  {b.status}"))
    if not compared.differences:
        out("they do not differ")
        return 0
    first, *rest = compared.differences
    out(printable(f"\nfirst: {_line(first)}"))
    for line in (*_side("A", first.a), *_side("B", first.b)):
        out(printable(line))
    if rest:
        out(f"\nthen {len(rest)} more:")
    for each in rest:
        out(printable(f"  {_line(each)}"))
    return 0


def _line(difference: RunDifference) -> str:
    also = f" (and its {' and '.join(difference.also)})" if difference.also else ""
    where = difference.identity or "the run"
    return f"{where} — {difference.why}: {_WORDS[difference.why]}{also}"


def _side(name: str, text: str | None) -> Iterator[str]:
    if text is None:
        yield f"  {name}: nothing"
        return
    lines = text.splitlines() or [""]
    for line in lines[:_TAIL]:
        yield f"  {name}: {line}"
    if len(lines) > _TAIL:
        yield f"  {name}: … {len(lines) - _TAIL} more lines; --json has more"
