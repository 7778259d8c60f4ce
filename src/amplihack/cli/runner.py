"""Run the `recipe-runner` command: the same engine with the flags of other recipe runners."""

from __future__ import annotations

import sys

from amplihack.cli.guard import guarded, leave
from amplihack.version import __version__

TYPE_CHECKING = False  # `typing` itself costs more than all the rest of `--version`
if TYPE_CHECKING:
    from collections.abc import Sequence

    from amplihack.cli.arguments import Parser

_VERSION = f"recipe-runner {__version__}"


def main(argv: Sequence[str] | None = None) -> int:
    """Answer a command and return its exit code; without `argv`, for a process that is ours alone, end it."""
    if argv is not None:
        return guarded(lambda: run(list(argv)), argv)
    return leave(guarded(lambda: run(sys.argv[1:], alone=True), sys.argv[1:]))


def run(words: list[str], *, alone: bool = False) -> int:
    """Answer what the flags ask for; `alone` means that the process does nothing else."""
    if words in (["-V"], ["--version"]):  # the usual way to ask for it, without the cost of a parser
        sys.stdout.write(f"{_VERSION}\n")
        return 0
    if alone:
        from amplihack.cli.quick_start import quick_start

        quick_start()
    options = parser().parse_args(words)
    options.json = options.output_format == "json"
    from amplihack.cli.show import choose_colours

    choose_colours(options.color)
    from amplihack.cli.main import heal_first

    heal_first()
    if options.recipe is None:
        from amplihack.errors import NothingToUse

        raise NothingToUse("Recipe path is required.", fix="recipe-runner path/to/recipe.yaml, or its name")
    if options.recipe == "list":
        from amplihack.cli.recipe_catalogue import answer_list

        options.all = False
        return answer_list(options)
    if options.explain:
        from amplihack.cli.recipe_reading import answer_explain

        return answer_explain(options)
    if options.validate_only:
        from amplihack.cli.recipe_reading import answer_validate

        options.recipe = [options.recipe]
        return answer_validate(options)
    from amplihack.cli.recipe_run import answer_run

    return answer_run(options)


def parser() -> Parser:
    from amplihack.cli.arguments import Parser, add_color, add_places
    from amplihack.cli.recipe_run import add_run_flags, show_inputs

    root = Parser(
        prog="recipe-runner",
        usage="[options] [RECIPE | list]",
        description="Run a recipe. `recipe-runner list` shows what there is.",
    )
    root.after_help = lambda options: None if options.recipe == "list" else show_inputs(options)
    root.add_argument("recipe", metavar="RECIPE", nargs="?", help="a file, the name of a recipe, or `list`")
    root.add_argument("-V", "--version", action="version", version=_VERSION)
    root.add_argument("--validate-only", action="store_true", help="read it, report what is wrong, and exit")
    root.add_argument("--explain", action="store_true", help="show the steps and exit")
    add_color(root)
    add_places(root)
    add_run_flags(root)
    return root


if __name__ == "__main__":
    sys.exit(main())
