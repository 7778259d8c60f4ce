"""Answer `amplihack recipe list|manifest|sync`, as text or as JSON."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from amplihack.app import catalogue
from amplihack.cli.arguments import add_common
from amplihack.cli.opened import workspace_of
from amplihack.cli.show import err, out, out_json, printable, show_problems
from amplihack.recipes.values import one_line

if TYPE_CHECKING:
    from amplihack.system.recipe_listing import RecipeInfo


def list_flags(parser: argparse.ArgumentParser) -> None:
    add_common(parser)
    parser.add_argument("--all", action="store_true", help="also those that another recipe shadows")


def answer_list(options: argparse.Namespace) -> int:
    workspace = workspace_of(options)
    listing = catalogue.list_recipes(workspace)
    show_problems(listing.broken)
    if options.json:
        out_json([_info_json(info) for info in listing.recipes])
        return 0
    shown = [info for info in listing.recipes if options.all or info.shadowed_by is None]
    if not shown:
        out("No recipes found.")
        return 0
    out(f"{'NAME':<30} {'VERSION':<10} DESCRIPTION")
    out("-" * 72)
    for info in shown:
        shadow = f" (shadowed by {workspace.library.shown(info.shadowed_by)})" if info.shadowed_by else ""
        row = f"{info.name:<30} {info.version:<10} {one_line(info.description, 60)}{shadow}"
        out(printable(row.rstrip(), keep=""))
    hidden = 0 if options.all else len(listing.replaced)
    out(f"\n{len(shown)} recipe(s) found." + (f" {hidden} shadowed: --all shows them." if hidden else ""))
    return 0


def _info_json(info: RecipeInfo) -> dict[str, Any]:
    return {
        "name": info.name,
        "path": str(info.path),
        "description": info.description,
        "version": info.version,
        "step_count": info.step_count,
        "tags": list(info.tags),
        "sha256": info.sha256,
        "shadowed_by": str(info.shadowed_by) if info.shadowed_by else None,
    }


def manifest_flags(parser: argparse.ArgumentParser) -> None:
    add_common(parser)
    parser.add_argument(
        "directory",
        metavar="DIRECTORY",
        nargs="?",
        help="the directory (default: the first that recipes are looked for in)",
    )
    parser.add_argument("--update", action="store_true", help="write the manifest anew")


def answer_manifest(options: argparse.Namespace) -> int:
    directory = catalogue.recipe_directory(workspace_of(options), options.directory)
    if options.update:
        path = catalogue.refresh_manifest(directory)
        out_json({"manifest": str(path)}) if options.json else out(str(path))
        return 0
    changes = catalogue.manifest_changes(directory)
    if options.json:
        out_json(
            [
                {
                    "name": change.name,
                    "status": change.status,
                    "local_hash": change.local_hash,
                    "stored_hash": change.stored_hash,
                }
                for change in changes
            ]
        )
    else:
        for change in changes:
            out(f"{change.status:<9} {change.name}")
        err(
            f"{len(changes)} change(s) in {directory} since its manifest was written"
            if changes
            else f"✓ nothing has changed in {directory}"
        )
    return 0


def sync_flags(parser: argparse.ArgumentParser) -> None:
    add_common(parser)
    parser.add_argument(
        "--url",
        help="the repository (default: RECIPE_RUNNER_UPSTREAM_URL, else the public one)",
    )
    parser.add_argument("--branch", default="main", help="the branch (default: main)")
    parser.add_argument(
        "--remote",
        default="amplifier-recipes",
        metavar="NAME",
        help="what the git remote is called, behind upstream- (default: amplifier-recipes)",
    )


def answer_sync(options: argparse.Namespace) -> int:
    workspace = workspace_of(options)
    report = catalogue.sync(workspace, options.url, options.branch, options.remote)
    if options.json:
        out_json(
            {
                "has_changes": report.has_changes,
                "files_changed": list(report.files_changed),
                "diff_summary": report.diff_summary,
                "upstream_ref": report.upstream_ref,
            }
        )
    else:
        out(report.diff_summary.rstrip())
    return 0
