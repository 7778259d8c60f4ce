"""`amplihack doctor`: look at everything that is installed, and put right what can be."""

from __future__ import annotations

import argparse
import sys

from amplihack.cli.arguments import Parser, add_json
from amplihack.cli.show import err, out, out_json, paint, printable
from amplihack.errors import UsageError


def doctor_flags(parser: Parser) -> None:
    add_json(parser)
    parser.add_argument("--fix", action="store_true", help="put right what can be, and look again")


def answer_doctor(options: argparse.Namespace) -> int:
    """Show every check; exit 1 if something is wrong."""
    # Deferred: a help page needs none of it.
    import asyncio

    from amplihack.app.install.check_result import CheckPlace
    from amplihack.app.install.checkup import check_up, check_up_without_home, mend
    from amplihack.app.install.surroundings import agent_versions
    from amplihack.system.home import Home, this_process

    environment, cwd = this_process()
    versions = asyncio.run(agent_versions(environment, cwd))
    try:
        place = CheckPlace(
            home=Home.from_environment(environment, cwd), environment=environment, versions=versions
        )
    except UsageError as error:  # without a home there is less to look at
        homeless = CheckPlace(home=Home(cwd, cwd, cwd), environment=environment, versions=versions)
        checks = check_up_without_home(homeless, error)
    else:
        checks = mend(place, lambda line: err(printable(line))) if options.fix else check_up(place)
    failed = sum(not check.ok for check in checks)
    if options.json:
        rows = [{"name": each.name, "ok": each.ok, "what": each.what, "fix": each.fix} for each in checks]
        out_json({"ok": not failed, "checks": rows})
        return 1 if failed else 0
    width = max(len(check.name) for check in checks)
    for check in checks:
        mark = paint("✓", "32", sys.stdout) if check.ok else paint("✗", "31", sys.stdout)
        out(f"{mark} {check.name:<{width}}  {printable(check.what)}")
        if check.fix:
            out(printable(f"  {'':<{width}}  fix: {check.fix}"))
    out(f"{failed} check(s) failed." if failed else "All checks passed.")
    return 1 if failed else 0
