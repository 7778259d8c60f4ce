"""Use the tools of MCP servers, with the official SDK: `tool-mcp`.

    config:
      servers:
        files: {command: npx, args: [some-server, "."]}     # a process of its own
        search: {url: "http://127.0.0.1:8000/mcp"}          # a service

Mounting starts nothing. When the session is ready each server is started once, all at the same time, and each
of its tools is mounted as `mcp_<server>_<tool>`. The tool `mcp` tells what there is and what is missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from amplihack.modules.notices import tell
from amplihack.modules.providers.api import require_package
from amplihack.modules.settings import ModuleSettings
from amplihack.modules.tools.mcp.remote import ServersTool, remote_tools
from amplihack.modules.tools.mcp.server import McpServer, ServerSettings

__amplifier_module_type__ = "tool"

_NAME = "tool-mcp"
_STATE = "mcp_servers"
_KEYS = {"command", "args", "env", "cwd", "url", "headers", "type", "transport", "disabled"}
_TRANSPORTS = {"stdio", "http", "streamable-http", "streamable_http"}


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Any:
    require_package("mcp", "mcp")
    settings = ModuleSettings(coordinator, _NAME, config)
    seconds = settings.seconds("timeout", 60.0) or 60.0
    most = settings.count("max_result_characters", 100_000, least=100)
    found = [
        _server(settings, name, given, seconds, most) for name, given in settings.mapping("servers").items()
    ]
    settings.done()
    servers = [McpServer(each, coordinator) for each in found if each is not None]
    await coordinator.mount("tools", ServersTool(servers), name=ServersTool.name)
    coordinator.session_state[_STATE] = servers

    async def close() -> None:
        await asyncio.gather(*(server.close() for server in servers))

    return close


async def on_session_ready(coordinator: Any) -> None:
    """Start the servers and mount their tools. One that does not start is told, and the others go on."""
    servers: list[McpServer] = coordinator.session_state.get(_STATE, [])
    await asyncio.gather(*(server.start() for server in servers))
    for found in remote_tools(servers):
        if isinstance(found, str):
            tell(coordinator, _NAME, found)
        else:
            await coordinator.mount("tools", found, name=found.name)


def _server(
    settings: ModuleSettings, name: str, given: Any, seconds: float, most: int
) -> ServerSettings | None:
    if not isinstance(given, Mapping) or bool(given.get("command")) == bool(given.get("url")):
        settings.wrong(f"the server {name!r} needs either `command` or `url`")
        return None
    if unknown := given.keys() - _KEYS:
        settings.wrong(
            f"the server {name!r} has {', '.join(sorted(unknown))}: it knows {', '.join(sorted(_KEYS))}"
        )
        return None
    kind = str(given.get("type") or given.get("transport") or ("http" if given.get("url") else "stdio"))
    if kind not in _TRANSPORTS or (kind == "stdio") != bool(given.get("command")):
        settings.wrong(
            f"the server {name!r} cannot be of the type {kind!r}: a command is stdio, a url is http"
        )
        return None
    headers = given.get("headers") or {}
    if not isinstance(headers, Mapping) or (headers and not given.get("url")):
        settings.wrong(f"the server {name!r}: `headers` are a mapping, and go with `url`")
        return None
    if given.get("disabled") is True:
        return None
    return ServerSettings(
        name=str(name),
        command=str(given.get("command", "")),
        arguments=tuple(map(str, given.get("args") or ())),
        environment={str(key): str(value) for key, value in (given.get("env") or {}).items()},
        directory=str(given.get("cwd", "")),
        url=str(given.get("url", "")),
        headers={str(key): str(value) for key, value in headers.items()},
        seconds=seconds,
        most_characters=most,
    )
