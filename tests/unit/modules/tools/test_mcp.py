"""The client against real servers of the official SDK: as a process, and over HTTP."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.kernel_sessions import opened, plan

pytestmark = pytest.mark.asyncio

SERVER = """
import os, sys
from mcp.server.mcpserver import MCPServer, Image

server = MCPServer("test")

@server.tool()
def add(a: int, b: int) -> str:
    \"\"\"Add two numbers.\"\"\"
    return f"sum: {a + b}"

@server.tool()
def fail() -> str:
    raise ValueError("it went wrong")

@server.tool()
def flood() -> str:
    return "x" * 1_000_000

@server.tool()
def environment() -> str:
    return ",".join(os.environ)

@server.tool()
def die() -> str:
    os._exit(3)

if len(sys.argv) > 1:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
else:
    server.run("stdio")
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "server.py"
    path.write_text(SERVER)
    return path


def using(servers: dict[str, Any], *calls: tuple[str, dict[str, Any]], **config: Any) -> dict[str, Any]:
    steps: list[Any] = [{"tools": [{"name": name, "input": given}]} for name, given in calls]
    module = {"module": "tool-mcp", "config": {"servers": servers, "timeout": 300, **config}}
    return plan(steps=[*steps, {"text": "ok"}], tools=[module])


def by_process(script: Path) -> dict[str, Any]:
    return {"test": {"command": sys.executable, "args": [str(script)]}}


async def results(given: dict[str, Any], working_dir: Path) -> list[Any]:
    async with opened(given, working_dir=working_dir) as stage:
        assert await stage.say("go") == "ok"
        return [each["content"] for each in await stage.messages() if each["role"] == "tool"]


async def test_tools_of_a_process_are_called(script: Path, tmp_path: Path) -> None:
    given = using(
        by_process(script),
        ("mcp_test_add", {"a": 2, "b": 3}),
        ("mcp_test_fail", {}),
        ("mcp_test_add", {"a": "x"}),
    )
    found = await results(given, tmp_path)
    assert found[0] == "sum: 5"
    assert found[1] == "Error executing tool fail"
    assert "mcp_test" not in found[2]
    assert found[2]


async def test_a_large_result_is_cut_and_keys_do_not_reach_the_server(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    given = using(
        by_process(script), ("mcp_test_flood", {}), ("mcp_test_environment", {}), max_result_characters=1_000
    )
    flood, environment = await results(given, tmp_path)
    assert len(flood) < 1_100
    assert "characters left out" in flood
    assert "SOME_API_KEY" not in environment


async def test_servers_end_with_the_session(script: Path, tmp_path: Path) -> None:
    async with opened(using(by_process(script)), working_dir=tmp_path) as stage:
        assert "mcp_test_add" in stage.coordinator.get("tools")
    assert running(script) == []


def running(script: Path) -> list[Path]:
    return [path for path in Path("/proc").glob("[0-9]*/cmdline") if str(script).encode() in read(path)]


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


async def test_a_server_that_does_not_start_is_told_and_the_others_go_on(
    script: Path, tmp_path: Path
) -> None:
    servers = {**by_process(script), "gone": {"command": str(tmp_path / "nothing")}}
    given = using(servers, ("mcp_test_add", {"a": 1, "b": 1}), ("mcp", {}))
    async with opened(given, working_dir=tmp_path) as stage:
        assert await stage.say("go") == "ok"
        assert any("the server gone cannot be used" in line for line in stage.shown.lines)
        found = [each["content"] for each in await stage.messages() if each["role"] == "tool"]
        assert found[0] == "sum: 2"
        assert '"gone": {"problem"' in found[1]


async def test_the_last_words_of_a_server_are_told_and_not_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    servers = {"broken": {"command": "bash", "args": ["-c", "echo no such luck >&2; exit 3"]}}
    async with opened(using(servers), working_dir=tmp_path) as stage:
        assert any("no such luck" in line for line in stage.shown.lines)
    assert "no such luck" not in capfd.readouterr().err


async def test_a_server_that_dies_fails_its_calls_only(script: Path, tmp_path: Path) -> None:
    given = using(by_process(script), ("mcp_test_die", {}), ("mcp_test_add", {"a": 1, "b": 1}))
    found = await results(given, tmp_path)
    assert "the server test" in found[0]
    assert "the server test" in found[1]


@pytest.fixture
def service(script: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, str(script), str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "NO_PROXY": "127.0.0.1"},
    )
    try:
        for _ in range(600):
            with socket.socket() as attempt:
                if attempt.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


async def test_tools_of_a_service_are_called(service: str, tmp_path: Path) -> None:
    given = using({"web": {"url": service}}, ("mcp_web_add", {"a": 4, "b": 4}))
    assert await results(given, tmp_path) == ["sum: 8"]


@pytest.mark.parametrize("wrong", [{}, {"command": "a", "url": "b"}, {"command": "a", "argv": []}, "text"])
async def test_a_wrong_server_is_refused(wrong: Any) -> None:
    with pytest.raises(AssertionError, match="the server"):
        async with opened(using({"x": wrong})):
            pass
