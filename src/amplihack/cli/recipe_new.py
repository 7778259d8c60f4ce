"""Answer `amplihack recipe new`."""

from __future__ import annotations

import argparse
import shlex

from amplihack.cli.arguments import add_common
from amplihack.cli.opened import workspace_of
from amplihack.cli.show import err, out, out_json, printable


def new_flags(parser: argparse.ArgumentParser) -> None:
    add_common(parser)
    parser.add_argument("name", metavar="NAME", help="its name, or the path of its file")
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="the file or directory to write it to (default: here)"
    )
    parser.add_argument("--force", action="store_true", help="overwrite a file that exists")


def answer_new(options: argparse.Namespace) -> int:
    from amplihack.app.new_recipe import new_recipe  # deferred: a help page needs no schema

    workspace = workspace_of(options)
    made = new_recipe(workspace, options.name, options.output, force=options.force)
    file, schema = workspace.library.shown(made.file), workspace.library.shown(made.schema)
    if options.json:
        out_json({"name": made.name, "file": file, "schema": schema})
        return 0
    out(printable(file))
    words = shlex.quote(file)
    err(
        printable(
            f"wrote {file}, and {schema} for your editor\nnext:\n"
            f"  amplihack recipe run {words}\n"
            f"  amplihack recipe check {words}\n"
            f"  amplihack recipe run {words} --help    what it takes"
        )
    )
    if made.hides:
        err(printable(f"note: by the name {made.name} this one is found now, not {made.hides}"))
    return 0
