"""`amplihack install`: stage the framework bundle, go back to the one before, or tell what was staged."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from amplihack.cli.arguments import Parser, add_json
from amplihack.cli.show import err, out, out_json, printable
from amplihack.errors import UsageError
from amplihack.moments import local_time

if TYPE_CHECKING:
    from amplihack.app.install.installing import InstallOutcome, InstallRequest


def install_flags(parser: Parser) -> None:
    add_json(parser)
    parser.add_argument("action", metavar="history", nargs="?", help="show what was staged when")
    parser.add_argument("--local", metavar="PATH", help="stage this bundle, or the one in this directory")
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, and do nothing")
    parser.add_argument("--rollback", action="store_true", help="go back to what was staged before")
    parser.add_argument("--force-refresh", action="store_true", help=argparse.SUPPRESS)


def answer_install(options: argparse.Namespace) -> int:
    """Install, plan, roll back or show the history."""
    if options.rollback and (options.local or options.dry_run or options.force_refresh):
        raise UsageError("--rollback takes no other choice", fix="leave out the other flags")
    if options.action not in (None, "history"):
        what = f"amplihack install: there is no '{options.action}'"
        raise UsageError(what, fix="`install history` tells what was staged; --local PATH stages a bundle")
    if options.action == "history":
        return _answer_history(options)
    # Deferred: a help page needs none of it.
    from amplihack.app.install.installing import install, plan_install
    from amplihack.app.install.rolling_back import roll_back

    request = _request(options)
    if options.dry_run:
        plan = plan_install(request)
        _show_plan(plan, as_json=options.json)
        return 0
    outcome = roll_back(request) if options.rollback else install(request)
    if options.json:
        out_json(_outcome_json(outcome))
    else:
        _show_outcome(outcome)
    return 0


def _request(options: argparse.Namespace) -> InstallRequest:
    from amplihack.app.install.installing import InstallRequest
    from amplihack.system.home import Home, this_process

    environment, cwd = this_process()
    return InstallRequest(
        home=Home.from_environment(environment, cwd),
        environment=environment,
        say=lambda line: err(printable(line)),
        what="rollback" if options.rollback else "install",
        local=options.local,
        force_refresh=options.force_refresh,
    )


def _show_outcome(outcome: InstallOutcome) -> None:
    for path in outcome.kept:
        err(printable(f"you had edited a staged file; your version is now {path}"))
    if outcome.replaced:
        err(printable(f"what was in the place of the bundle is now {outcome.replaced}"))
    how = "staged" if outcome.copied else "active"
    out(printable(f"✓ framework bundle {outcome.version} is {how}: {outcome.files} files"))
    out(printable(f"  from {outcome.label}: {outcome.source}"))
    out(printable(f"  generation {outcome.generation}"))


def _outcome_json(outcome: InstallOutcome) -> dict[str, Any]:
    from amplihack.records import as_dict

    return as_dict(outcome)


def _show_plan(plan: Any, *, as_json: bool) -> None:
    what = {
        "source": plan.source.origin,
        "label": plan.source.label,
        "version": plan.version,
        "generation": plan.generation,
        "copy": not plan.is_there,
        "files": sorted(plan.files),
        "bytes": plan.size,
        "active": plan.active,
        "edited": list(plan.edited),
    }
    if as_json:
        out_json(what)
        return
    out(printable(f"would stage {len(plan.files)} files ({plan.size:,} bytes) for version {plan.version}"))
    out(printable(f"  from {plan.source.label}: {plan.source.origin}"))
    copied = "is there already, and is not copied" if plan.is_there else "is copied"
    out(printable(f"  generation {plan.generation} {copied}"))
    out(printable(f"  active now: {plan.active or 'none'}"))
    for path in plan.edited:
        out(printable(f"  you edited {path}: your version is kept under user/conflicts"))


def _answer_history(options: argparse.Namespace) -> int:
    from amplihack.records import as_dict
    from amplihack.system.generations import Generations
    from amplihack.system.home import Home, this_process
    from amplihack.system.install_history import history

    root = Home.from_environment(*this_process()).root
    generations = Generations(root)
    active, here = generations.active(), {record.generation for record in generations.records()}
    entries = history(root)
    if options.json:
        known = [{**as_dict(each), "here": each.generation in here} for each in entries]
        out_json({"active": active, "history": known})
        return 0
    if not entries:
        err("nothing was installed yet")
    for number, each in enumerate(entries):
        when = local_time(each.at)
        is_active = each.generation == active and number == len(entries) - 1
        state = "active" if is_active else "" if each.generation in here else "removed"
        line = f"{when}  {each.what:<9}  {each.version}  {each.generation}  {each.label}: {each.source}"
        out(printable(f"{line}  {state}".rstrip()))
    return 0
