"""`amplihack update`: upgrade the program with the tool that installed it, and stage its new bundle."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

# Loaded now: after the upgrade, the files under us are those of another version.
from amplihack.cli import asked, show
from amplihack.cli.arguments import Parser, add_json
from amplihack.cli.show import err, out, out_json, printable

if TYPE_CHECKING:
    from amplihack.app.install.updating import UpdateState

_ = asked, show


def update_flags(parser: Parser) -> None:
    add_json(parser)
    parser.add_argument("--check", action="store_true", help="tell whether there is a newer version")
    parser.add_argument("--dry-run", action="store_true", help="show what would be run, and do nothing")


def answer_update(options: argparse.Namespace) -> int:
    """Upgrade, or tell what could be done."""
    import asyncio

    from amplihack.app.install import updating
    from amplihack.system.home import this_process

    environment, cwd = this_process()
    request = updating.UpdateRequest(environment=environment, cwd=cwd, say=lambda line: err(printable(line)))
    state = asyncio.run(updating.look_for_update(request))
    if options.check:
        return _tell(state, as_json=options.json)
    updating.require_command(state)
    if options.dry_run:
        return _tell_plan(state, as_json=options.json)
    if state.is_newer:
        updating.upgrade(request, state)
    version = asyncio.run(updating.new_version(request, state))
    code = updating.stage_new(request)
    if options.json:
        done = {"before": state.current, "version": version, "staged": not code}
        out_json({**done, "method": state.method.kind})
    elif not code:
        what = f"amplihack {version}, upgraded from {state.current}" if state.is_newer else _current(state)
        out(printable(f"✓ {what}"))
    if code:
        err(f"amplihack {version} is installed, but its bundle is not staged; what was there before still is")
        err("  fix: `amplihack install` tries again, and `amplihack doctor` tells more")
    return 1 if code else 0


def _current(state: UpdateState) -> str:
    return f"amplihack {state.current} is the newest version"


def _tell(state: UpdateState, *, as_json: bool) -> int:
    if as_json:
        said = {"current": state.current, "latest": state.latest, "newer": state.is_newer}
        out_json({**said, "method": state.method.kind, "advice": state.method.advice})
    elif state.latest is None:
        out(printable(f"amplihack {state.current}, installed by {state.method.kind}: {state.method.advice}"))
    elif state.is_newer:
        out(printable(f"amplihack {state.latest} is available, this is {state.current}: amplihack update"))
    else:
        out(printable(_current(state)))
    return 0


def _tell_plan(state: UpdateState, *, as_json: bool) -> int:
    upgrade = [list(state.method.upgrade)] if state.is_newer else []
    commands = [*upgrade, ["amplihack", "install", "--force-refresh"]]
    if as_json:
        out_json({"current": state.current, "latest": state.latest, "commands": commands})
    else:
        for command in commands:
            out(printable(f"would run {' '.join(command)}"))
    return 0
