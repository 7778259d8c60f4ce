"""Run the shell commands around every step. Their failures never end a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from amplihack.errors import AmplihackError
from amplihack.recipes.engine.bash import lacking_variables
from amplihack.recipes.engine.frame import Frame
from amplihack.recipes.engine.job import Run, undefined
from amplihack.recipes.events import LinesPrinted
from amplihack.recipes.model import Text
from amplihack.recipes.ports import ShellOutcome, ShellRequest
from amplihack.recipes.results import StepResult
from amplihack.recipes.templates import render_shell
from amplihack.recipes.values import tail

HOOK_TIMEOUT = 30.0
HookName: TypeAlias = Literal["pre_step", "post_step", "on_error"]


async def run_hook(run: Run, name: HookName, frame: Frame, result: StepResult) -> None:
    """Run the recipe's hook of that name, if it has one. A failure becomes a warning."""
    hook: Text | None = getattr(frame.recipe.hooks, name)
    if hook is None or not hook.text.strip():
        return
    status = "running" if name == "pre_step" else result.status
    facts = {
        "step_id": result.step_id,
        "step_type": result.kind,
        "step_status": status,
        "step_error": result.error.replace("\0", "\N{REPLACEMENT CHARACTER}"),  # no variable can hold NUL
        "recipe_name": frame.recipe.name,
    }
    try:
        script = render_shell(hook.text, frame.view(**facts), token=run.world.clock.token)
        missing = (*script.missing, *lacking_variables(run, hook.text, script, frame.scope.values, {}))
        if missing:  # once, however many steps it runs around
            run.warn("", f"{undefined(missing, f'hook {name}')}; it renders empty")
        for warning in script.warnings:
            run.warn("", f"hook {name}: {warning}")
        outcome = await run.world.shell.run(
            ShellRequest(
                script=script,
                scope=frame.scope.values,
                working_dir=run.options.working_dir,
                env={
                    **{fact.upper(): text for fact, text in facts.items()},
                    "STEP_DURATION_MS": str(round((result.duration or 0) * 1000)),
                },
                timeout=HOOK_TIMEOUT,
                strict=bool(frame.recipe.strict_shell),
                step=result.identity,
            ),
            lambda _stream, lines: _heard(run, name, result.identity, lines),
        )
    except AmplihackError as error:
        run.warn(result.identity, f"hook {name} could not run: {error.what}")
        return
    if outcome.timed_out or outcome.exit_code != 0:
        run.warn(result.identity, f"hook {name} {_failure(outcome)}")


def _failure(outcome: ShellOutcome) -> str:
    if outcome.timed_out:
        return outcome.timed_out
    how = f"exit {outcome.exit_code}" if outcome.signal is None else f"signal {outcome.signal}"
    detail = tail(outcome.stderr.strip() or outcome.stdout.strip(), 500)
    return f"failed ({how}): {detail}" if detail else f"failed ({how})"


def _heard(run: Run, name: HookName, identity: str, lines: Iterable[str]) -> None:
    """Tell what a hook prints among the output of its step, under the name of the hook."""
    run.world.journal.record(LinesPrinted(identity, name, tuple(lines)))
