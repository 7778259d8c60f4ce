"""Lend the approval and display systems of a host to a session in another process."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

_LINE = 16 << 20  # bytes of a question or a message


@asynccontextmanager
async def lent_host(directory: Path, approvals: Any, display: Any) -> AsyncIterator[str]:
    """Yield an address in a private directory where a child reaches the two; empty if there is neither."""
    if approvals is None and display is None:
        yield ""
        return
    address = str(directory / "host")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = json.loads(await reader.readline())
            if "message" in asked:
                display.show_message(asked["message"], asked["level"], asked["source"])
            else:
                writer.write(json.dumps(await _answer(approvals, asked)).encode() + b"\n")
                await writer.drain()
        finally:
            writer.close()

    server = await asyncio.start_unix_server(serve, address, limit=_LINE)
    try:
        yield address
    finally:
        server.close()
        await server.wait_closed()


async def _answer(approvals: Any, asked: dict[str, Any]) -> dict[str, Any]:
    from amplifier_core.approval import ApprovalTimeoutError

    try:
        words = (asked["prompt"], asked["options"], asked["timeout"], asked["default"])
        return {"answer": str(await approvals.request_approval(*words))}
    except (ApprovalTimeoutError, TimeoutError):
        return {"late": True}
    except Exception as error:  # noqa: BLE001 - the child is told, whatever it is
        return {"error": f"{type(error).__name__}: {error}"}


class DistantApprovals:
    """Asks the host of the parent process."""

    def __init__(self, address: str) -> None:
        self._address = address

    async def request_approval(
        self,
        prompt: str,
        options: Sequence[str],
        timeout: float,  # noqa: ASYNC109 - the kernel calls it so
        default: str,
    ) -> str:
        from amplifier_core.approval import ApprovalTimeoutError

        asked = {"prompt": prompt, "options": list(options), "timeout": timeout, "default": default}
        reader, writer = await asyncio.open_unix_connection(self._address, limit=_LINE)
        try:
            writer.write(json.dumps(asked).encode() + b"\n")
            await writer.drain()
            found = json.loads(await reader.readline() or '{"error": "the host has gone"}')
        finally:
            writer.close()
        if "answer" in found:
            return str(found["answer"])
        if "late" in found:
            raise ApprovalTimeoutError(f"no answer within {timeout:g} s")
        raise RuntimeError(f"the approval could not be asked for: {found['error']}")


class DistantDisplay:
    """Shows messages where the parent process shows its own."""

    def __init__(self, address: str) -> None:
        self._address = address

    def show_message(self, message: str, level: str, source: str = "") -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.connect(self._address)
            told = {"message": message, "level": level, "source": source}
            line.sendall(json.dumps(told).encode() + b"\n")
