"""`amplihack recipe run`: its flags, and what is told of the result. `recipe-runner` uses both."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from amplihack.cli.arguments import RECIPE, Parser, add_common, given, positive
from amplihack.cli.guard import INTERRUPTED, keep_results_apart
from amplihack.cli.interrupts import telling_the_result
from amplihack.cli.opened import workspace_of
from amplihack.cli.recipe_results import show_dry_run, show_forecast, show_own_result
from amplihack.cli.show import (
    err,
    flush_out,
    out,
    out_json,
    printable,
    show_dialect,
    show_problems,
)
from amplihack.errors import Problem, UsageError
from amplihack.records import as_dict, replace
from amplihack.system.agent_tools.table import choices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amplihack.app.run_request import RunRequest
    from amplihack.app.variables import Given
    from amplihack.app.workspace import Opened, Workspace
    from amplihack.recipes.engine.dry_run import Forecast
    from amplihack.recipes.model import Recipe
    from amplihack.recipes.results import RunResult, StepResult
    from amplihack.system.run_store.new_runs import NewRuns


# Flags ----------------------------------------------------------------------------------------------------


def show_inputs(options: argparse.Namespace) -> None:
    """Print what a recipe takes, if the words beside `--help` name one."""
    if not options.recipe:
        return
    from amplihack.app.workspace import open_recipe, open_workspace  # deferred, as below
    from amplihack.recipes.inputs import list_inputs

    workspace = open_workspace(options.recipe_dir, options.working_dir, options.env_file)
    recipe = open_recipe(workspace, options.recipe).located.recipe
    lines = list(list_inputs(recipe)) or ["  it takes none"]
    out(printable("\n".join(["", f"inputs of {recipe.name}, given by --set NAME=VALUE:", *lines])))


def run_flags(parser: Parser) -> None:
    parser.after_help = show_inputs
    add_common(parser)
    parser.add_argument("recipe", metavar="RECIPE", help=RECIPE)
    add_run_flags(parser)


def add_run_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that `amplihack recipe run` and `recipe-runner` share."""
    add_variable_flags(parser)
    _what_runs(parser.add_argument_group("what runs"))
    _how_it_runs(parser.add_argument_group("how it runs"))
    add_telling_flags(parser)


def add_variable_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("variables")

    def add(*names: str, what: str, metavar: str = "KEY=VALUE") -> None:
        # The last name is the one that messages use.
        dest = names[-1].removeprefix("--").replace("-", "_")
        group.add_argument(*names, dest=dest, action="append", default=[], metavar=metavar, help=what)

    typed = "set a variable, or several by a JSON map; values are typed where nothing is lost"
    add("-c", "--context", "--set", what=typed)
    add("--set-str", what="set a variable to this text, whatever it looks like")
    add("--set-json", metavar="KEY=JSON", what="set a variable to a JSON value")
    add("--set-file", metavar="KEY=PATH", what="set a variable to the text of a file; - is stdin")
    add("--context-file", metavar="PATH", what="take variables from a YAML or JSON file")
    add("--env-file", metavar="PATH", what="add the NAME=value lines of a file to the environment")


def _what_runs(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--dry-run",
        nargs="?",
        const="plain",
        choices=("plain", "deep"),
        help="run nothing, show the commands and prompts; `deep` follows sub-recipes as well",
    )
    for name in ("--include-tags", "--exclude-tags"):
        what = "run only steps with" if name.startswith("--in") else "skip steps with"
        group.add_argument(name, action="append", default=[], metavar="TAGS", help=f"{what} these tags (a,b)")


def _how_it_runs(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--agent",
        "--agent-binary",
        type=given,
        metavar="AGENT",
        help=f"{choices()} (default: the one of the settings, or the first that is installed)",
    )
    group.add_argument("--isolate-agents", action="store_true", help="agents work in an empty directory")
    group.add_argument("--no-auto-stage", action="store_true", help="do not `git add` what agents change")
    group.add_argument(
        "--max-parallel", type=positive, default=50, metavar="N", help="steps at once (default: 50)"
    )
    group.add_argument(
        "--max-agents", type=positive, default=8, metavar="N", help="agents at once (default: 8)"
    )
    group.add_argument(
        "--step-timeout",
        type=_seconds,
        metavar="S",
        help="how long a step that sets no timeout may run: 90 or 5m (default: no limit)",
    )
    group.add_argument("--ephemeral", action="store_true", help="keep nothing: the run cannot be resumed")
    group.add_argument("--detach", action="store_true", help="print the id and go on in the background")
    group.add_argument("--yes", action="store_true", help="approve every gate without asking")
    group.add_argument("--strict", action="store_true", help="warnings about the recipe are errors")
    group.add_argument("--strict-vars", action="store_true", help="undefined variables are errors")
    group.add_argument("--strict-agents", action="store_true", help="agents that are not found are errors")


def add_telling_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is told")
    names, formats = ("--format", "--output-format"), ("text", "json")
    group.add_argument(
        *names,
        dest="output_format",
        choices=formats,
        default="text",
        help=f"{' or '.join(formats)} (default: text)",
    )
    group.add_argument("--progress", action="store_true", help="show progress even with --quiet")
    group.add_argument("-v", "--verbose", action="store_true", help="show every line that steps print")
    group.add_argument("-q", "--quiet", action="store_true", help="print the recipe's own result, no more")
    group.add_argument("--show-output", action="store_true", help="print each step's output at the end")
    what = "write an audit log (JSON lines) there"
    group.add_argument("--audit-dir", type=given, metavar="DIR", help=what)
    what = "write every event as a JSON line; - is stderr"
    group.add_argument("--events", type=given, metavar="FILE", help=what)


def _seconds(text: str) -> float:
    from amplihack.documents.durations import fix_for, seconds_in  # deferred, as below

    seconds = seconds_in(text)
    if seconds is None:
        raise UsageError(f"--step-timeout cannot be '{text}'", fix=fix_for(text))
    return seconds


# The answer -----------------------------------------------------------------------------------------------


def answer_run(options: argparse.Namespace) -> int:
    """Run a recipe and tell what came of it."""
    # Deferred: a help page and a mistyped flag need neither the library nor the engine.
    from amplihack.app.run import forecast, run_until_interrupted
    from amplihack.app.variables import overrides, refuse_unknown
    from amplihack.app.workspace import open_recipe, shown_reference

    workspace = workspace_of(options)
    opened = open_recipe(workspace, options.recipe)
    if not options.strict:  # otherwise they are errors, and told as such
        show_problems(opened.decoded.warnings)
    show_dialect(opened.decoded, shown_reference(options.recipe))
    recipe = opened.located.recipe
    _tell_unanswerable(opened, options)
    given, request = given_by(options), _request(options, workspace)
    values = overrides(given, workspace.home, recipe.context, stdin_is_read=bool(workspace.piped))
    refuse_unknown(workspace, opened, given, request.include_tags | request.exclude_tags)
    if options.dry_run == "deep":
        steps = forecast(workspace, opened, values, request)
        out_json([as_dict(step) for step in steps]) if as_json(options) else show_forecast(steps)
        return 0

    def show_header() -> None:
        if not as_json(options) and not _alone(options):
            out(f"Recipe: {recipe.name} (v{recipe.version})\nSteps: {len(recipe.steps)}")
            flush_out()

    def work(on_kept: Callable[[str], None]) -> int:
        told = replace(request, on_kept=on_kept, on_begin=show_header)
        result = run_until_interrupted(workspace, opened, values, told)
        steps = forecast(workspace, opened, values, request) if options.dry_run else None
        return tell_result(result, recipe, options, steps, kept=request.store is not None)

    if not options.detach:
        keep_results_apart()
        return work(told_id(options))
    if request.store is None:
        raise UsageError("--detach needs a run that is kept", fix="leave out --ephemeral and --dry-run")
    from amplihack.cli.detaching import detached

    return detached(work, request.store, as_json=as_json(options))


def told_id(options: argparse.Namespace) -> Callable[[str], None]:
    """Return what says the id of a run when it begins, so that it can be named if no more is heard of it."""
    return (lambda _run_id: None) if options.quiet else lambda run_id: err(f"run {run_id}")


def tell_result(
    result: RunResult,
    recipe: Recipe,
    options: argparse.Namespace,
    steps: tuple[Forecast, ...] | None = None,
    *,
    kept: bool,
    more: Mapping[str, str] | None = None,
) -> int:
    """Print the result of a run, and how to go on with one that is kept. Return the exit code.

    `steps` are those of a dry run; `more` is for programs.
    """
    with telling_the_result():
        _tell(result, recipe, steps, options, more or {})
        if kept and result.ending in ("failed", "interrupted"):
            flush_out()
            err(f"`amplihack runs resume {result.run_id}` goes on from here")
    if result.ending == "interrupted":
        return INTERRUPTED
    return 0 if result.success else 1


def as_json(options: argparse.Namespace) -> bool:
    """Tell whether the result is for a program."""
    return bool(options.json) or options.output_format == "json"


def _alone(options: argparse.Namespace) -> bool:
    """Tell whether the recipe's own result is wanted and nothing else; `--show-output` asks for more."""
    return bool(options.quiet) and not options.show_output


def _tell(
    result: RunResult,
    recipe: Recipe,
    steps: tuple[Forecast, ...] | None,
    options: argparse.Namespace,
    more: Mapping[str, str],
) -> None:
    own = tuple(step for step in steps or () if step.recipes == 0)  # those of sub-recipes are for `deep`
    if as_json(options):
        told = {} if steps is None else {"forecast": [as_dict(step) for step in own]}
        out_json({**result.to_json(), **told, **more})
    elif steps is not None and result.success:
        show_dry_run(result, own)
    elif _alone(options):
        unheard = () if options.progress else result.warnings
        show_own_result(result, recipe, unheard)
    else:
        _show_result(result, options)


def _tell_unanswerable(opened: Opened, options: argparse.Namespace) -> None:
    """Say before anything runs that a recipe from stdin leaves no stdin to answer its gates on."""
    gates = any(stage.approval for stage in opened.located.recipe.stages)
    if opened.located.path is None and gates and not (options.yes or options.dry_run or sys.stdin.isatty()):
        what = "the recipe comes from stdin, so nobody can answer its gates there: the run will stop at one"
        then = (
            "save the recipe in a file" if options.ephemeral else "`amplihack runs approve` answers it then"
        )
        fix = f"{then}; or approve every gate with --yes"
        show_problems((Problem(what, fix=fix, severity="warning"),))


def given_by(options: argparse.Namespace) -> Given:
    from amplihack.app.variables import Given  # deferred, as above

    return Given(
        context_files=tuple(options.context_file),
        values=tuple(options.set),
        texts=tuple(options.set_str),
        documents=tuple(options.set_json),
        files=tuple(options.set_file),
        env_files=tuple(options.env_file),
    )


def _store(options: argparse.Namespace, workspace: Workspace) -> NewRuns | None:
    """Return where runs are kept; none for a run that writes nothing."""
    if options.ephemeral or options.dry_run is not None:
        return None
    from amplihack.system.run_store.new_runs import NewRuns  # deferred: `sqlite3` is slow to load

    return NewRuns(workspace.home.root)


def _request(options: argparse.Namespace, workspace: Workspace) -> RunRequest:
    from amplihack.app.run_request import RunRequest  # deferred, as above

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
        progress=options.progress or not (options.quiet or options.dry_run),
        color=options.color,
        verbose=options.verbose,
        store=_store(options, workspace),
        standalone=True,
    )


def _tags(words: list[str]) -> frozenset[str]:
    return frozenset(tag.strip() for word in words for tag in word.split(",") if tag.strip())


def _with_output(step: StepResult) -> Iterator[StepResult]:
    """Yield the steps that have an output of their own: of a loop those of each round, not the last alone."""
    is_round = step.step_id.endswith("]") and step.kind != "recipe"
    rounds = [each for each in step.children if is_round or each.step_id.startswith(f"{step.step_id}[")]
    for each in rounds:
        yield from _with_output(each)
    if not rounds:
        yield step


def _show_result(result: RunResult, options: argparse.Namespace) -> None:
    out()
    out(printable(result.to_text()))
    if options.show_output:
        for step in result.step_results:
            for each in _with_output(step):
                out(f"--- {each.identity}\n{each.output}")
    if result.summary:
        out(result.summary)
