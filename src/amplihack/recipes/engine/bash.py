"""A shell step: rendered so that no value can become code, run, and its ending told as it was."""

from __future__ import annotations

from amplihack.errors import TemplateError
from amplihack.recipes.engine.directories import working_dir
from amplihack.recipes.engine.state import Done, Frame, Run, StepFailure, missing_names
from amplihack.recipes.events import LinePrinted
from amplihack.recipes.model import Bash, Step
from amplihack.recipes.ports import ShellOutcome, ShellRequest
from amplihack.recipes.templates import ShellScript, render_shell, render_value
from amplihack.recipes.values import Value, tail, to_text

_ERROR_TAIL = 4_000
_NOT_EXECUTABLE = (126, 127)


async def run_bash(
    run: Run, step: Step, action: Bash, frame: Frame, identity: str, limit: float | None
) -> Done:
    script = _render(run, action, frame, identity)
    env, missing = render_value(dict(action.env), frame.view())
    missing_names(run, identity, missing, "env")
    outcome = await run.world.shell.run(
        ShellRequest(
            script=script,
            scope=frame.scope.values,
            working_dir=working_dir(run, step, frame, identity),
            env={name: to_text(value) for name, value in env.items()} if isinstance(env, dict) else {},
            timeout=limit,
            idle_timeout=step.idle_timeout,
            max_env_value_bytes=action.max_env_value_bytes,
        ),
        lambda stream, line: run.record(LinePrinted(identity, stream, line)),
    )
    for warning in outcome.warnings:
        run.warn(identity, warning)
    if outcome.stdout_truncated:
        run.warn(identity, "the output was larger than a step can keep and was cut")
    return _judge(action, outcome)


def _render(run: Run, action: Bash, frame: Frame, identity: str) -> ShellScript:
    try:
        script = render_shell(action.command.text, frame.view(), token=run.world.clock.token)
    except TemplateError as error:
        where = action.command.line(error.line)
        raise StepFailure(f"{where}: {error.what}{f' (fix: {error.fix})' if error.fix else ''}") from error
    missing_names(run, identity, script.missing, "command")
    return script


def _judge(action: Bash, outcome: ShellOutcome) -> Done:
    """What the ending means: done, or failed with the reason and the last words of the command."""
    text = outcome.stdout.strip()
    writes: dict[str, Value] = {}
    if action.exit_code_to:
        writes[action.exit_code_to] = outcome.exit_code
    if action.stderr_to:
        writes[action.stderr_to] = outcome.stderr.strip()
    ended = outcome.exit_code is not None and not outcome.timed_out
    if ended and (outcome.exit_code == 0 or action.any_exit):
        return Done(text=text, stderr=outcome.stderr, exit_code=outcome.exit_code, writes=writes)
    failure = StepFailure(
        f"bash step failed: {_reason(outcome)}",
        output=text,
        stderr=outcome.stderr,
        exit_code=outcome.exit_code,
        transient=bool(outcome.timed_out),
        hopeless=outcome.exit_code in _NOT_EXECUTABLE,
    )
    failure.writes = writes
    raise failure


def _reason(outcome: ShellOutcome) -> str:
    if outcome.timed_out:
        return outcome.timed_out
    how = f"exit {outcome.exit_code}" if outcome.signal is None else f"signal {outcome.signal}"
    said = tail(outcome.stderr.strip(), _ERROR_TAIL)
    if not said:
        said = tail(outcome.stdout.strip(), 500)
        said = f"(stdout) {said}" if said else ""
    return f"Command failed ({how}): {said}".rstrip(": ")
