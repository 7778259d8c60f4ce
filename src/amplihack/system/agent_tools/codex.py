"""Run Codex without a person: `codex exec`. Its sandbox stays as the user configured it."""

from __future__ import annotations

from pathlib import Path

from amplihack.recipes.agent_port import AgentRequest
from amplihack.recipes.values import one_line
from amplihack.records import Record, replace
from amplihack.system.agent_tools.prompts import whole_text
from amplihack.system.agent_tools.reports import ToolEvent, ToolOutcome, part, text, usage
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
                self.outcome = replace(
                    self._so_far, error="", usage=usage(part(event, "usage"), cached="cached_input_tokens")
                )
            case "turn.failed":
                error = text(part(event, "error"), "message") or "its turn failed"
                self.outcome = replace(self._so_far, error=error)
            case "error":
                return one_line(text(event, "message"))
        return ""

    @property
    def _so_far(self) -> ToolOutcome:
        return self.outcome or ToolOutcome()

    def _item(self, kind: str, item: ToolEvent) -> str:
        match text(item, "type"):
            case "agent_message" if kind == "item.completed":
                self.outcome = replace(self._so_far, text=text(item, "text"))
                return one_line(text(item, "text"))
            case "command_execution" if kind == "item.started":
                return one_line(f"$ {text(item, 'command')}")
            case "error":
                return one_line(text(item, "message"))
        return ""
