"""Run bash steps: the rendered script, its variables, and files for values that are too large."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from amplihack.recipes.ports import LeftRunning, OnLines, ShellOutcome, ShellRequest
from amplihack.recipes.templates import EnvironmentPlan, VariableIndex, plan_environment
from amplihack.recipes.values import to_bytes
from amplihack.system.background import Background, OnStart
from amplihack.system.bash_program import BASH
from amplihack.system.context_text import ContextText
from amplihack.system.processes import Command, Finished, run_process
from amplihack.system.step_files import StepFiles

_STRICT = ("-e", "-u", "-o", "pipefail")
_INLINE = 65_536  # a longer script is run from a file
_ARGUMENTS = 1_500_000  # what we use of the space for environment and arguments
_LARGEST = 96 * 1024
_STDERR_KEPT = 100_000


class BashShell:
    """Runs the commands of one run of a recipe. `scratch` is a private directory that the run removes.

    `on_start` hears of every process, those of agents too.
    """

    def __init__(
        self, environment: Mapping[str, str], scratch: Path, on_start: OnStart | None = None
    ) -> None:
        self._environment, self._files = dict(environment), StepFiles(scratch)
        self._inherited = _bytes(environment)
        self._budget = _budget(environment)
        self._background = Background(self._environment, on_start)
        self._context, self._index = ContextText(), VariableIndex()

    async def run(self, request: ShellRequest, on_lines: OnLines) -> ShellOutcome:
        """Run the script to its end, then remove its files, or let the next step have them."""
        files: list[str] = []
        try:
            plan = self._plan(request)
            env = self._variables(request, plan, files)
            finished = await run_process(self._command(request, plan, env, files), on_lines)
        except BaseException:
            for file in files:
                self._files.remove(file)
            raise
        context, *large = files
        self._files.give_back(context)
        for file in large:
            self._files.remove(file)
        return _outcome(request, plan, finished)

    async def end_step(self, step: str) -> None:
        await self._background.end_step(step)

    async def close(self) -> Sequence[LeftRunning]:
        """End what steps left running, even when cancelled meanwhile. Calling it again does nothing."""
        self._files.clear()
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
        context = self._write(self._context.parts(request.scope), files)  # the first: it is used again
        carried = {
            plan.paths[name]: self._write([to_bytes(text)], files) for name, text in plan.files.items()
        }
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
        inline = len(source) <= _INLINE and (source.isascii() or len(to_bytes(source)) <= _INLINE)
        program = (BASH, *_STRICT) if request.strict else (BASH,)
        argv = (*program, "-c", source) if inline else (*program, self._write([to_bytes(source)], files))
        return Command(
            argv=argv,
            cwd=_path(request.working_dir),
            env=env,
            timeout=request.timeout,
            idle_timeout=request.idle_timeout,
            step=request.step,
        )

    def _write(self, parts: Sequence[bytes], files: list[str]) -> str:
        files.append(path := self._files.write(parts))
        return path


_path = lru_cache(maxsize=16)(Path)  # most steps of a run work in one directory


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
