"""The `recipe-runner` command: the same engine under the flags of other recipe runners."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from amplihack.cli.guard import guarded
from amplihack.version import __version__

if TYPE_CHECKING:
    from amplihack.app.workspace import Workspace
    from amplihack.cli.arguments import Parser


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    return guarded(lambda: run(words))


def run(words: list[str]) -> int:
    from amplihack.app.workspace import open_workspace
    from amplihack.errors import NothingToUse

    options = parser().parse_args(words)
    options.json = options.output_format == "json"
    workspace = open_workspace(options.recipe_dir, options.working_dir)
    if options.recipe is None:
        raise NothingToUse("Recipe path is required.", fix="recipe-runner path/to/recipe.yaml, or its name")
    if options.recipe == "list" or options.explain or options.validate_only:
        return _tell(workspace, options)
    from amplihack.cli.run import run_command  # deferred: only a run needs the engine

    return run_command(workspace, options)


def _tell(workspace: Workspace, options: argparse.Namespace) -> int:
    from amplihack.cli import recipe_answers as answers

    if options.recipe == "list":
        options.all = False
        return answers.list_recipes(workspace, options)
    if options.explain:
        return answers.explain(workspace, options)
    options.recipe = [options.recipe]
    return answers.validate(workspace, options)


def parser() -> Parser:
    from amplihack.cli.arguments import Parser as Root
    from amplihack.cli.recipe import add_places
    from amplihack.cli.run_flags import add_flags

    root = Root(
        prog="recipe-runner",
        usage="[options] [RECIPE | list]",
        description="Run a recipe. `recipe-runner list` shows what there is.",
    )
    root.add_argument("recipe", metavar="RECIPE", nargs="?", help="a file, the name of a recipe, or `list`")
    root.add_argument("-V", "--version", action="version", version=f"recipe-runner {__version__}")
    root.add_argument("--validate-only", action="store_true", help="read it, report what is wrong, and exit")
    root.add_argument("--explain", action="store_true", help="show the steps and exit")
    add_places(root)
    add_flags(root)
    return root


if __name__ == "__main__":
    sys.exit(main())
