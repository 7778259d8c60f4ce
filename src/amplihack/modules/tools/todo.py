"""Keep the list of what an agent has to do: `tool-todo`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from amplihack.modules.settings import ModuleSettings
from amplihack.modules.tools.tool import Properties, ShippedTool, ToolFailed
from amplihack.sessions.calls import text_of

__amplifier_module_type__ = "tool"

_STATES = ("pending", "in_progress", "completed")
_FIELDS = ("content", "status", "activeForm")
KEY = "todos"  # where hooks and displays find the list, in the state of the session


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    settings = ModuleSettings(coordinator, "tool-todo", config)
    tool = TodoTool(coordinator, settings.count("max_items", 100))
    settings.done()
    await coordinator.mount("tools", tool, name=tool.name)


class TodoTool(ShippedTool):
    name = "todo"
    description = (
        "Keep a list of what is to be done, for work of several steps. `create` and `update` replace the "
        "whole list with `todos`, `list` shows it. Each item has content ('Run the tests'), activeForm "
        "('Running the tests') and status (pending, in_progress, completed); at most one is in progress."
    )
    properties: ClassVar[Properties] = {
        "action": {"type": "string", "enum": ["create", "update", "list"]},
        "todos": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "content": {"type": "string"},
                    "activeForm": {"type": "string"},
                    "status": {"type": "string", "enum": list(_STATES)},
                },
                "required": ["content", "status"],
            },
        },
    }
    required = ("action",)

    def __init__(self, coordinator: Any, most: int) -> None:
        self._coordinator, self._most = coordinator, most

    async def run(self, given: Mapping[str, Any]) -> Any:
        state = self._coordinator.session_state
        if given["action"] == "list":
            if KEY not in state:
                state[KEY] = await self._said_before()
            return _summary(state[KEY])
        if "todos" not in given:
            raise ToolFailed(f"{given['action']} needs `todos`", fix="give the whole list")
        state[KEY] = self._checked(given["todos"])
        return _summary(state[KEY])

    async def _said_before(self) -> list[dict[str, str]]:
        """Return the list as the conversation has it: a resumed session begins with nothing else."""
        context = self._coordinator.get("context")
        for message in reversed(await context.get_messages() if context is not None else []):
            if message.get("role") == "tool" and message.get("name") == self.name:
                try:
                    return self._checked(json.loads(text_of(message))["todos"])
                except (ValueError, TypeError, KeyError, ToolFailed):  # one that failed, or was cut
                    continue
        return []

    def _checked(self, todos: list[Any]) -> list[dict[str, str]]:
        if len(todos) > self._most:
            raise ToolFailed(f"{len(todos)} items are more than {self._most}", fix="join some of them")
        items = [_item(number, each) for number, each in enumerate(todos, 1)]
        if sum(item["status"] == "in_progress" for item in items) > 1:
            raise ToolFailed("more than one item is in progress", fix="let one be in progress")
        return items


def _item(number: int, given: Any) -> dict[str, str]:
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise ToolFailed(f"item {number} is no mapping of texts", fix="give content, activeForm and status")
    if unknown := given.keys() - set(_FIELDS):
        raise ToolFailed(f"item {number} has {', '.join(sorted(unknown))}", fix=f"use {', '.join(_FIELDS)}")
    if not given.get("content", "").strip() or given.get("status") not in _STATES:
        raise ToolFailed(
            f"item {number} lacks content or a status of {', '.join(_STATES)}", fix="give it both"
        )
    return {"content": given["content"], "status": given["status"], "activeForm": given.get("activeForm", "")}


def _summary(items: list[dict[str, str]]) -> dict[str, Any]:
    counts = {state: sum(item["status"] == state for item in items) for state in _STATES}
    return {"todos": items, "count": len(items), **counts}
