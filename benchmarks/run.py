"""Every benchmark as one table of ratios with their bars: `make bench`.

Figures are medians of processor time, of a command and of all that it started. What is compared takes turns,
so that a busy machine slows both alike. A runner of your own joins in with
`--compare 'mine=my-runner run {recipe}'`.
"""

from __future__ import annotations

import argparse
import compileall
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.bench import Bench
    from benchmarks.table import Row

ROOT = Path(__file__).parents[1]

GROUPS: Mapping[str, str] = {  # name: the function that measures it
    "startup": "commands:startup",
    "installs": "installs:installs",
    "read": "commands:read",
    "one-step": "commands:one_step",
    "steps": "steps:hundred",
    "one-more": "steps:one_more",
    "foreach": "steps:loops",
    "shapes": "steps:shapes",
    "durable": "durability:durable",
    "resume": "durability:resume",
    "runs-list": "durability:listing",
    "runs-show": "durability:showing",
    "lines": "commands:lines",
    "agents": "commands:agents",
    "memory": "commands:memory",
    "bundle-show": "commands:bundle_show",
    "bundles": "bundle_trees:trees",
    "facade": "bundle_trees:facade",
    "sessions": "sessions:sessions",
    "preparing": "sessions:preparing",
    "first-word": "local_model:first_word",
    "conditions": "languages:conditions",
    "scripts": "languages:scripts",
}


def main(arguments: Sequence[str] | None = None) -> None:
    sys.path.insert(0, str(ROOT))  # run as a script, Python sees only this folder
    asked = _parser().parse_args(arguments)
    from benchmarks.bench import Bench, environment
    from benchmarks.peers import installed_peers, parse_compare
    from benchmarks.table import show, show_markdown, summary

    try:
        peers = [*installed_peers(), *map(parse_compare, asked.compare)]
    except ValueError as error:
        sys.exit(f"--compare: {error}")
    compileall.compile_dir(ROOT / "src", quiet=1)  # else the first commands would pay for it
    with tempfile.TemporaryDirectory(prefix="amplihack-bench-") as name:
        folder = Path(name).resolve()
        bench = Bench(folder, peers, asked.quick, asked.wall, environment(folder))
        rows: list[Row] = []
        try:
            for group in asked.groups or GROUPS:
                rows += _measure(group, bench)
        except KeyboardInterrupt:
            print("interrupted: the rest was not measured", file=sys.stderr)
    print((show_markdown if asked.markdown else show)(rows))
    kind = "time by the clock" if asked.wall else "processor time"
    print(f"\n{summary(rows)}; medians of {kind}, as ratios within this run")


def _measure(group: str, bench: Bench) -> list[Row]:
    module, function = GROUPS[group].split(":")
    measure: Callable[[Bench], list[Row]] = getattr(import_module(f"benchmarks.{module}"), function)
    started = time.perf_counter()
    rows = measure(bench)
    print(f"{group}: {time.perf_counter() - started:.0f} s", file=sys.stderr)
    return rows


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure speed as ratios within one run.")
    parser.add_argument(
        "groups", nargs="*", choices=[*GROUPS, []], metavar="GROUP", help=f"any of: {', '.join(GROUPS)}"
    )
    parser.add_argument("--quick", action="store_true", help="fewer turns and smaller trees; under a minute")
    parser.add_argument("--wall", action="store_true", help="compare by the clock, not by processor time")
    parser.add_argument("--markdown", action="store_true", help="print the table for a page of documentation")
    parser.add_argument(
        "--compare",
        action="append",
        default=[],
        metavar="NAME=COMMAND",
        help="measure another runner of recipes too; {recipe} in COMMAND stands for the file",
    )
    return parser


if __name__ == "__main__":
    main()
