"""Run Claude Code without a person: `claude -p`."""

from __future__ import annotations

from pathlib import Path

from amplihack.recipes.agent_port import AgentRequest
from amplihack.recipes.values import one_line
from amplihack.records import Record
from amplihack.system.agent_tools.prompts import fits_inline, system_text, task_text
from amplihack.system.agent_tools.reports import (
    ToolEvent,
    ToolOutcome,
    amount,
    count,
    part,
    parts,
    text,
    usage,
)
from amplihack.system.agent_tools.tool import Invocation, model_flag, private_file

_REPORT = ("--output-format", "stream-json", "--verbose")


class Claude(Record):
    program: str
    extra: tuple[str, ...] = ()
    name: str = "claude"

    def call(self, request: AgentRequest, scratch: Path) -> Invocation:
        task, system = task_text(request), system_text(request)
        tail = (*model_flag(request), *self.extra)
        if not request.private and fits_inline(task, system):
            argv = (self.program, "-p", task, *_REPORT, "--append-system-prompt", system, *tail)
            return Invocation(argv)
        file = private_file(scratch / "system-prompt.md", system)
        argv = (self.program, "-p", *_REPORT, "--append-system-prompt-file", str(file), *tail)
        return Invocation(argv, stdin=task)

    def report(self) -> ClaudeReport:
        return ClaudeReport()


class ClaudeReport:
    """Reads the events of Claude Code; the result is in the last one.

    Its `subtype` is "success" even for an API error. Only `is_error`, and the error mark on the message that
    replaces the model's, tell the truth.
    """

    def __init__(self) -> None:
        self.outcome: ToolOutcome | None = None
        self._stand_in = ""

    def take(self, event: ToolEvent) -> str:
        match event["type"]:
            case "system" if text(event, "subtype") == "init":
                self.outcome = ToolOutcome(error="it ended before it gave a result")
            case "system" if text(event, "subtype") == "api_retry":
                return f"the API failed ({text(event, 'error')}); claude tries again"
            case "assistant":
                self._stand_in = text(event, "error")
                return _shown(event)
            case "result":
                self.outcome = self._result(event)
        return ""

    def _result(self, event: ToolEvent) -> ToolOutcome:
        answer, status = text(event, "result"), count(event, "api_error_status")
        failed = event.get("is_error") is True or status is not None or bool(self._stand_in)
        error = (answer or text(event, "subtype") or "it reported an error") if failed else ""
        if status is not None and str(status) not in error:
            error = f"{error} (API status {status})"
        return ToolOutcome(
            text=answer,
            error=error,
            usage=usage(part(event, "usage"), cached="cache_read_input_tokens"),
            cost_usd=amount(event, "total_cost_usd"),
            session_id=text(event, "session_id") or None,
            denied=tuple(
                dict.fromkeys(text(each, "tool_name") for each in parts(event, "permission_denials"))
            ),
        )


def _shown(event: ToolEvent) -> str:
    lines = []
    for block in parts(part(event, "message"), "content"):
        if text(block, "type") == "text":
            lines.append(one_line(text(block, "text")))
        elif text(block, "type") == "tool_use":
            given = part(block, "input")
            detail = text(given, "command") or text(given, "file_path") or text(given, "description")
            lines.append(one_line(f"{text(block, 'name')}: {detail}" if detail else text(block, "name")))
    return "\n".join(line for line in lines if line)
