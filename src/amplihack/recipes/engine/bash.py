"""Run a shell step. Values are passed as variables, so that no value can become code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amplihack.errors import TemplateError
from amplihack.recipes.engine.directories import working_dir
from amplihack.recipes.engine.job import Done, Job, Run, StepFailure, cut_off, no_text
from amplihack.recipes.model import Bash
from amplihack.recipes.placeholders import find_variables, line_of, show
from amplihack.recipes.ports import ShellOutcome, ShellRequest
from amplihack.recipes.templates import ShellScript, check_env, render_shell, render_value
from amplihack.recipes.templates.names import PREFIX
from amplihack.recipes.templates.shell import why_stopped
from amplihack.recipes.values import KeyPath, Value, lookup, tail, to_text

_ERROR_TAIL = 4_000
_NOT_EXECUTABLE = (126, 127)
_CHECK_FIRST = (
    "check the text first, or keep only its digits, as in n=${n//[!0-9]/}; 16#$n takes hexadecimal digits"
)
_TOO_LONG = (
    "one argument of a program holds 128 KiB at most: hand a long value over as input, as in "
    'program <<< "{{name}}"'
)


async def run_bash(job: Job, action: Bash, limit: float | None) -> Done:
    """Run the command and return its output. Raises StepFailure."""
    script = _render(job, action)
    outcome = await job.run.world.shell.run(
        ShellRequest(
            script=script,
            scope=job.frame.scope.values,
            working_dir=working_dir(job),
            env=_environment(job, action),
            timeout=limit,
            idle_timeout=job.step.idle_timeout,
            max_env_value_bytes=action.max_env_value_bytes,
            strict=action.strict,
            step=job.identity,
            alone=not job.frame.beside,
            lines_at_once=job.run.world.journal.hears_lines(),
        ),
        job.heard,
    )
    for warning in outcome.warnings:  # about variables that no step can have, this one or a later one
        job.run.warn("", warning)
    if outcome.stdout_lost:
        job.warn(cut_off(outcome.stdout_lost))
    if outcome.stdout_broken:
        job.warn(no_text(outcome.stdout_broken))
    if outcome.stderr_lost:
        job.warn(cut_off(outcome.stderr_lost, "stderr"))
    return _judge(action, outcome, why_stopped(outcome.stderr))


def _environment(job: Job, action: Bash) -> Mapping[str, str]:
    if not action.env:
        return {}
    view = job.frame.view()
    try:
        warnings = check_env(action.command.text, action.env, view)
    except TemplateError as error:
        raise StepFailure(f"{error.what} (fix: {error.fix})", hopeless=True) from error
    for warning in warnings:
        job.remark(warning)
    env, missing = render_value(dict(action.env), view)
    job.missing(missing, "env")
    return {name: to_text(value) for name, value in env.items()} if isinstance(env, dict) else {}


def _render(job: Job, action: Bash) -> ShellScript:
    try:
        view, token = job.frame.view(), job.run.world.clock.token
        env = [name for name, value in action.env.items() if "{{" in to_text(value)]
        script = render_shell(action.command.text, view, token=token, env=env)
    except TemplateError as error:
        where = action.command.line(error.line)
        fix = f" (fix: {error.fix})" if error.fix else ""
        raise StepFailure(f"{where}: {error.what}{fix}", hopeless=True) from error
    job.missing(script.missing, "command")
    job.missing(
        lacking_variables(job.run, action.command.text, script, job.frame.scope.values, action.env), "command"
    )
    for warning in script.warnings:
        job.remark(warning)
    for text in script.variables.values():
        if text.startswith("-"):
            for warning in _taken_for_options(job, action):
                job.remark(warning)
            break
    return script


def _taken_for_options(job: Job, action: Bash) -> Iterator[str]:
    """Yield a warning for each value that changes what a command does, as its program takes it for an option.

    A default of the recipe that is an option is meant as one.
    """
    from amplihack.recipes.templates.bash.option_values import mistakable  # deferred: few values begin so

    template, view, recipe = action.command.text, job.frame.view(), job.frame.recipe
    texts = {found.path: to_text(found.value(view)) for found in find_variables(template)}
    for found in mistakable(template, texts):
        if not to_text(lookup(recipe.context, found.path)).startswith("-"):
            line = line_of(template, found.start)
            what = f"{found.program} takes the value of {show(found.path)} on line {line} for an option"
            yield f"{what}, as it begins with - (fix: {found.fix})"


def lacking_variables(
    run: Run, template: str, script: ShellScript, scope: Mapping[str, Value], env: Mapping[str, object]
) -> tuple[KeyPath, ...]:
    """Return each `$RECIPE_VAR_name` of a script that bash would expand to nothing, as nothing sets it."""
    if PREFIX not in template:
        return ()
    from amplihack.recipes.templates.asked_names import lacking  # deferred: few scripts ask by these names

    names = lacking(template, scope, {*script.variables, *env})
    return tuple((name,) for name in names if not run.world.shell.inherits(name))


def _judge(action: Bash, outcome: ShellOutcome, stopped: str) -> Done:
    """Return the result of a command that succeeded. Raises StepFailure with the reason and last output."""
    text = outcome.stdout.rstrip("\n")  # as `$(…)` does: blanks may be a part of what was printed
    writes: dict[str, Value] = {}
    if action.exit_code_to:
        writes[action.exit_code_to] = outcome.exit_code
    if action.stderr_to:
        writes[action.stderr_to] = outcome.stderr.rstrip("\n")
    ended = outcome.exit_code is not None and not outcome.timed_out
    if ended and not stopped and (outcome.exit_code == 0 or action.any_exit):
        return Done(text=text, stderr=outcome.stderr, exit_code=outcome.exit_code, writes=writes)
    raise StepFailure(
        f"bash step failed: {stopped or _reason(outcome)}",
        output=text,
        stderr=outcome.stderr,
        exit_code=outcome.exit_code,
        transient=bool(outcome.timed_out),
        timed_out=bool(outcome.timed_out),
        hopeless=outcome.exit_code in _NOT_EXECUTABLE,
        writes=writes,
        fix=_CHECK_FIRST if stopped else _fix(outcome),
    )


def _fix(outcome: ShellOutcome) -> str:
    return _TOO_LONG if outcome.exit_code == 126 and "Argument list too long" in outcome.stderr else ""


def _reason(outcome: ShellOutcome) -> str:
    if outcome.timed_out:
        return outcome.timed_out
    how = f"exit {outcome.exit_code}" if outcome.signal is None else f"signal {outcome.signal}"
    said = tail(outcome.stderr.strip(), _ERROR_TAIL)
    if not said:
        said = tail(outcome.stdout.strip(), 500)
        said = f"(stdout) {said}" if said else ""
    return f"Command failed ({how}): {said}".rstrip(": ")
