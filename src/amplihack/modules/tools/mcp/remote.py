"""Offer the tools of MCP servers as tools of the session."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar

from amplifier_core import ToolResult

from amplihack.errors import AmplihackError
from amplihack.modules.tools.mcp.server import McpServer
from amplihack.modules.tools.tool import Properties, ShippedTool, refused
from amplihack.sessions.compaction import shortened

_LONGEST_NAME = 64
_LONGEST_DESCRIPTION = 2_000
_HASH = 8  # characters
_LARGEST_SCHEMA = 50_000  # characters
_LARGEST_PICTURE = 5_000_000  # characters of base64
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


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


def remote_tools(servers: Sequence[McpServer]) -> Iterator[RemoteTool | str]:
    """Yield the tools that can be used, each with a name of its own, and what is wrong with the others."""
    taken: set[str] = set()
    for server in servers:
        known: set[str] = set()
        for description in server.tools:
            if problem := _problem(description, known):
                what = f"the tool {description.name[:_LONGEST_NAME]!r} of the server {server.settings.name}"
                yield f"{what} is left out: {problem}"
                continue
            known.add(description.name)
            tool = RemoteTool(server, description, taken)
            taken.add(tool.name)
            yield tool


def _problem(description: Any, known: AbstractSet[str]) -> str:
    if not description.name.strip() or description.name in known:
        return "it has the name of another one, or none"
    if len(json.dumps(description.input_schema)) > _LARGEST_SCHEMA:
        return "its schema is too large"
    return ""


def _tool_name(server: str, tool: str, taken: AbstractSet[str]) -> str:
    """Return a name that providers accept. Of two that would be the same, the second gets a hash."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", f"mcp_{server}_{tool}")
    if len(plain) <= _LONGEST_NAME and plain not in taken:
        return plain
    digest = hashlib.sha256(f"{server}\0{tool}".encode()).hexdigest()[:_HASH]
    return f"{plain[: _LONGEST_NAME - _HASH - 1]}_{digest}"


class RemoteTool:
    """One tool of a server. Its own schema is shown to the model, and checked by the server."""

    def __init__(self, server: McpServer, description: Any, taken: AbstractSet[str]) -> None:
        self._server, self._remote = server, description.name
        self.name = _tool_name(server.settings.name, description.name, taken)
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
        pictures = [_picture(block) for block in blocks if _is_picture(block)]
        said = "\n".join(_text(block) for block in blocks if not _is_picture(block))
        if not blocks and result.structured_content is not None:
            said = json.dumps(result.structured_content, ensure_ascii=False)
        text = shortened(said, most)
        if result.is_error:
            return refused(text or "the tool failed without a word")
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


def _is_picture(block: Mapping[str, Any]) -> bool:
    """Tell whether it is a picture that providers take: with another they refuse the conversation."""
    data = block.get("data")
    if block.get("type") != "image" or block.get("mime_type") not in _PICTURES:
        return False
    if not isinstance(data, str) or not 0 < len(data) <= _LARGEST_PICTURE:
        return False
    try:
        base64.b64decode(data, validate=True)
    except ValueError:
        return False
    return True


def _picture(block: Mapping[str, Any]) -> dict[str, Any]:
    source = {"type": "base64", "media_type": block.get("mime_type"), "data": block.get("data")}
    return {"type": "image", "source": source}
