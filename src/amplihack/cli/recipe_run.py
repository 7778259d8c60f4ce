"""`amplihack recipe run`: its flags, and what is told of the result. `recipe-runner` uses both."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING

from amplihack.cli.arguments import Parser, add_common
from amplihack.cli.guard import INTERRUPTED
from amplihack.cli.interrupts import telling_the_result
from amplihack.cli.show import flush_out, out, out_json, printable, show_dialect, show_problems
from amplihack.errors import UsageError
from amplihack.records import as_dict
from amplihack.system.agent_tools.table import choices

if TYPE_CHECKING:
    from amplihack.app.run_request import RunRequest
    from amplihack.app.variables import Given
    from amplihack.recipes.engine.dry_run import Forecast
    from amplihack.recipes.results import RunResult


# Flags ----------------------------------------------------------------------------------------------------


def show_inputs(options: argparse.Namespace) -> None:
    """Print what a recipe takes, if the words before `--help` name one."""
    if not options.recipe:
        return
    from amplihack.app.workspace import open_recipe, open_workspace  # deferred, as below
    from amplihack.recipes.inputs import list_inputs

    workspace = open_workspace(options.recipe_dir, options.working_dir)
    recipe = open_recipe(workspace, options.recipe).located.recipe
    lines = list(list_inputs(recipe)) or ["  it takes none"]
    out(printable("\n".join(["", f"inputs of {recipe.name}, given by --set NAME=VALUE:", *lines])))


def run_flags(parser: Parser) -> None:
    parser.after_help = show_inputs
    add_common(parser)
    parser.add_argument("recipe", metavar="RECIPE", help="a file, or the name of a recipe")
    add_run_flags(parser)


def add_run_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that `amplihack recipe run` and `recipe-runner` share."""
    _variables(parser.add_argument_group("variables"))
    _what_runs(parser.add_argument_group("what runs"))
    _how_it_runs(parser.add_argument_group("how it runs"))
    _what_is_told(parser.add_argument_group("what is told"))


def _variables(group: argparse._ArgumentGroup) -> None:
    def add(*names: str, what: str, metavar: str = "KEY=VALUE") -> None:
        group.add_argument(*names, action="append", default=[], metavar=metavar, help=what)

    add("-c", "--set", what="set a variable; JSON, numbers and booleans are typed where nothing is lost")
    add("--set-str", what="set a variable to this text, whatever it looks like")
    add("--set-json", metavar="KEY=JSON", what="set a variable to a JSON value")
    add("--set-file", metavar="KEY=PATH", what="set a variable to the text of a file")
    add("--context-file", metavar="PATH", what="take variables from a YAML or JSON file")


def _what_runs(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--dry-run",
        nargs="?",
        const="plain",
        choices=("plain", "deep"),
        help="run nothing; `deep` follows sub-recipes and says what would run",
    )
    for name in ("--include-tags", "--exclude-tags"):
        what = "run only steps with" if name.startswith("--in") else "skip steps with"
        group.add_argument(name, action="append", default=[], metavar="TAGS", help=f"{what} these tags (a,b)")


def _how_it_runs(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--agent", "--agent-binary", metavar="AGENT", help=choices())
    group.add_argument("--isolate-agents", action="store_true", help="agents work in an empty directory")
    group.add_argument("--no-auto-stage", action="store_true", help="do not `git add` what agents change")
    group.add_argument("--max-parallel", type=_positive, default=50, metavar="N", help="steps at once (50)")
    group.add_argument("--max-agents", type=_positive, default=8, metavar="N", help="agents at once (8)")
    group.add_argument("--step-timeout", type=float, metavar="S", help="seconds for a step that sets none")
    group.add_argument("--yes", action="store_true", help="approve every gate without asking")
    group.add_argument("--strict", action="store_true", help="unknown fields are errors")
    group.add_argument("--strict-vars", action="store_true", help="undefined variables are errors")
    group.add_argument("--strict-agents", action="store_true", help="agents that are not found are errors")


def _what_is_told(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--output-format", choices=("text", "json"), default="text", help="text or json")
    group.add_argument("--progress", action="store_true", help="show progress even with --quiet")
    group.add_argument("-v", "--verbose", action="store_true", help="show every line that steps print")
    group.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    group.add_argument("--show-output", action="store_true", help="print each step's output at the end")
    group.add_argument("--audit-dir", metavar="DIR", help="write an audit log (JSON lines) there")
    group.add_argument("--events", metavar="FILE", help="write every event as a JSON line; - is stderr")


def _positive(text: str) -> int:
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError("expected a whole number, 1 or more")


# The answer -----------------------------------------------------------------------------------------------


def answer_run(options: argparse.Namespace) -> int:
    """Run a recipe and tell what came of it."""
    # Deferred: a help page and a mistyped flag need neither the library nor the engine.
    from amplihack.app.run import forecast, run_until_interrupted
    from amplihack.app.variables import overrides, refuse_unknown
    from amplihack.app.workspace import open_recipe, open_workspace

    workspace = open_workspace(options.recipe_dir, options.working_dir)
    opened = open_recipe(workspace, options.recipe)
    show_problems(opened.decoded.warnings)
    show_dialect(opened.decoded, options.recipe)
    recipe = opened.located.recipe
    given, request = _given(options), _request(options)
    values = overrides(given, workspace.home, recipe.context)
    refuse_unknown(workspace, opened, given, request.include_tags | request.exclude_tags)
    as_json = options.json or options.output_format == "json"
    if options.dry_run == "deep":
        _show_forecast(forecast(workspace, opened, values, request), options, as_json=as_json)
        return 0
    if not as_json:
        out(f"Recipe: {recipe.name} (v{recipe.version})\nSteps: {len(recipe.steps)}")
        flush_out()
    result = run_until_interrupted(workspace, opened, values, request)
    with telling_the_result():
        out_json(result.to_json()) if as_json else _show_result(result, options)
    if result.ending == "interrupted":
        return INTERRUPTED
    return 0 if result.success else 1


def _given(options: argparse.Namespace) -> Given:
    from amplihack.app.variables import Given  # deferred, as above

    return Given(
        context_files=tuple(options.context_file),
        values=tuple(options.set),
        texts=tuple(options.set_str),
        documents=tuple(options.set_json),
        files=tuple(options.set_file),
    )


def _request(options: argparse.Namespace) -> RunRequest:
    from amplihack.app.run_request import RunRequest  # deferred, as above

    if options.step_timeout is not None and not 0 <= options.step_timeout < math.inf:
        raise UsageError(f"--step-timeout cannot be {options.step_timeout:g}", fix="give seconds, 0 or more")
    return RunRequest(
        agent=options.agent,
        include_tags=_tags(options.include_tags),
        exclude_tags=_tags(options.exclude_tags),
        dry_run=options.dry_run is not None,
        strict=options.strict,
        strict_vars=options.strict_vars,
        strict_agents=options.strict_agents,
        auto_stage=not options.no_auto_stage,
        isolate_agents=options.isolate_agents,
        max_parallel=options.max_parallel,
        max_agents=options.max_agents,
        step_timeout=options.step_timeout or None,
        approve_all=options.yes,
        audit_dir=options.audit_dir,
        events=options.events,
        progress=options.progress or not options.quiet,
        verbose=options.verbose,
        standalone=True,
    )


def _tags(words: list[str]) -> frozenset[str]:
    return frozenset(tag.strip() for word in words for tag in word.split(",") if tag.strip())


def _show_result(result: RunResult, options: argparse.Namespace) -> None:
    out()
    out(result.to_text())
    if options.show_output:
        for step in result.step_results:
            out(f"--- {step.step_id}\n{step.output}")
    if result.summary:
        out(result.summary)


def _show_forecast(steps: tuple[Forecast, ...], options: argparse.Namespace, *, as_json: bool) -> None:
    if as_json:
        out_json([as_dict(step) for step in steps])
        return
    for step in steps:
        why = f": {step.why}" if step.why else ""
        out(f"{'  ' * step.depth}[{step.kind:<6}] {step.step_id} — {step.verdict}{why}")
        for line in step.text.splitlines() if options.verbose else ():
            out(f"{'  ' * step.depth}    {line}")
