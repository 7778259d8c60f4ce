"""Running a recipe from the command line: flags, progress, Ctrl-C, and the result."""

from __future__ import annotations

import argparse
import asyncio
import math
from typing import TYPE_CHECKING

from amplihack.app.request import RunRequest
from amplihack.app.run import new_run_id
from amplihack.app.run import run as run_opened
from amplihack.app.settings import Given, overrides
from amplihack.app.watch import Wanted, watch
from amplihack.app.workspace import Opened, Workspace, open_recipe
from amplihack.cli.guard import INTERRUPTED
from amplihack.cli.interrupts import end_on_signals, telling_the_result
from amplihack.cli.show import flush_out, out, out_json, show_problems
from amplihack.errors import UsageError

if TYPE_CHECKING:
    from amplihack.recipes.results import RunResult


def run_command(workspace: Workspace, options: argparse.Namespace) -> int:
    """Runs a recipe and tells what came of it."""
    opened = open_recipe(workspace, options.recipe)
    show_problems(opened.decoded.warnings)
    request = _request(workspace, opened, options)
    if options.dry_run == "deep":
        return _forecast(workspace, opened, request, options)
    as_json = options.json or options.output_format == "json"
    if not as_json:
        recipe = opened.located.recipe
        out(f"Recipe: {recipe.name} (v{recipe.version})\nSteps: {len(recipe.steps)}")
        flush_out()
    result, interrupted = asyncio.run(_run(workspace, opened, request, options))
    with telling_the_result():
        if as_json:
            out_json(result.to_json())
        else:
            _show(result, options)
    if interrupted:
        return INTERRUPTED
    return 0 if result.success else 1


def _request(workspace: Workspace, opened: Opened, options: argparse.Namespace) -> RunRequest:
    if options.step_timeout is not None and not 0 <= options.step_timeout < math.inf:
        raise UsageError(f"--step-timeout cannot be {options.step_timeout:g}", fix="give seconds, 0 or more")
    given = Given(
        context_files=tuple(options.context_file),
        values=tuple(options.set),
        texts=tuple(options.set_str),
        documents=tuple(options.set_json),
        files=tuple(options.set_file),
    )
    return RunRequest(
        overrides=overrides(given, workspace.home, opened.located.recipe.context),
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
    )


def _tags(words: list[str]) -> frozenset[str]:
    return frozenset(tag.strip() for word in words for tag in word.split(",") if tag.strip())


async def _run(
    workspace: Workspace, opened: Opened, request: RunRequest, options: argparse.Namespace
) -> tuple[RunResult, bool]:
    """The result, and whether somebody interrupted the run."""
    run_id = new_run_id()
    wanted = Wanted(
        progress=options.progress or not options.quiet,
        verbose=options.verbose,
        audit_dir=options.audit_dir,
        events=options.events,
    )
    async with watch(workspace, opened, request, wanted) as watching:
        task = asyncio.create_task(
            run_opened(
                workspace,
                opened,
                request,
                watching.journal,
                run_id=run_id,
                approver=watching.approver,
                on_recipe=watching.redactor.know,
            )
        )
        end_on_signals(task)
        try:
            await task
        except asyncio.CancelledError:
            if not watching.ended:
                raise KeyboardInterrupt from None
            return watching.result(), True
    return watching.result(), False


def _show(result: RunResult, options: argparse.Namespace) -> None:
    out()
    out(result.to_text())
    if options.show_output:
        for step in result.step_results:
            out(f"--- {step.step_id}\n{step.output}")
    if result.summary:
        out(result.summary)


def _forecast(workspace: Workspace, opened: Opened, request: RunRequest, options: argparse.Namespace) -> int:
    from dataclasses import asdict

    from amplihack.app.run import forecast

    steps = forecast(workspace, opened, request)
    if options.json or options.output_format == "json":
        out_json([asdict(step) for step in steps])
        return 0
    for step in steps:
        why = f": {step.why}" if step.why else ""
        out(f"{'  ' * step.depth}[{step.kind:<6}] {step.step_id} — {step.verdict}{why}")
        for line in step.text.splitlines() if options.verbose else ():
            out(f"{'  ' * step.depth}    {line}")
    return 0
