"""Answer `amplihack recipe validate|check|explain|schema`, which run nothing."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from amplihack.app.workspace import (
    Validation,
    open_recipe,
    recipe_references,
    shown_reference,
    validate,
)
from amplihack.cli.arguments import RECIPE, add_common
from amplihack.cli.opened import workspace_of
from amplihack.cli.show import (
    draw_problems,
    err,
    out,
    out_json,
    place,
    printable,
    problem_json,
    show_dialect,
    show_problems,
    tally,
    tell_failure,
)
from amplihack.errors import NotFound


def validate_flags(parser: argparse.ArgumentParser) -> None:
    add_common(parser)
    parser.add_argument("recipe", metavar="RECIPE", nargs="+", help=RECIPE)
    parser.add_argument("--strict", action="store_true", help="warnings are errors")


def answer_validate(options: argparse.Namespace) -> int:
    workspace = workspace_of(options)
    answers = [validate(workspace, reference) for reference in options.recipe]
    missing = [problem for answer in answers if _is_missing(answer) for problem in answer.problems]
    if missing and all(map(_is_missing, answers)):
        tell_failure(missing, as_json=options.json)
    elif options.json:
        out_json([_validation_json(answer) for answer in answers])
    else:
        for answer in answers:
            _show_validation(answer)
    strict = 2 if options.strict and any(answer.problems for answer in answers) else 0
    return max([strict, *(answer.exit_code for answer in answers)])


def _is_missing(answer: Validation) -> bool:
    return answer.exit_code == NotFound.exit_code


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


def check_flags(parser: argparse.ArgumentParser) -> None:
    add_common(parser)
    parser.add_argument(
        "recipe", metavar="RECIPE", nargs="+", help="a file, a directory of files, a name, or - for stdin"
    )
    parser.add_argument("--sarif", action="store_true", help="print SARIF 2.1.0, for code scanning")
    parser.add_argument(
        "--all", action="store_true", help="also findings that are matters of taste or caution"
    )
    parser.add_argument("--strict", action="store_true", help="exit with 2 on warnings too")


def answer_check(options: argparse.Namespace) -> int:
    from amplihack.app.check import check  # deferred, as below: each command needs one of them

    workspace = workspace_of(options)
    references, others = recipe_references(workspace, options.recipe)
    for file in others:
        err(
            printable(
                f"{file}: passed over, as it has none of the fields name, steps, stages, extends", keep=""
            )
        )
    read = [validate(workspace, reference) for reference in references]
    answers = [check(workspace, each, everything=options.all) for each in read]
    found = [problem for answer in answers for problem in answer.findings]
    not_found = [problem for answer in answers for problem in answer.not_found]
    nothing = bool(not_found) and not any(each.opened or not _is_missing(each) for each in read)
    tell_failure(not_found, as_json=options.json and nothing)
    for each in read:
        if each.opened:
            show_dialect(each.opened.decoded, each.file)
    if options.sarif:
        from amplihack.recipes.check.sarif import to_sarif
        from amplihack.version import __version__

        out_json(to_sarif(found, __version__))
    elif options.json:
        if not nothing:  # else the document that tells it is all there is
            from amplihack.recipes.check.codes import UNREADABLE

            out_json([problem_json(problem) | {"code": problem.code or UNREADABLE} for problem in found])
    else:
        for text in draw_problems(found, sys.stdout):
            out(text)
        if found or not not_found:
            err(tally(found) or "✓ nothing found")
    if not_found:
        return NotFound.exit_code
    worst = {problem.severity for problem in found}
    return 2 if "error" in worst or (options.strict and "warning" in worst) else 0


def explain_flags(parser: argparse.ArgumentParser) -> None:
    add_common(parser)
    parser.add_argument("recipe", metavar="RECIPE", help=RECIPE)


def answer_explain(options: argparse.Namespace) -> int:
    from amplihack.recipes.explain import describe, explain
    from amplihack.recipes.secrets import redactor_for

    workspace = workspace_of(options)
    opened = open_recipe(workspace, options.recipe)
    recipe = opened.located.recipe
    show_dialect(opened.decoded, shown_reference(options.recipe))
    redactor = redactor_for(
        workspace.environment, recipe, {}
    )  # a secret may stand in a text of the plan as well
    if options.json:
        out_json(redactor.redact_value(describe(recipe)))
    else:
        out(printable(redactor.redact_text(explain(recipe))))
    return 0


def schema_flags(parser: argparse.ArgumentParser) -> None:
    add_common(parser)


def answer_schema(_options: argparse.Namespace) -> int:
    from amplihack.recipes.schema import json_schema

    out_json(json_schema())
    return 0
