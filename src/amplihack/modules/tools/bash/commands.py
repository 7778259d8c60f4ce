"""Run the shell commands of a model, in the foreground or as jobs in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

from amplifier_core import ToolResult

from amplihack.modules.approval_rules import command_refusal
from amplihack.modules.tools.bash.jobs import BackgroundJob
from amplihack.modules.tools.environment import command_environment
from amplihack.modules.tools.tool import Properties, ShippedTool, ToolFailed, working_dir
from amplihack.records import Record
from amplihack.system.bash_program import BASH
from amplihack.system.processes import Captured, Command, Finished, run_process


class BashSettings(Record, kw_only=True):
    seconds: float
    most_seconds: float
    most_output: int
    most_jobs: int
    hidden: tuple[str, ...]  # patterns of variables that commands do not get
    shown: tuple[str, ...]  # of those that they get although they hold keys of models
    allowed: tuple[str, ...]  # patterns of commands; empty: all
    denied: tuple[str, ...]


class BashTool(ShippedTool):
    name = "bash"
    properties: ClassVar[Properties] = {
        "command": {"type": "string", "description": "the command line"},
        "timeout": {"type": "number", "minimum": 0.1, "description": "seconds until it is ended"},
        "run_in_background": {"type": "boolean", "description": "return at once with the number of a job"},
        "job": {"type": "integer", "description": "instead of a command: show what this job has printed"},
        "stop": {"type": "boolean", "description": "with job: end it"},
    }

    def __init__(self, coordinator: Any, settings: BashSettings) -> None:
        self._coordinator, self._settings = coordinator, settings
        self._jobs: dict[int, BackgroundJob] = {}
        self._numbers = count(1)

    @property
    def description(self) -> str:
        return (
            "Run a bash command in the session's directory and return stdout, stderr and returncode. "
            f"Each command is a new shell, and is ended after {self._settings.seconds:g} seconds unless "
            f"timeout says otherwise (at most {self._settings.most_seconds:g}). There is no terminal and no "
            "input. What a command leaves running is ended with it: use run_in_background for servers."
        )

    async def run(self, given: Mapping[str, Any]) -> Any:
        if "job" in given:
            return await self._look_at(given["job"], stop=given.get("stop", False))
        if not given.get("command", "").strip():
            raise ToolFailed("there is no command", fix="give `command`, or `job` to look at one")
        if given.get("run_in_background"):
            return self._start(given["command"])
        seconds = min(given.get("timeout", self._settings.seconds), self._settings.most_seconds)
        finished = await run_process(self._command(given["command"], seconds))
        return self._result(finished, seconds)

    async def close(self) -> None:
        """End the jobs that are left."""
        for job in self._jobs.values():
            await job.stop()

    def _command(self, text: str, seconds: float | None) -> Command:
        directory = working_dir(self._coordinator)
        chosen = self._settings
        if "\0" in text:
            raise ToolFailed("a command cannot contain a NUL", fix="leave it out")
        if refusal := command_refusal(text, chosen.allowed, chosen.denied):
            raise ToolFailed(refusal, fix="do it another way, or tell the user")
        env = command_environment(self._coordinator, chosen.hidden, chosen.shown)
        argv = (BASH, "-c", text)
        return Command(argv=argv, cwd=Path(directory), env=env, timeout=seconds, leaves_nothing=True)

    def _result(self, finished: Finished, seconds: float) -> Any:
        output: dict[str, Any] = {
            "stdout": self._shown(finished.stdout),
            "stderr": self._shown(finished.stderr),
            "returncode": finished.exit_code if finished.signal is None else 128 + finished.signal,
        }
        if finished.timed_out:
            output["note"] = f"ended after {seconds:g} seconds, with everything that it had started"
        elif finished.cut_off:
            output["note"] = "what it had left running was ended with it: run_in_background keeps a command"
        message = output["note"] if finished.timed_out else f"the command failed: {finished.status}"
        error = None if finished.ok else {"message": message}
        return ToolResult(success=finished.ok, output=output, error=error)

    def _shown(self, captured: Captured) -> str:
        """Return the beginning and the end of an output, and say what is missing."""
        most = self._settings.most_output
        if captured.size <= most:
            return captured.text(most)
        head, tail = captured.text(most // 2), captured.tail(most // 2)
        return f"{head}\n[… {captured.size - most} of {captured.size} bytes left out …]\n{tail}"

    # jobs -----------------------------------------------------------------------------------------------

    def _start(self, text: str) -> dict[str, Any]:
        running = [number for number, job in self._jobs.items() if job.running]
        if len(running) >= self._settings.most_jobs:
            what = f"{len(running)} jobs are running, and no more are allowed"
            raise ToolFailed(what, fix=f"stop one of {', '.join(map(str, running)) or 'none'}")
        number = next(self._numbers)
        self._jobs[number] = BackgroundJob(self._command(text, None), self._settings.most_output)
        return {"job": number, "note": "started; look at it with job, end it with job and stop"}

    async def _look_at(self, number: int, *, stop: bool) -> dict[str, Any]:
        job = self._jobs.get(number)
        if job is None:
            known = ", ".join(map(str, self._jobs)) or "none"
            raise ToolFailed(f"there is no job {number}", fix=f"the jobs are: {known}")
        if stop:
            await job.stop()
        await asyncio.sleep(0)
        return {"job": number, "state": job.state, "output": job.output()}
