"""Run GitHub Copilot CLI without a person: `copilot -p`. It reports neither tokens nor cost."""

from __future__ import annotations

from pathlib import Path

from amplihack.recipes.agent_port import AgentRequest
from amplihack.recipes.values import one_line
from amplihack.records import Record, replace
from amplihack.system.agent_tools.prompts import fits_inline, whole_text
from amplihack.system.agent_tools.reports import ToolEvent, ToolOutcome, count, part, parts, text
from amplihack.system.agent_tools.tool import Invocation, model_flag


class Copilot(Record):
    program: str
    extra: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    name: str = "copilot"

    def call(self, request: AgentRequest, scratch: Path) -> Invocation:
        del scratch
        prompt = whole_text(request)
        tail = ("--output-format", "json", *self.allow, *model_flag(request), *self.extra)
        if not request.private and fits_inline(prompt):
            return Invocation((self.program, "-p", prompt, *tail))
        return Invocation((self.program, *tail), stdin=prompt)

    def report(self) -> CopilotReport:
        return CopilotReport()


class CopilotReport:
    """Reads the events of Copilot. The last message with text is the answer, unless an error follows."""

    def __init__(self) -> None:
        self.outcome: ToolOutcome | None = None
        self._tools: dict[str, str] = {}  # the name of the tool behind each call

    def take(self, event: ToolEvent) -> str:
        data, so_far = part(event, "data"), self.outcome or ToolOutcome()
        match event["type"]:
            case "user.message":
                self.outcome = replace(so_far, error="it ended before it gave a result")
            case "assistant.message":
                self.outcome = replace(so_far, text=text(data, "content") or so_far.text, error="")
                return _shown(data)
            case "tool.execution_start":
                self._tools[text(data, "toolCallId")] = text(data, "toolName")
            case "tool.execution_complete" if text(part(data, "error"), "code") == "denied":
                tool = self._tools.get(text(data, "toolCallId"), "a tool")
                self.outcome = replace(so_far, denied=tuple(dict.fromkeys((*so_far.denied, tool))))
                return f"{tool}: denied"
            case "session.info" | "session.warning":
                return one_line(text(data, "message"))
            case "session.error":
                self.outcome = replace(so_far, error=text(data, "message") or "its session failed")
            case "result":
                self.outcome = _ended(so_far, event)
        return ""


def _ended(so_far: ToolOutcome, event: ToolEvent) -> ToolOutcome:
    code = count(event, "exitCode")
    error = so_far.error or (f"it reported exit code {code}" if code else "")
    return replace(so_far, error=error, session_id=text(event, "sessionId") or None)


def _shown(data: ToolEvent) -> str:
    tools = [
        one_line(f"{text(each, 'name')}: {text(part(each, 'arguments'), 'command')}".rstrip(": "))
        for each in parts(data, "toolRequests")
    ]
    return "\n".join(line for line in (one_line(text(data, "content")), *tools) if line)
