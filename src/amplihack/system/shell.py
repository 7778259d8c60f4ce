"""Run bash steps: the rendered script, its variables, and files for values that are too large."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from amplihack.recipes.dialect import LEFT
from amplihack.recipes.ports import LeftRunning, OnLines, ShellOutcome, ShellRequest
from amplihack.recipes.templates import EnvironmentPlan, VariableIndex, plan_environment
from amplihack.recipes.templates.names import CONTEXT_FILE
from amplihack.recipes.templates.no_programs import changes_bash, starts_no_program
from amplihack.recipes.values import to_bytes
from amplihack.system.background import Background, OnStart
from amplihack.system.bash_program import BASH
from amplihack.system.child import entries
from amplihack.system.process_marks import VARIABLE
from amplihack.system.processes import Command, Finished, ProcessError, run_process
from amplihack.system.step_files import StepFiles

if TYPE_CHECKING:
    from amplihack.system.context_text import ContextText

_STRICT = ("-e", "-u", "-o", "pipefail")
_INLINE = 65_536  # a longer script is run from a file
_ARGUMENTS = 1_500_000  # what we use of the space for environment and arguments
_LARGEST = 96 * 1024
_STDERR_KEPT = 100_000


class BashShell:
    """Runs the commands of one run of a recipe. `scratch` is a private directory that the run removes.

    `left` is a directory for files that steps leave to later ones, also after the run was resumed. Commands
    find its path in their environment; without it, it is a part of `scratch`. `on_start` hears of every
    process, those of agents too. `alone` is for Background.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        scratch: Path,
        on_start: OnStart | None = None,
        *,
        left: Path | None = None,
        alone: bool = False,
    ) -> None:
        self._left, self._is_made = left or scratch / "left", False
        environment = {**environment, LEFT: str(self._left)}
        self._inherited, self._files = _encoded(environment), StepFiles(scratch)
        self._is_bash_changed = changes_bash(environment)
        self._inherited_bytes = sum(map(len, self._inherited.values())) + len(self._inherited)
        self._marks = {name: environment[name] for name in (VARIABLE,) if name in environment}
        self._budget = _budget(environment)
        self._background = Background(environment, on_start, alone=alone)
        self._context: ContextText | None = None  # made for the first script that starts a program
        self._index = VariableIndex()
        self._unasked: Mapping[str, bytes] = {}  # what the last step got beside what we inherited
        self._passed_on: Mapping[str, bytes] = self._inherited  # both of them

    async def run(self, request: ShellRequest, on_lines: OnLines) -> ShellOutcome:
        """Run the script to its end, then remove its files, or let the next step have them."""
        files: list[str] = []
        if not self._is_made:
            self._make_left()
        programs = self._starts_programs(request)
        try:
            plan = self._plan(request, programs=programs)
            env = self._variables(request, plan, files, programs=programs)
            finished = await run_process(self._command(request, plan, env, files), on_lines)
        except BaseException:
            for file in files:
                self._files.remove(file)
            raise
        if programs:
            self._files.give_back(files.pop(0))
        for file in files:
            self._files.remove(file)
        return _outcome(request, plan, finished)

    def inherits(self, name: str) -> bool:
        return name in self._inherited

    async def end_step(self, step: str) -> None:
        await self._background.end_step(step)

    async def close(self) -> Sequence[LeftRunning]:
        """End what steps left running, even when cancelled meanwhile. Calling it again does nothing."""
        self._files.clear()
        if self._is_made:
            with suppress(OSError):  # steps have left something in it, which is kept as long as the run
                self._left.rmdir()
        return await self._background.end()

    def _make_left(self) -> None:
        try:
            self._left.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            what = f"cannot make the directory {self._left}: {error.strerror or error}"
            raise ProcessError(what, fix="free some space, or let the home root be written to") from error
        self._is_made = True

    def _starts_programs(self, request: ShellRequest) -> bool:
        """Tell whether anybody can look for what the script does not mention. In doubt somebody can."""
        source = request.script.source
        return (
            self._is_bash_changed
            or not starts_no_program(source)
            or CONTEXT_FILE in source
            or changes_bash(request.env)
        )

    def _plan(self, request: ShellRequest, *, programs: bool) -> EnvironmentPlan:
        return plan_environment(
            request.scope,
            request.script,
            inherited_bytes=self._inherited_bytes + (_bytes(request.env) if request.env else 0),
            budget=self._budget,
            largest=min(_LARGEST, request.max_env_value_bytes or _LARGEST),
            index=self._index,
            programs=programs,
        )

    def _variables(
        self, request: ShellRequest, plan: EnvironmentPlan, files: list[str], *, programs: bool
    ) -> dict[str, str]:
        variables = {**self._marks, **plan.wanted, **request.env}
        if programs:  # the first file: it is used again
            variables[CONTEXT_FILE] = self._write(self._context_text().parts(request.scope), files)
        for name, text in plan.files.items():
            variables.setdefault(plan.paths[name], self._write([to_bytes(text)], files))
        return variables

    def _context_text(self) -> ContextText:
        if self._context is None:
            from amplihack.system.context_text import ContextText  # deferred, as it is made

            self._context = ContextText()
        return self._context

    def _command(
        self, request: ShellRequest, plan: EnvironmentPlan, env: Mapping[str, str], files: list[str]
    ) -> Command:
        source = plan.preamble + request.script.source
        inline = len(source) <= _INLINE and (source.isascii() or len(to_bytes(source)) <= _INLINE)
        program = (BASH, *_STRICT) if request.strict else (BASH,)
        argv = (*program, "-c", source) if inline else (*program, self._write([to_bytes(source)], files))
        if plan.unasked and plan.unasked is not self._unasked:
            self._unasked, self._passed_on = plan.unasked, {**self._inherited, **plan.unasked}
        return Command(
            argv=argv,
            cwd=_path(request.working_dir),
            env=env,
            inherited=self._passed_on if plan.unasked else self._inherited,
            timeout=request.timeout,
            idle_timeout=request.idle_timeout,
            step=request.step,
            alone=request.alone,
            lines_at_once=request.lines_at_once,
        )

    def _write(self, parts: Sequence[bytes], files: list[str]) -> str:
        files.append(path := self._files.write(parts))
        return path


_path = lru_cache(maxsize=16)(Path)  # most steps of a run work in one directory


def _encoded(environment: Mapping[str, str]) -> dict[str, bytes]:
    try:
        return entries(environment)
    except ValueError as error:
        what = f"a variable of the environment cannot be passed on: {error}"
        raise ProcessError(what, fix="correct it, in the file of --env-file for example") from error


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
    stdout = finished.stdout.text()
    return ShellOutcome(
        stdout=stdout,
        stderr=finished.stderr.tail(_STDERR_KEPT),
        exit_code=finished.exit_code,
        signal=finished.signal,
        timed_out=timed_out,
        stdout_lost=finished.stdout.lost,
        stdout_broken=finished.stdout.broken(stdout),
        stderr_lost=max(0, finished.stderr.size - _STDERR_KEPT),
        warnings=plan.warnings,
    )
