"""The answers of `amplihack recipe`: what `app` says, as text for people or JSON for programs."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from amplihack.app.workspace import Workspace, open_recipe
from amplihack.cli.show import (
    draw_problem,
    err,
    out,
    out_json,
    place,
    printable,
    problem_json,
    show_problems,
)
from amplihack.errors import NotFound, Problem

if TYPE_CHECKING:
    from amplihack.app.language import Validation
    from amplihack.system.listing import RecipeInfo


def list_recipes(workspace: Workspace, options: argparse.Namespace) -> int:
    from amplihack.app.language import list_recipes as ask

    listing = ask(workspace)
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
        row = f"{info.name:<30} {info.version:<10} {_short(info.description)}{shadow}"
        out(printable(row.rstrip(), keep=""))
    hidden = len(listing.recipes) - len(shown)
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


def _short(text: str, width: int = 60) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"


def validate(workspace: Workspace, options: argparse.Namespace) -> int:
    from amplihack.app.language import validate as ask

    answers = [ask(workspace, reference) for reference in options.recipe]
    if options.json:
        out_json([_validation_json(answer) for answer in answers])
    else:
        for answer in answers:
            _show_validation(answer)
    strict = 2 if options.strict and any(answer.problems for answer in answers) else 0
    return max([strict, *(answer.exit_code for answer in answers)])


def _show_validation(answer: Validation) -> None:
    if answer.opened is None:
        show_problems(answer.problems)
        return
    recipe, verdict = answer.opened.located.recipe, answer.opened.decoded.verdict
    if answer.problems:
        out(printable(f"⚠ Recipe '{recipe.name}' has {len(answer.problems)} warning(s):"))
        for problem in answer.problems:
            fix = f"; {problem.fix}" if problem.fix else ""
            out(f"  - {place(problem.where)}: {printable(problem.what + fix)}")
    else:
        out(printable(f"✓ Recipe '{recipe.name}' is valid ({len(recipe.steps)} steps)"))
    out(f"  dialect: {verdict.dialect} ({verdict.reason})")


def _validation_json(answer: Validation) -> dict[str, Any]:
    opened = answer.opened
    return {
        "file": answer.file,
        "valid": answer.valid,
        "name": opened.located.recipe.name if opened else None,
        "steps": len(opened.located.recipe.steps) if opened else None,
        "dialect": opened.decoded.verdict.dialect if opened else None,
        "dialect_reason": opened.decoded.verdict.reason if opened else None,
        "problems": [problem_json(problem) for problem in answer.problems],
    }


def check(workspace: Workspace, options: argparse.Namespace) -> int:
    from amplihack.app.check import check as ask
    from amplihack.app.check import recipe_references

    references = recipe_references(workspace, options.recipe)
    answers = [ask(workspace, reference, everything=options.all) for reference in references]
    found = [problem for answer in answers for problem in answer.findings]
    not_found = [problem for answer in answers for problem in answer.not_found]
    show_problems(not_found)
    if options.sarif:
        from amplihack.recipes.check import to_sarif
        from amplihack.version import __version__

        out_json(to_sarif(found, __version__))
    elif options.json:
        out_json([problem_json(problem) for problem in found])
    else:
        for problem in found:
            out(draw_problem(problem, sys.stdout))
        if found or not not_found:
            err(_tally(found))
    if not_found:
        return NotFound.exit_code
    worst = {problem.severity for problem in found}
    return 2 if "error" in worst or (options.strict and "warning" in worst) else 0


def _tally(found: list[Problem]) -> str:
    if not found:
        return "✓ nothing found"
    counts = {
        severity: sum(each.severity == severity for each in found)
        for severity in ("error", "warning", "note")
    }
    return ", ".join(
        f"{count} {severity}{'s' if count != 1 else ''}" for severity, count in counts.items() if count
    )


def explain(workspace: Workspace, options: argparse.Namespace) -> int:
    from amplihack.recipes.explain import describe
    from amplihack.recipes.explain import explain as in_words

    recipe = open_recipe(workspace, options.recipe).located.recipe
    if options.json:
        out_json(describe(recipe))
    else:
        out(printable(in_words(recipe)))
    return 0


def schema(_workspace: Workspace, _options: argparse.Namespace) -> int:
    from amplihack.recipes.schema import json_schema

    out_json(json_schema())
    return 0


def manifest(workspace: Workspace, options: argparse.Namespace) -> int:
    from amplihack.app.language import manifest_changes, refresh_manifest

    if options.update:
        path = refresh_manifest(workspace, options.directory)
        out_json({"manifest": str(path)}) if options.json else out(str(path))
        return 0
    changes = manifest_changes(workspace, options.directory)
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
            f"{len(changes)} change(s) since the manifest was written" if changes else "✓ nothing has changed"
        )
    return 0


def sync(workspace: Workspace, options: argparse.Namespace) -> int:
    from amplihack.app.language import sync as ask

    report = ask(workspace, options.url, options.branch, options.remote)
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
