"""`amplihack recipe …`: each verb is one call and its answer, in words or as JSON."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeAlias

from amplihack.app.workspace import Workspace, open_workspace
from amplihack.cli import recipe_answers as answers
from amplihack.cli.arguments import Parser, require_known
from amplihack.cli.run_flags import add_flags

PROGRAM = "amplihack recipe"
Command: TypeAlias = Callable[[Workspace, argparse.Namespace], int]
Verbs: TypeAlias = "argparse._SubParsersAction[Parser]"


def run(words: list[str]) -> int:
    """Runs `amplihack recipe` with these words."""
    verb = next(iter(words), "-")
    if not verb.startswith("-"):
        require_known(verb, VERBS, PROGRAM)
    options = parser(only=verb).parse_args(words)
    command: Command = options.command
    return command(open_workspace(options.recipe_dir, options.working_dir), options)


def parser(only: str = "") -> Parser:
    """The parser of every verb, or of one alone: describing the flags of all would cost every answer."""
    root, verbs = _root()
    for name, add in VERBS.items():
        if name == only or only not in VERBS:
            add(verbs)
    return root


def verb_parser(name: str) -> Parser:
    """The parser of what follows the verb."""
    _, verbs = _root()
    VERBS[name](verbs)
    return verbs.choices[name]


def _root() -> tuple[Parser, Verbs]:
    root = Parser(prog=PROGRAM, usage="<verb> …", description="Run, check, explain and list recipes.")
    return root, root.add_subparsers(metavar="<verb>", required=True)


def _verb(
    verbs: Verbs, name: str, command: Command, summary: str, arguments: str = ""
) -> argparse.ArgumentParser:
    verb = verbs.add_parser(
        name,
        prog=f"{PROGRAM} {name}",
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        usage=f"{arguments} [options]".strip(),
    )
    verb.set_defaults(command=command)
    verb.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    add_places(verb)
    return verb


def add_places(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-R",
        "--recipe-dir",
        action="append",
        default=[],
        metavar="DIR",
        help="search this directory first (repeatable)",
    )
    parser.add_argument("-C", "--working-dir", metavar="DIR", help="the directory to work in (default: here)")


def _run(verbs: Verbs) -> None:
    verb = _verb(verbs, "run", _run_recipe, "run a recipe", "RECIPE")
    verb.add_argument("recipe", metavar="RECIPE", help="a file, or the name of a recipe")
    add_flags(verb)


def _run_recipe(workspace: Workspace, options: argparse.Namespace) -> int:
    from amplihack.cli.run import run_command  # deferred: only a run needs the engine

    return run_command(workspace, options)


def _list(verbs: Verbs) -> None:
    verb = _verb(verbs, "list", answers.list_recipes, "show the recipes that can be run by name")
    verb.add_argument("--all", action="store_true", help="also those that another recipe shadows")


def _validate(verbs: Verbs) -> None:
    verb = _verb(
        verbs, "validate", answers.validate, "read recipes and report everything that is wrong", "RECIPE …"
    )
    verb.add_argument("recipe", metavar="RECIPE", nargs="+", help="a file, or the name of a recipe")
    verb.add_argument("--strict", action="store_true", help="warnings are errors")


def _check(verbs: Verbs) -> None:
    verb = _verb(
        verbs, "check", answers.check, "follow the data through recipes without running anything", "RECIPE …"
    )
    verb.add_argument(
        "recipe", metavar="RECIPE", nargs="+", help="a file, a directory of files, or the name of a recipe"
    )
    verb.add_argument("--sarif", action="store_true", help="print SARIF 2.1.0, for code scanning")
    verb.add_argument("--all", action="store_true", help="also findings that are matters of taste or caution")
    verb.add_argument("--strict", action="store_true", help="exit with 2 on warnings too")


def _explain(verbs: Verbs) -> None:
    verb = _verb(verbs, "explain", answers.explain, "show what a recipe would do, step by step", "RECIPE")
    verb.add_argument("recipe", metavar="RECIPE", help="a file, or the name of a recipe")


def _schema(verbs: Verbs) -> None:
    _verb(verbs, "schema", answers.schema, "print the JSON Schema of recipe files, for editors")


def _manifest(verbs: Verbs) -> None:
    verb = _verb(
        verbs, "manifest", answers.manifest, "compare a directory's recipes with its manifest", "[DIRECTORY]"
    )
    verb.add_argument(
        "directory", metavar="DIRECTORY", nargs="?", help="the directory (default: the first of the search)"
    )
    verb.add_argument("--update", action="store_true", help="write the manifest anew")


def _sync(verbs: Verbs) -> None:
    verb = _verb(verbs, "sync", answers.sync, "compare this project's recipes with those upstream")
    verb.add_argument(
        "--url", help="the repository (default: RECIPE_RUNNER_UPSTREAM_URL, else the public one)"
    )
    verb.add_argument("--branch", default="main", help="the branch (default: main)")
    verb.add_argument("--remote", default="amplifier-recipes", help="the remote is called upstream-<this>")


VERBS: dict[str, Callable[[Verbs], None]] = {
    "run": _run,
    "list": _list,
    "validate": _validate,
    "check": _check,
    "explain": _explain,
    "schema": _schema,
    "manifest": _manifest,
    "sync": _sync,
}
