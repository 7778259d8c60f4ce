"""Tools of MCP servers, as tools of the session."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from amplifier_core import ToolResult

from amplihack.errors import AmplihackError
from amplihack.modules.tools.mcp.server import McpServer
from amplihack.modules.tools.tool import Properties, ShippedTool, refused
from amplihack.sessions.compaction import shortened

_LONGEST_NAME = 64
_LONGEST_DESCRIPTION = 2_000


class ServersTool(ShippedTool):
    name = "mcp"
    description = "List the MCP servers of this session, their tools, and those that cannot be used."
    properties: ClassVar[Properties] = {}

    def __init__(self, servers: Sequence[McpServer]) -> None:
        self._servers = servers

    async def run(self, given: Mapping[str, Any]) -> Any:
        del given
        return {
            server.settings.name: {"problem": server.problem}
            if server.problem
            else {"tools": [tool.name for tool in server.tools]}
            for server in self._servers
        }


class RemoteTool:
    """One tool of a server. Its own schema is shown to the model, and checked by the server."""

    def __init__(self, server: McpServer, description: Any) -> None:
        self._server, self._remote = server, description.name
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", f"mcp_{server.settings.name}_{description.name}")
        self.name = plain[:_LONGEST_NAME]
        self.description = (description.description or f"{description.name} of {server.settings.name}")[
            :_LONGEST_DESCRIPTION
        ]
        self.input_schema: dict[str, Any] = description.input_schema or {"type": "object"}

    async def execute(self, arguments: Mapping[str, Any] | None) -> Any:
        try:
            result = await self._server.call(self._remote, arguments or {})
        except AmplihackError as error:
            return refused(f"{error.what}; {error.fix}")
        return self._converted(result)

    def _converted(self, result: Any) -> Any:
        most = self._server.settings.most_characters
        blocks = [block.model_dump() for block in result.content]
        text = shortened("\n".join(_text(block) for block in blocks if block.get("type") != "image"), most)
        if result.is_error:
            return refused(text or "the tool failed without a word")
        pictures = [_picture(block) for block in blocks if block.get("type") == "image"]
        if not pictures:
            return ToolResult(success=True, output=text)
        return ToolResult(success=True, output=text, content=[{"type": "text", "text": text}, *pictures])


def _text(block: Mapping[str, Any]) -> str:
    match block.get("type"):
        case "text":
            return str(block.get("text", ""))
        case "resource":
            resource = block.get("resource") or {}
            return str(resource.get("text") or f"[{resource.get('uri')}: {resource.get('mime_type')}]")
        case "resource_link":
            return f"[{block.get('uri')}]"
        case kind:
            return f"[{kind} of {block.get('mime_type')}]"


def _picture(block: Mapping[str, Any]) -> dict[str, Any]:
    source = {"type": "base64", "media_type": block.get("mime_type"), "data": block.get("data")}
    return {"type": "image", "source": source}
