"""Connect to an MCP server, with a limit for what one answer may be: a server may send without end.

The SDK's own way to read a process takes quadratic time for a long line, and holds up everything meanwhile.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, TextIO

from amplihack.records import Record

_LARGEST_ANSWER = 32_000_000  # bytes
_AT_ONCE = 1_048_576
_ENDS = 2_000  # bytes at the beginning and the end of a message that are looked at for its id
_LOOK = 0.01  # seconds between two looks
_GRACE = 2.0  # seconds for a server to leave after its input has ended
_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.){0,200}"|\d{1,18})')
_TOO_LARGE = -32_000  # a code that JSON-RPC leaves to us


class ServerCommand(Record, kw_only=True):
    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str


@asynccontextmanager
async def process_streams(
    command: ServerCommand, errors: TextIO, end: Callable[[], Awaitable[object]]
) -> AsyncIterator[tuple[Any, Any]]:
    """Start a server and yield the streams of its messages, as the SDK wants them. Raises OSError.

    It is asked to leave by the end of its input; `end` ends it if it stays.
    """
    import anyio  # deferred, as the SDK that brings it
    from mcp.client.stdio import get_default_environment

    process = await asyncio.create_subprocess_exec(
        *command.argv,
        env={**get_default_environment(), **command.env},
        cwd=command.cwd,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=errors,
        start_new_session=True,
        limit=_AT_ONCE,
    )
    heard, said = anyio.create_memory_object_stream[Any](0), anyio.create_memory_object_stream[Any](0)
    work = [
        asyncio.create_task(_read(process.stdout, heard[0])),
        asyncio.create_task(_write(process.stdin, said[1], heard[0])),
    ]
    try:
        yield heard[1], said[0]
    finally:
        for stream in (*heard, *said):
            stream.close()
        if process.stdin is not None:
            process.stdin.close()
        if not await _has_left(process):
            await end()
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)
        transport: Any = getattr(process, "_transport", None)
        transport.close()  # something else may hold its pipes, and would keep them open here


async def _has_left(process: Any) -> bool:
    """Tell whether it ends by itself. Waiting for it would wait for whoever else holds its output."""
    deadline = asyncio.get_running_loop().time() + _GRACE
    while process.returncode is None and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110 - no event
        await asyncio.sleep(_LOOK)
    return process.returncode is not None


async def _read(source: Any, session: Any) -> None:
    """Pass each line on as a message. The end of the output is the end of the connection."""
    from anyio import BrokenResourceError, ClosedResourceError
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    with session, suppress(BrokenResourceError, ClosedResourceError):
        async for line in whole_lines(source):
            try:
                message: Any = SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
            except ValueError as error:  # no message: the SDK hears of it, and goes on
                message = error
            await session.send(message)
    while await source.read(_AT_ONCE):  # a server that still writes could not leave otherwise
        pass


async def _write(target: Any, session: Any, heard: Any) -> None:
    """Send each message. A server that hears no more gives no answers either: the connection is closed."""
    from anyio import ClosedResourceError

    try:
        async for message in session:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            target.write(text.encode() + b"\n")
            await target.drain()
    except (OSError, ClosedResourceError):
        heard.close()


async def whole_lines(source: Any, most: int = _LARGEST_ANSWER) -> AsyncIterator[bytes]:
    """Yield each line. In place of one that is too long comes an error for who waits for it."""
    pieces: list[bytes] = []
    size = 0
    tail = b""
    while chunk := await source.read(_AT_ONCE):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            if size + len(end) > most:
                yield _too_large(b"".join(pieces)[:_ENDS], (tail + end)[-_ENDS:], size + len(end))
            else:
                yield b"".join((*pieces, end))
            pieces, size, tail = [], 0, b""
        size += len(rest)
        tail = (tail + rest)[-_ENDS:]
        if size <= most or not pieces:
            pieces.append(rest[:_ENDS] if size > most else rest)
        else:
            pieces = [b"".join(pieces)[:_ENDS]]
    # what has no end is no message


def _too_large(head: bytes, tail: bytes, size: int) -> bytes:
    found = _ID.search(head) or next(reversed(list(_ID.finditer(tail))), None)
    what = f"the answer has {size} bytes, and more than {_LARGEST_ANSWER} are not read"
    number = found.group(1) if found else b"null"
    return b'{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"%s"}}' % (
        number,
        _TOO_LARGE,
        what.encode(),
    )


@asynccontextmanager
async def service_streams(url: str, headers: Mapping[str, str]) -> AsyncIterator[tuple[Any, Any]]:
    """Connect to a service and yield the streams of its messages. A larger answer fails its call."""
    import httpx2  # deferred, as above
    from mcp.client.streamable_http import streamable_http_client

    class Limited(httpx2.AsyncByteStream):
        def __init__(self, source: Any) -> None:
            self._source = source

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for piece in self._source:
                size += len(piece)
                if size > _LARGEST_ANSWER:
                    raise httpx2.StreamError(f"the answer has more than {_LARGEST_ANSWER} bytes")
                yield piece

        async def aclose(self) -> None:
            await self._source.aclose()

    async def limit(response: Any) -> None:
        if "event-stream" not in response.headers.get("content-type", ""):  # of those, each event has a limit
            response.stream = Limited(response.stream)

    timeout = httpx2.Timeout(30.0, read=300.0)
    async with (
        httpx2.AsyncClient(
            headers=dict(headers), timeout=timeout, event_hooks={"response": [limit]}
        ) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=_LARGEST_ANSWER) as streams,
    ):
        yield streams
