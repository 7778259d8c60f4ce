"""Answer `amplihack bundle lock|status|update|clean`."""

from __future__ import annotations

import argparse
import asyncio
import sys

from amplihack.app.bundles import keeping
from amplihack.app.workspace import Workspace
from amplihack.cli.bundle_answers import in_workspace, request_for, tell
from amplihack.cli.near import near
from amplihack.cli.show import draw_problems, err, out, out_json, printable
from amplihack.records import as_dict
from amplihack.system.sources import UpdateReport


@in_workspace
def answer_lock(workspace: Workspace, options: argparse.Namespace) -> int:
    locked = asyncio.run(keeping.lock(request_for(workspace, options)))
    tell(workspace, locked.problems)
    if options.json:
        out_json({"lock": str(locked.path), "entries": locked.sources})
    else:
        out(near(workspace.home.cwd)(str(locked.path)))
        err("1 source is locked" if locked.sources == 1 else f"{locked.sources} sources are locked")
    return 0


@in_workspace
def answer_status(workspace: Workspace, options: argparse.Namespace) -> int:
    """Show the status. Exit code 1 if something differs from the lock file or cannot be checked."""
    found = asyncio.run(keeping.status(request_for(workspace, options)))
    tell(workspace, found.problems)
    if options.json:
        out_json(
            {
                "locked": found.locked,
                "drift": [as_dict(each) for each in found.drift],
                "sources": [as_dict(each) for each in found.sources],
            }
        )
        return found.exit_code
    for text in draw_problems((drift.problem for drift in found.drift), sys.stdout):
        out(text)
    for source in found.sources:
        out(printable(f"{source.source_uri}: {source.summary}"))
        if source.fix:
            err(printable(f"  fix: {source.fix}"))
    if not found.locked:
        err("there is no bundle.lock here: `amplihack bundle lock` writes it")
    elif not found.drift:
        err("✓ as locked")
    return found.exit_code


@in_workspace
def answer_update(workspace: Workspace, options: argparse.Namespace) -> int:
    """Update the sources. Exit code 1 if one could not be updated (it stays as it is), or cannot be read."""
    done = asyncio.run(keeping.update(request_for(workspace, options)))
    tell(workspace, done.problems)
    if options.json:
        out_json(
            [
                {
                    "uri": each.uri,
                    "outcome": each.outcome,
                    "before": each.before,
                    "after": each.after,
                    "error": each.error.what if each.error else None,
                }
                for each in done.reports
            ]
        )
    else:
        said = "\n".join(problem.what for problem in done.problems)
        for each in done.reports:
            _show_report(each, said)
        if not done.reports:
            err("nothing to update: every source is local")
        if done.leaves_lock:
            err("bundle.lock still holds what was locked before: `amplihack bundle lock` writes what is new")
    return 1 if any(each.outcome == "failed" for each in done.reports) or not done.is_whole else 0


def _show_report(report: UpdateReport, said: str) -> None:
    """Show what became of a source, and why, unless that was said already."""
    change = f" {(report.before or '')[:8]} -> {(report.after or '')[:8]}"
    out(printable(f"{report.outcome:<10} {report.uri}{change if report.outcome == 'updated' else ''}"))
    if report.error and report.error.what not in said:
        err(printable(f"  {report.error.what}"))
        if report.error.fix:
            err(printable(f"  fix: {report.error.fix}"))


@in_workspace
def answer_clean(workspace: Workspace, options: argparse.Namespace) -> int:
    report = asyncio.run(keeping.clean(workspace, dry_run=options.dry_run))
    if options.json:
        out_json({"removed": [str(entry.path) for entry in report.removed], "bytes": report.freed})
        return 0
    for entry in report.removed:
        out(printable(f"{entry.size:>12} {entry.source or entry.name}"))
    err(f"{'would free' if options.dry_run else 'freed'} {report.freed} bytes")
    return 0
