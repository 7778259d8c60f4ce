"""Hold the connection to one MCP server, in a task of its own."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from amplihack.modules.notices import tell
from amplihack.modules.tools.mcp.connection import ServerCommand, process_streams, service_streams
from amplihack.modules.tools.mcp.last_words import LastWords
from amplihack.modules.tools.tool import ToolFailed, working_dir
from amplihack.records import Record
from amplihack.system.limit_marks import Sign
from amplihack.system.process_marks import VARIABLE, command_mark, with_mark
from amplihack.system.process_tree import end_tree

_UNHEARD = logging.NullHandler()
_MOST_TOOLS = 500  # of one server; each is told to the model with every request
_MOST_WRONG = 3  # places of an answer that are told
_GRACE = 2.0  # seconds for what a server has left behind
_PATIENCE = 20.0  # seconds for a server to end; it is insisted on after some 5


class ServerSettings(Record, kw_only=True):
    name: str
    command: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    directory: str
    url: str
    headers: Mapping[str, str]
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
        self._stderr: LastWords | None = None  # what the process says beside the protocol
        self._mark = command_mark(f"mcp {settings.name}")

    async def start(self) -> None:
        """Start it and ask for its tools. Never raises: what is wrong is in `problem`, and told."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._hold(ready))
        try:
            async with asyncio.timeout(self.settings.seconds):
                await asyncio.shield(ready)
        except TimeoutError:
            problem = self._with_last_words(f"it did not answer within {self.settings.seconds:g} seconds")
            ready.cancel()
            await self.close()
            self.problem = problem
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
            if self._client is None:  # it is still starting, and hears nothing else
                self._task.cancel()
            _, running = await asyncio.wait([self._task], timeout=_PATIENCE)
            for task in running:
                task.cancel()
            self._task = None
            if not self.settings.url:
                await end_tree(Sign(self._mark), grace=_GRACE)
        self._client = None
        if self._stderr is not None:
            self._stderr.close()
            self._stderr = None

    async def _hold(self, ready: asyncio.Future[None]) -> None:
        try:
            from mcp import Client  # deferred: takes a second

            logging.getLogger("mcp").addHandler(_UNHEARD)  # else its tracebacks are printed
            async with Client(self._target()) as client:
                self.tools = await _all_tools(client)
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
        if self.settings.url:
            return service_streams(self.settings.url, self.settings.headers)
        self._stderr = LastWords()
        command = ServerCommand(
            argv=(self.settings.command, *self.settings.arguments),
            # beside the few variables that the SDK passes on
            env={**self.settings.environment, VARIABLE: with_mark(os.environ, self._mark)},
            cwd=str(working_dir(self._coordinator) / self.settings.directory),
        )
        return process_streams(command, self._stderr.writer, lambda: end_tree(Sign(self._mark), grace=_GRACE))

    def _explained(self, error: BaseException) -> str:
        """Return what happened, with the last words of the process."""
        return self._with_last_words(_reason(error))

    def _with_last_words(self, what: str) -> str:
        said = self._stderr.text() if self._stderr is not None else ""
        return f"{what} ({said})" if said else what


async def _all_tools(client: Any) -> list[Any]:
    """Return the tools of all pages, up to a limit: a server may give pages without end."""
    found: list[Any] = []
    cursor: str | None = None
    while len(found) <= _MOST_TOOLS:
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        if not page.next_cursor or not page.tools or page.next_cursor == cursor:
            return found
        cursor = page.next_cursor
    raise ToolFailed(f"it has more than {_MOST_TOOLS} tools", fix="use a server with fewer")


def _reason(error: BaseException) -> str:
    """Return what happened, from inside the groups that the SDK wraps it in."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    if isinstance(error, ValidationError):
        wrong = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:_MOST_WRONG]]
        return f"its answer has a wrong shape: {'; '.join(wrong)}"
    return str(error) or type(error).__name__
