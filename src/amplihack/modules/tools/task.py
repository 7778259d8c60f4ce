"""Hand work to another agent, in the older form of the tool: `tool-task`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from amplihack.modules.settings import ModuleSettings
from amplihack.modules.tools.delegate import ALSO, GROUPS, DelegateTool, delegate_settings, mount_delegation
from amplihack.modules.tools.tool import Properties

__amplifier_module_type__ = "tool"


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    settings = ModuleSettings(coordinator, "tool-task", config, also=ALSO, groups=GROUPS)
    chosen = delegate_settings(settings)
    settings.done()
    await mount_delegation(coordinator, TaskTool(coordinator, chosen), "task")


class TaskTool(DelegateTool):
    name: ClassVar[str] = "task"
    prefix: ClassVar[str] = "task"
    properties: ClassVar[Properties] = {
        "agent": DelegateTool.properties["agent"],
        "instruction": DelegateTool.properties["instruction"],
        "session_id": DelegateTool.properties["session_id"],
        "inherit_context": DelegateTool.properties["context_depth"],
    }

    async def run(self, given: Mapping[str, Any]) -> Any:
        renamed = {key: value for key, value in given.items() if key != "inherit_context"}
        return await super().run({**renamed, "context_depth": given.get("inherit_context", "none")})
