"""`amplihack uninstall`: remove the staged framework bundle; the program itself stays."""

from __future__ import annotations

import argparse

from amplihack.cli.arguments import Parser, add_json
from amplihack.cli.show import err, out, out_json, printable


def uninstall_flags(parser: Parser) -> None:
    add_json(parser)
    parser.add_argument("--dry-run", action="store_true", help="show what would be removed, and do nothing")
    parser.add_argument(
        "--purge",
        action="store_true",
        help="also remove your edited files, the history and every trace of it",
    )


def answer_uninstall(options: argparse.Namespace) -> int:
    """Remove what is staged, or show what that would be."""
    # Deferred: a help page needs none of it.
    from amplihack.app.install.installing import InstallRequest
    from amplihack.app.install.uninstalling import plan_uninstall, uninstall
    from amplihack.records import as_dict
    from amplihack.system.home import Home, this_process

    environment, cwd = this_process()
    home = Home.from_environment(environment, cwd)
    if options.dry_run:
        plan = plan_uninstall(home.root, purge=options.purge)
        places = [*(f"generations/{name}" for name in plan.generations), *plan.others]
        if options.json:
            out_json({"root": str(home.root), "remove": places})
        else:
            _show(places, "would remove", str(home.root))
        return 0
    request = InstallRequest(
        home=home, environment=environment, say=lambda line: err(printable(line)), what="uninstall"
    )
    outcome = uninstall(request, purge=options.purge)
    if options.json:
        out_json({"root": str(home.root), **as_dict(outcome)})
        return 1 if outcome.in_use else 0
    for path in outcome.kept:
        err(printable(f"you had edited a staged file; your version is now {path}"))
    _show(outcome.removed, "removed", str(home.root))
    for name in outcome.in_use:
        err(printable(f"a running process uses generation {name}: run this again when it has ended"))
    err("the program stays: remove amplihack with the tool that installed it (uv tool, pipx or pip)")
    return 1 if outcome.in_use else 0


def _show(places: list[str] | tuple[str, ...], verb: str, root: str) -> None:
    if not places:
        out("Nothing to uninstall.")
    for place in places:
        out(printable(f"{verb} {root}/{place}"))
