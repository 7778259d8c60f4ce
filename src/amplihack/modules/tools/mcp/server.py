"""Hold the connection to one MCP server, in a task of its own."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from typing import IO, Any

from amplihack.modules.notices import tell
from amplihack.modules.tools.tool import ToolFailed, working_dir
from amplihack.records import Record

_LAST_WORDS = 500  # characters


class ServerSettings(Record, kw_only=True):
    name: str
    command: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    directory: str
    url: str
    seconds: float
    most_characters: int


class McpServer:
    """A server: started once, and ended with the session. `problem` says why it cannot be used."""

    def __init__(self, settings: ServerSettings, coordinator: Any) -> None:
        self.settings, self._coordinator = settings, coordinator
        self.tools: list[Any] = []
        self.problem = "it is not started yet"
        self._client: Any = None
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._stderr: IO[str] | None = None  # what the process says beside the protocol

    async def start(self) -> None:
        """Start it and ask for its tools. Never raises: what is wrong is in `problem`, and told."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._hold(ready))
        try:
            async with asyncio.timeout(self.settings.seconds):
                await asyncio.shield(ready)
        except TimeoutError:
            self.problem = f"it did not answer within {self.settings.seconds:g} seconds"
            await self.close()
        except Exception as error:  # noqa: BLE001 - a server of somebody else's; the session goes on without it
            self.problem = self._explained(error)
        else:
            self.problem = ""
        if self.problem:
            tell(
                self._coordinator,
                "tool-mcp",
                f"the server {self.settings.name} cannot be used: {self.problem}",
            )

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """Return the result of a tool. Raises ToolFailed."""
        if self.problem or self._client is None:
            raise ToolFailed(
                f"the server {self.settings.name} cannot be used: {self.problem}", fix="do without it"
            )
        try:
            return await self._client.call_tool(
                tool, dict(arguments), read_timeout_seconds=self.settings.seconds
            )
        except Exception as error:
            raise ToolFailed(
                f"the server {self.settings.name} failed: {self._explained(error)}", fix="try another way"
            ) from error

    async def close(self) -> None:
        """End it. The task that opened the connection closes it, as the SDK wants it."""
        self._stop.set()
        if self._task is not None:
            _, running = await asyncio.wait([self._task], timeout=10)
            for task in running:
                task.cancel()
            self._task = None
        self._client = None
        if self._stderr is not None:
            self._stderr.close()
            self._stderr = None

    async def _hold(self, ready: asyncio.Future[None]) -> None:
        try:
            from mcp import Client  # deferred: takes a second

            async with Client(self._target()) as client:
                self.tools = list((await client.list_tools()).tools)
                self._client = client
                if not ready.done():
                    ready.set_result(None)
                await self._stop.wait()
        except Exception as error:  # noqa: BLE001 - told to who waits, or found by the next call
            if not ready.done():
                ready.set_exception(error)
            else:
                self.problem = self._explained(error)

    def _target(self) -> Any:
        from mcp.client.stdio import StdioServerParameters, stdio_client

        if self.settings.url:
            return self.settings.url
        self._stderr = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - `close`
        parameters = StdioServerParameters(
            command=self.settings.command,
            args=list(self.settings.arguments),
            env=dict(self.settings.environment) or None,  # beside the few variables that the SDK passes on
            cwd=str(working_dir(self._coordinator) / self.settings.directory),
        )
        return stdio_client(parameters, errlog=self._stderr)

    def _explained(self, error: BaseException) -> str:
        """Return what happened, with the last words of the process."""
        said = ""
        if self._stderr is not None and not self._stderr.closed:
            self._stderr.seek(0)
            said = " ".join(self._stderr.read()[-_LAST_WORDS:].split())
        return f"{_reason(error)} ({said})" if said else _reason(error)


def _reason(error: BaseException) -> str:
    """Return what happened, from inside the groups that the SDK wraps it in."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return str(error) or type(error).__name__
