"""Run bash steps: the rendered script, its variables, and files for values that are too large."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from amplihack.recipes.ports import LeftRunning, OnLines, ShellOutcome, ShellRequest
from amplihack.recipes.templates import EnvironmentPlan, VariableIndex, plan_environment
from amplihack.recipes.values import Value, to_json
from amplihack.system.background import Background
from amplihack.system.processes import Command, Finished, ProcessError, run_process
from amplihack.system.random_tokens import token
from amplihack.system.spool import write_all

BASH = "/bin/bash"
_STRICT = ("-e", "-u", "-o", "pipefail")
_INLINE = 65_536  # a longer script is run from a file
_ARGUMENTS = 1_500_000  # what we use of the space for environment and arguments
_LARGEST = 96 * 1024
_STDERR_KEPT = 100_000


class BashShell:
    """Runs the commands of one run of a recipe. `scratch` is a private directory that the run removes."""

    def __init__(self, environment: Mapping[str, str], scratch: Path) -> None:
        self._environment, self._scratch = dict(environment), scratch
        self._inherited = sum(
            len(os.fsencode(name)) + len(os.fsencode(text)) + 2 for name, text in environment.items()
        )
        self._budget = _budget(environment)
        self._background = Background(self._environment)
        self._context, self._index = _ContextText(), VariableIndex()

    async def run(self, request: ShellRequest, on_lines: OnLines) -> ShellOutcome:
        """Run the script to its end, then remove its files."""
        files: list[str] = []
        try:
            plan = self._plan(request)
            env = self._variables(request, plan, files)
            finished = await run_process(self._command(request, plan, env, files), on_lines)
        finally:
            for file in files:
                with suppress(FileNotFoundError):
                    os.unlink(file)  # noqa: PTH108 - a plain text: this runs at every step
        return _outcome(request, plan, finished)

    async def end_step(self, step: str) -> None:
        await self._background.end_step(step)

    async def close(self) -> Sequence[LeftRunning]:
        """End what steps left running, even when cancelled meanwhile. Calling it again does nothing."""
        return await self._background.end()

    def _plan(self, request: ShellRequest) -> EnvironmentPlan:
        return plan_environment(
            request.scope,
            request.script,
            inherited_bytes=self._inherited + _bytes(request.env),
            budget=self._budget,
            largest=min(_LARGEST, request.max_env_value_bytes or _LARGEST),
            index=self._index,
        )

    def _variables(self, request: ShellRequest, plan: EnvironmentPlan, files: list[str]) -> dict[str, str]:
        carried = {plan.paths[name]: self._write(text, files) for name, text in plan.files.items()}
        context = self._write(self._context.text(request.scope), files)
        return {
            **self._environment,
            **plan.exports,
            **carried,
            **request.env,
            "AMPLIHACK_CONTEXT_FILE": context,
        }

    def _command(
        self, request: ShellRequest, plan: EnvironmentPlan, env: Mapping[str, str], files: list[str]
    ) -> Command:
        source = plan.preamble + request.script.source
        inline = len(source) <= _INLINE and len(os.fsencode(source)) <= _INLINE
        program = (BASH, *_STRICT) if request.strict else (BASH,)
        argv = (*program, "-c", source) if inline else (*program, self._write(source, files))
        return Command(
            argv=argv,
            cwd=Path(request.working_dir),
            env=env,
            timeout=request.timeout,
            idle_timeout=request.idle_timeout,
            step=request.step,
        )

    def _write(self, text: str, files: list[str]) -> str:
        path = f"{self._scratch}/step-{token(8)}"
        files.append(path)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                write_all(descriptor, text.encode("utf-8", "surrogateescape"))
            finally:
                os.close(descriptor)
        except OSError as error:
            raise ProcessError(f"cannot write a file for the step: {error.strerror or error}") from error
        return path


class _ContextText:
    """Writes all variables as one JSON map. Unchanged variables are not encoded again."""

    def __init__(self) -> None:
        self._values: dict[str, Value] = {}
        self._parts: dict[str, str] = {}
        self._names: list[str] = []

    def text(self, scope: Mapping[str, Value]) -> str:
        for name, value in scope.items():
            if name not in self._parts or self._values[name] is not value:
                self._values[name], self._parts[name] = value, f"{to_json(name)}:{to_json(value)}"
        if len(self._names) != len(scope) or not all(map(scope.__contains__, self._names)):
            self._names = sorted(scope)
        return "{" + ",".join(map(self._parts.__getitem__, self._names)) + "}"


def _bytes(variables: Mapping[str, str]) -> int:
    return sum(len(os.fsencode(name)) + len(os.fsencode(text)) + 2 for name, text in variables.items())


def _budget(environment: Mapping[str, str]) -> int:
    wanted = environment.get("AMPLIHACK_CONTEXT_ENV_BUDGET_BYTES", "")
    limit = min(_ARGUMENTS, os.sysconf("SC_ARG_MAX") * 3 // 4)
    return min(limit, int(wanted)) if wanted.isdecimal() else limit


def _outcome(request: ShellRequest, plan: EnvironmentPlan, finished: Finished) -> ShellOutcome:
    timed_out = ""
    if finished.timed_out:
        timed_out = f"timed out after {request.timeout:g}s"
    elif finished.idle_timed_out:
        timed_out = f"was silent for {request.idle_timeout:g}s"
    return ShellOutcome(
        stdout=finished.stdout.text(),
        stderr=finished.stderr.tail(_STDERR_KEPT),
        exit_code=finished.exit_code,
        signal=finished.signal,
        timed_out=timed_out,
        stdout_lost=finished.stdout.lost,
        warnings=plan.warnings,
    )
