"""Run Codex without a person: `codex exec`. Its sandbox stays as the user configured it."""

from __future__ import annotations

from pathlib import Path

from amplihack.recipes.agent_port import AgentRequest, Usage
from amplihack.records import Record, replace
from amplihack.system.agent_tools.prompts import whole_text
from amplihack.system.agent_tools.reports import ToolEvent, ToolOutcome, count, part, shorten, text
from amplihack.system.agent_tools.tool import Invocation, model_flag


class Codex(Record):
    program: str
    extra: tuple[str, ...] = ()
    name: str = "codex"

    def call(self, request: AgentRequest, scratch: Path) -> Invocation:
        del scratch
        argv = (self.program, "exec", "--json", "--skip-git-repo-check", *model_flag(request), *self.extra)
        return Invocation((*argv, "-"), stdin=whole_text(request))

    def report(self) -> CodexReport:
        return CodexReport()


class CodexReport:
    """Reads the events of Codex. The last message is the answer; earlier ones show its progress."""

    def __init__(self) -> None:
        self.outcome: ToolOutcome | None = None

    def take(self, event: ToolEvent) -> str:
        match event["type"]:
            case "thread.started":
                session = text(event, "thread_id") or None
                self.outcome = ToolOutcome(session_id=session, error="it ended before it gave a result")
            case "item.started" | "item.completed":
                return self._item(event["type"], part(event, "item"))
            case "turn.completed":
                self.outcome = replace(self._so_far, error="", usage=_usage(part(event, "usage")))
            case "turn.failed":
                error = text(part(event, "error"), "message") or "its turn failed"
                self.outcome = replace(self._so_far, error=error)
            case "error":
                return shorten(text(event, "message"))
        return ""

    @property
    def _so_far(self) -> ToolOutcome:
        return self.outcome or ToolOutcome()

    def _item(self, kind: str, item: ToolEvent) -> str:
        match text(item, "type"):
            case "agent_message" if kind == "item.completed":
                self.outcome = replace(self._so_far, text=text(item, "text"))
                return shorten(text(item, "text"))
            case "command_execution" if kind == "item.started":
                return shorten(f"$ {text(item, 'command')}")
            case "error":
                return shorten(text(item, "message"))
        return ""


def _usage(usage: ToolEvent) -> Usage | None:
    if not usage:
        return None
    return Usage(
        input_tokens=count(usage, "input_tokens"),
        output_tokens=count(usage, "output_tokens"),
        cached_tokens=count(usage, "cached_input_tokens"),
    )
