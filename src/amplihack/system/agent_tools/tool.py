"""Run an agent's command-line tool: start it, read its output and report the result."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from amplihack.recipes.agent_port import (
    STDERR_TAIL,
    STDOUT_TAIL,
    AgentFailed,
    AgentReply,
    AgentRequest,
    beyond_tools,
    kept_answer,
)
from amplihack.recipes.values import one_line
from amplihack.records import Record, replace
from amplihack.system.agent_tools.environment import check_depth
from amplihack.system.agent_tools.rate_limits import rate_limited, transient
from amplihack.system.agent_tools.reports import ToolOutcome, ToolReport, parse_event
from amplihack.system.lines import LONGEST_LINE
from amplihack.system.processes import Command, Finished, ProcessError, run_process
from amplihack.system.scratch import scratch_directory
from amplihack.system.spool import OUTPUT_LIMIT, broken_places

RESULT_SINK = "AMPLIHACK_RESULT_SINK"


class Invocation(Record):
    """How a tool is started for one request; without `stdin` its input is empty."""

    argv: tuple[str, ...]
    stdin: str | None = None


class Tool(Protocol):
    """What is specific to one command-line tool. `scratch` is a private directory for the call."""

    @property
    def name(self) -> str: ...

    def call(self, request: AgentRequest, scratch: Path) -> Invocation: ...

    def report(self) -> ToolReport | None:
        """Return the reader of its output, or None if the output is plain text."""
        ...


def model_flag(request: AgentRequest) -> tuple[str, ...]:
    return ("--model", request.model) if request.model else ()


def private_file(path: Path, content: str) -> Path:
    path.touch(mode=0o600)
    path.write_text(content, "utf-8", "replace")
    return path


class ToolAgent(Record):
    """An agent that is a command-line tool. `environment` is the one for processes of the run."""

    tool: Tool
    environment: Mapping[str, str]

    @property
    def name(self) -> str:
        return self.tool.name

    async def ask(self, request: AgentRequest, on_line: Callable[[str], None]) -> AgentReply:
        check_depth(self.environment)
        with scratch_directory("agent") as scratch:
            report = self.tool.report()
            # The lines of a report hold whole answers; others are only shown.
            longest = LONGEST_LINE if report is None else OUTPUT_LIMIT
            command = replace(self._command(request, scratch), longest_line=longest)
            try:
                finished = await run_process(command, _Listener(report, on_line))
                return self._reply(request, finished, report, Path(command.env[RESULT_SINK]))
            except ProcessError as error:
                raise AgentFailed(error.what, fix=error.fix) from error
            except (AgentFailed, asyncio.CancelledError):
                _tell_paid(request, report)
                raise

    def _command(self, request: AgentRequest, scratch: Path) -> Command:
        call = self.tool.call(request, scratch)
        return Command(
            argv=call.argv,
            cwd=Path(request.working_dir),
            env={**self.environment, RESULT_SINK: str(scratch / "result")},
            step=request.step,
            stdin=None if call.stdin is None else call.stdin.encode("utf-8", "replace"),
            timeout=request.timeout,
            idle_timeout=request.idle_timeout,
        )

    def _reply(
        self, request: AgentRequest, done: Finished, report: ToolReport | None, sink: Path
    ) -> AgentReply:
        reported = report.outcome if report is not None else None
        outcome = reported or ToolOutcome(text=done.stdout.text())
        if not done.ok or outcome.error:
            raise _failure(self.name, request, done, outcome, structured=reported is not None)
        # An agent may write its answer to this file, to keep it apart from the progress that it prints.
        answer, lost, broken = _read(sink)
        if not answer:
            answer, lost, broken = kept_answer(outcome.text), 0, 0
            if reported is None:
                lost, broken = done.stdout.lost, done.stdout.broken(outcome.text)
        if not answer:
            raise AgentFailed(
                f"{self.name} ended well but gave an empty answer",
                fix=f"try the prompt with {self.name} itself; `retry: {{max_attempts: 2}}` asks again",
                tool_exit_code=done.exit_code,
                stderr=done.stderr.tail(STDERR_TAIL),
                transient=True,
            )
        return AgentReply(
            text=answer,
            lost=lost,
            broken=broken,
            usage=outcome.usage,
            cost_usd=outcome.cost_usd,
            session_id=outcome.session_id,
            stderr_tail=done.stderr.tail(STDERR_TAIL),
            denied=outcome.denied,
            unused=beyond_tools(request.options),
        )


class _Listener:
    """Turns the output of a tool into lines to show."""

    def __init__(self, report: ToolReport | None, on_line: Callable[[str], None]) -> None:
        self._report, self._on_line = report, on_line

    def __call__(self, stream: str, lines: Sequence[str]) -> None:
        for line in lines:
            self._show(stream, line)

    def _show(self, stream: str, line: str) -> None:
        event = parse_event(line) if self._report is not None and stream == "stdout" else None
        shown = line if event is None or self._report is None else self._report.take(event)
        for each in shown.split("\n"):
            if each.strip():
                self._on_line(each)


def _read(sink: Path) -> tuple[str, int, int]:
    """Return what an agent wrote there, how many bytes were cut off, and in how many places it is no text."""
    try:
        with sink.open("rb") as file:
            data, size = file.read(OUTPUT_LIMIT), os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        return "", 0, 0
    text = data.decode("utf-8", "replace")
    return kept_answer(text), max(0, size - OUTPUT_LIMIT), broken_places(text, lambda: data)


def _tell_paid(request: AgentRequest, report: ToolReport | None) -> None:
    """Tell what a call took that gave no answer, if the tool has said so."""
    known = report.outcome if report is not None else None
    if known is not None and (known.usage is not None or known.cost_usd is not None):
        request.paid(known.usage, known.cost_usd)


def _failure(
    name: str, request: AgentRequest, done: Finished, outcome: ToolOutcome, *, structured: bool
) -> AgentFailed:
    """Explain a failure by the structured report, otherwise by the end of the plain text."""
    stdout, stderr = done.stdout.tail(STDOUT_TAIL), done.stderr.tail(STDERR_TAIL)
    words = f"{outcome.error}\n{stderr}" if structured else f"{stdout}\n{stderr}"
    timed_out = done.timed_out or done.idle_timed_out
    limit = None if timed_out else rate_limited(done.exit_code or 1, words)
    return AgentFailed(
        _what(name, request, done, outcome),
        tool_exit_code=done.exit_code,
        stdout=outcome.text if structured else stdout,
        stderr=stderr,
        transient=timed_out or transient(words),
        timed_out=timed_out,
        rate_limited=limit is not None,
        retry_after=limit.retry_after if limit else None,
    )


def _what(name: str, request: AgentRequest, done: Finished, outcome: ToolOutcome) -> str:
    if done.timed_out:
        return f"{name} timed out after {request.timeout:g}s"
    if done.idle_timed_out:
        return f"{name} printed nothing for {request.idle_timeout:g}s"
    reason = outcome.error or _last_line(done.stderr.tail(STDERR_TAIL)) or _last_line(outcome.text)
    return f"{name} failed ({done.status})" + (f": {reason}" if reason else "")


def _last_line(text: str) -> str:
    lines = text.split("\n")
    return next((one_line(line) for line in reversed(lines) if line.strip()), "")
