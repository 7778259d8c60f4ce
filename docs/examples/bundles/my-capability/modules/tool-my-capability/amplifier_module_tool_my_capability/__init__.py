"""A tool that says back what it is given."""

from typing import Any

from amplifier_core import ToolResult


class MyTool:
    def __init__(self, greeting: str) -> None:
        self.greeting = greeting

    @property
    def name(self) -> str:
        return "my_capability"

    @property
    def description(self) -> str:
        return "Does X with what it is given."

    @property
    def input_schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"param": {"type": "string"}}, "required": ["param"]}

    async def execute(self, input_data: dict[str, Any]) -> ToolResult:
        return ToolResult(success=True, output=f"{self.greeting}: {input_data['param']}")


async def mount(coordinator: Any, config: dict[str, Any] | None = None) -> dict[str, Any]:
    tool = MyTool((config or {}).get("greeting", "X"))
    await coordinator.mount("tools", tool, name=tool.name)
    return {"name": "tool-my-capability", "version": "0.1.0", "provides": [tool.name]}
