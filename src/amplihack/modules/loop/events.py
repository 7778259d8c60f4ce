"""Tell the hooks of a session what happens, and do what they ask for."""

from __future__ import annotations

from typing import Any

from amplihack.modules.loop.stored import as_json
from amplihack.records import Record
from amplihack.sessions.calls import Message


class Said(Record):
    """What the hooks said about an event: whether they refuse it, and the event as they want it."""

    denied: bool
    reason: str
    data: dict[str, Any]


class Events:
    """The hooks of one turn. Texts that are for the next request only wait in `ephemeral`."""

    def __init__(self, hooks: Any, coordinator: Any) -> None:
        self._hooks, self._coordinator = hooks, coordinator
        self.ephemeral: list[Message] = []

    async def tell(self, event: str, **data: Any) -> None:
        """Tell of an event whose answer changes nothing, but injected text is kept."""
        await self.settle(event, await self.emit(event, data))

    async def ask(self, event: str, **data: Any) -> Said:
        """Tell of an event that hooks may refuse or change."""
        result = await self.emit(event, data)
        changed = getattr(result, "data", None)
        settled = await self.settle(event, result)
        return Said(
            getattr(settled, "action", "continue") == "deny",
            getattr(settled, "reason", None) or getattr(result, "reason", None) or "no reason given",
            changed if isinstance(changed, dict) else as_json(data),
        )

    async def emit(self, event: str, data: dict[str, Any]) -> Any:
        """Return what the hooks say, unsettled. Events carry JSON and nothing else."""
        return await self._hooks.emit(event, as_json(data))

    async def settle(self, event: str, result: Any) -> Any:
        """Ask the user, or store injected text, as hooks want it. Ephemeral text waits for the request."""
        action = getattr(result, "action", "continue")
        if self._coordinator is None or action == "continue":
            return result
        settled = await self._coordinator.process_hook_result(result, event, "hooks")
        if getattr(settled, "action", "") == "inject_context":
            self.ephemeral += _ephemeral(settled)
        return settled


def _ephemeral(result: Any) -> list[Message]:
    items = [(item.role, item.content) for item in result.context_injections or () if item.ephemeral]
    if not items and result.context_injection:
        items = [(result.context_injection_role, result.context_injection)]
    return [{"role": role, "content": content} for role, content in items]
