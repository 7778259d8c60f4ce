"""List the modules that we ship: the id in a mount plan, its type, and where its `mount` is.

The entry points of the distribution (`amplifier.modules`) are the same list; a test holds them together.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from amplihack.records import Record

Kind: TypeAlias = Literal["orchestrator", "context", "provider", "tool", "hook"]


class Shipped(Record):
    """A module of ours. `package` has `mount`, and `on_session_ready` if it needs one."""

    kind: Kind
    package: str

    @property
    def entry_point(self) -> str:
        return f"{self.package}:mount"


_OURS = "amplihack.modules"

MODULES: dict[str, Shipped] = {
    "loop-streaming": Shipped("orchestrator", f"{_OURS}.loop"),
    "loop-basic": Shipped("orchestrator", f"{_OURS}.loop_basic"),
    "loop-events": Shipped("orchestrator", f"{_OURS}.loop_basic"),
    "context-simple": Shipped("context", f"{_OURS}.context"),
    "tool-filesystem": Shipped("tool", f"{_OURS}.tools.filesystem"),
    "tool-bash": Shipped("tool", f"{_OURS}.tools.bash"),
    "tool-search": Shipped("tool", f"{_OURS}.tools.search"),
    "tool-todo": Shipped("tool", f"{_OURS}.tools.todo"),
    "tool-web": Shipped("tool", f"{_OURS}.tools.web"),
    "tool-delegate": Shipped("tool", f"{_OURS}.tools.delegate"),
    "tool-task": Shipped("tool", f"{_OURS}.tools.task"),
    "tool-recipes": Shipped("tool", f"{_OURS}.tools.recipes"),
    "tool-mcp": Shipped("tool", f"{_OURS}.tools.mcp"),
    "hooks-streaming-ui": Shipped("hook", f"{_OURS}.hooks.streaming_ui"),
    "hooks-logging": Shipped("hook", f"{_OURS}.hooks.event_log"),
    "hooks-approval": Shipped("hook", f"{_OURS}.hooks.approval"),
    "hooks-redaction": Shipped("hook", f"{_OURS}.hooks.redaction"),
    "hooks-cost": Shipped("hook", f"{_OURS}.hooks.cost"),
    "provider-scripted": Shipped("provider", f"{_OURS}.providers.scripted"),
    "provider-anthropic": Shipped("provider", f"{_OURS}.providers.anthropic"),
    "provider-openai": Shipped("provider", f"{_OURS}.providers.openai"),
    "provider-chat-completions": Shipped("provider", f"{_OURS}.providers.chat_completions"),
    "provider-local": Shipped("provider", f"{_OURS}.providers.local"),
    "provider-mock": Shipped("provider", f"{_OURS}.providers.scripted"),
}
