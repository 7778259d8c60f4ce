"""Bash steps: the rendered script, its variables, and the files that carry what is too large for them."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from amplihack.recipes.ports import LeftRunning, OnLines, ShellOutcome, ShellRequest
from amplihack.recipes.templates import EnvironmentPlan, plan_environment
from amplihack.recipes.values import Value, to_json
from amplihack.system.background import Background
from amplihack.system.processes import Command, Finished, ProcessError, run_process

BASH = "/bin/bash"
_STRICT = ("-e", "-u", "-o", "pipefail")
_INLINE = 65_536  # a longer script is run from a file
_ARGUMENTS = 1_500_000  # what we use of the space for environment and arguments
_LARGEST = 96 * 1024
_STDERR_KEPT = 100_000


class BashShell:
    """Runs commands for one run of a recipe; `scratch` is a private directory that the run removes."""

    def __init__(self, environment: Mapping[str, str], scratch: Path) -> None:
        self._environment, self._scratch = dict(environment), scratch
        self._inherited = sum(
            len(os.fsencode(name)) + len(os.fsencode(text)) + 2 for name, text in environment.items()
        )
        self._budget = _budget(environment)
        self._background = Background(self._environment)
        self._context = _ContextText()

    async def run(self, request: ShellRequest, on_lines: OnLines) -> ShellOutcome:
        """Runs the script to its end; its files are gone when it is."""
        files: list[Path] = []
        try:
            plan = self._plan(request)
            env = self._variables(request, plan, files)
            finished = await run_process(self._command(request, plan, env, files), on_lines)
        finally:
            for file in files:
                file.unlink(missing_ok=True)
        return _outcome(request, plan, finished)

    async def end_step(self, step: str) -> None:
        await self._background.end_step(step)

    async def close(self) -> Sequence[LeftRunning]:
        """End what steps left running, even when cancelled meanwhile; calling it again does nothing."""
        return await self._background.end()

    def _plan(self, request: ShellRequest) -> EnvironmentPlan:
        return plan_environment(
            request.scope,
            request.script,
            inherited_bytes=self._inherited + _bytes(request.env),
            budget=self._budget,
            largest=min(_LARGEST, request.max_env_value_bytes or _LARGEST),
        )

    def _variables(self, request: ShellRequest, plan: EnvironmentPlan, files: list[Path]) -> dict[str, str]:
        carried = {plan.paths[name]: str(self._write(text, files)) for name, text in plan.files.items()}
        context = self._write(self._context.text(request.scope), files)
        return {
            **self._environment,
            **plan.exports,
            **carried,
            **request.env,
            "AMPLIHACK_CONTEXT_FILE": str(context),
        }

    def _command(
        self, request: ShellRequest, plan: EnvironmentPlan, env: Mapping[str, str], files: list[Path]
    ) -> Command:
        source = plan.preamble + request.script.source
        inline = len(source) <= _INLINE and len(os.fsencode(source)) <= _INLINE
        program = (BASH, *_STRICT) if request.strict else (BASH,)
        argv = (*program, "-c", source) if inline else (*program, str(self._write(source, files)))
        return Command(
            argv=argv,
            cwd=Path(request.working_dir),
            env=env,
            timeout=request.timeout,
            idle_timeout=request.idle_timeout,
            step=request.step,
        )

    def _write(self, text: str, files: list[Path]) -> Path:
        path = self._scratch / f"step-{secrets.token_hex(8)}"
        files.append(path)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(text.encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise ProcessError(f"cannot write a file for the step: {error.strerror or error}") from error
        return path


class _ContextText:
    """All variables as one JSON map; what has not changed since the last time is not written out again."""

    def __init__(self) -> None:
        self._parts: dict[str, tuple[Value, str]] = {}

    def text(self, scope: Mapping[str, Value]) -> str:
        return "{" + ",".join(self._part(name, scope[name]) for name in sorted(scope)) + "}"

    def _part(self, name: str, value: Value) -> str:
        known = self._parts.get(name)
        if known is None or known[0] is not value:
            known = self._parts[name] = value, f"{to_json(name)}:{to_json(value)}"
        return known[1]


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
