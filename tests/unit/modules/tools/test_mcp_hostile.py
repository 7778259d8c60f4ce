"""Servers that lie, hang, flood and die: the session goes on, tells it, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from amplifier_core import create_test_coordinator
from tests.support.kernel_sessions import opened, plan

from amplihack.modules.settings import ModuleConfigError
from amplihack.modules.tools import mcp
from amplihack.modules.tools.mcp.connection import whole_lines

pytestmark = pytest.mark.asyncio

SERVER = """
import json, os, signal, subprocess, sys, threading, time

mode = sys.argv[1]
schema = {"type": "object", "properties": {}}
names = {
    "twins": ["a.b", "a_b", "a_b", "x" * 200 + "1", "x" * 200 + "2", "", "../../etc/passwd", "\\x1b[31mred"],
}.get(mode, ["go"])

def tools(cursor):
    if mode == "pages":
        number = int(cursor or 0)
        return {"tools": [{"name": f"t{number}", "inputSchema": schema}], "nextCursor": str(number + 1)}
    if mode == "two_pages" and cursor is None:
        return {"tools": [{"name": "first", "inputSchema": schema}], "nextCursor": "2"}
    if mode == "schemas":
        return {"tools": [{"name": "go", "inputSchema": {"type": "string"}}]}
    if mode == "large_schema":
        large = {"type": "object", "description": "x" * 100_000}
        return {"tools": [{"name": "large", "inputSchema": large}, {"name": "go", "inputSchema": schema}]}
    if mode == "no_list":
        return {"tools": "none"}
    return {"tools": [{"name": name, "inputSchema": schema} for name in names]}

def result():
    if mode == "shape":
        return {"content": "not a list"}
    if mode == "pictures":
        wrong = [("text/html", "AAAA"), ("image/png", "no base64!"), ("image/png", "A" * 8_000_000)]
        return {"content": [{"type": "image", "mimeType": kind, "data": data} for kind, data in wrong]}
    if mode == "structured":
        return {"content": [], "structuredContent": {"answer": 42}}
    if mode == "huge":
        return {"content": [{"type": "text", "text": "x" * 100_000_000}]}
    if mode == "flood":
        return {"content": [{"type": "text", "text": "x" * 20_000_000}]}
    if mode == "hang_in_call":
        time.sleep(600)
    if mode == "die_in_call":
        os._exit(3)
    if mode == "garbage":
        sys.stdout.write("this is no JSON\\n" * 3)
    return {"content": [{"type": "text", "text": "done"}]}

if mode == "hang_at_start":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)
if mode == "die_at_start":
    sys.exit("\\x1b[31mno such luck")
if mode == "stderr":
    def shout():
        while True:
            os.write(2, b"noise " * 10_000)
    threading.Thread(target=shout, daemon=True).start()
if mode == "children":
    subprocess.Popen(["sleep", "600.125"], start_new_session=True, stdin=-3, stdout=-3, stderr=-3)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method = asked["method"]
    if method == "initialize":
        version = asked["params"]["protocolVersion"]
        answer = {"protocolVersion": version, "capabilities": {"tools": {}}}
        answer["serverInfo"] = {"name": "x", "version": "1"}
    elif method == "tools/list":
        answer = tools((asked.get("params") or {}).get("cursor"))
    elif method == "tools/call":
        answer = result()
    else:
        error = {"code": -32601, "message": "unknown"}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
if mode == "hang_on_close":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)
"""


class Seen:
    def __init__(self, results: list[Any], lines: list[str], tools: list[str]) -> None:
        self.results, self.lines, self.tools = results, lines, tools
        self.told = "\n".join(lines)


async def seen(mode: str, tmp_path: Path, *calls: str, seconds: float = 60) -> Seen:
    """Return what a session sees of such a server. It always ends, and the server with it."""
    script = tmp_path / "hostile.py"
    script.write_text(SERVER)
    servers = {"bad": {"command": sys.executable, "args": [str(script), mode]}}
    module = {"module": "tool-mcp", "config": {"servers": servers, "timeout": seconds}}
    steps: list[Any] = [{"tools": [{"name": name, "input": {}}]} for name in calls]
    async with asyncio.timeout(300):
        async with opened(
            plan(steps=[*steps, {"text": "ok"}], tools=[module]), working_dir=tmp_path
        ) as stage:
            assert await stage.say("go") == "ok"
            results = [each["content"] for each in await stage.messages() if each["role"] == "tool"]
            found = Seen(results, list(stage.shown.lines), sorted(stage.coordinator.get("tools")))
    assert left(str(script)) == []
    return found


def left(text: str) -> list[bytes]:
    """Return the commands of running processes with this text in them."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes()
        except OSError:
            continue
        if text.encode() in command:
            found.append(command)
    return found


async def test_each_tool_has_a_name_of_its_own_that_providers_accept(tmp_path: Path) -> None:
    found = await seen("twins", tmp_path)
    names = [name for name in found.tools if name.startswith("mcp_")]
    assert len(names) == 6
    assert {"mcp_bad_a_b", "mcp_bad_______etc_passwd"} <= set(names)
    assert all(len(name) <= 64 and name.replace("-", "_").isidentifier() for name in names)
    assert found.told.count("is left out: it has the name of another one, or none") == 2


async def test_a_tool_that_would_fill_each_request_is_left_out_and_told(tmp_path: Path) -> None:
    found = await seen("large_schema", tmp_path, "mcp_bad_go")
    assert found.results == ["done"]
    assert "mcp_bad_large" not in found.tools
    assert "the tool 'large' of the server bad is left out: its schema is too large" in found.told


async def test_all_pages_are_asked_for(tmp_path: Path) -> None:
    found = await seen("two_pages", tmp_path, "mcp_bad_go")
    assert "mcp_bad_first" in found.tools
    assert found.results == ["done"]


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ("pages", "it has more than 500 tools"),
        ("no_list", "its answer has a wrong shape: tools: "),
        ("schemas", "its answer has a wrong shape: tools.0.inputSchema.type: "),
        ("die_at_start", "Connection closed ([31mno such luck)"),
    ],
)
async def test_a_server_that_cannot_be_used_is_told(mode: str, told: str, tmp_path: Path) -> None:
    found = await seen(mode, tmp_path)
    assert f"the server bad cannot be used: {told}" in found.told
    assert [name for name in found.tools if name.startswith("mcp_")] == []


async def test_a_server_that_hangs_at_its_start_is_ended(tmp_path: Path) -> None:
    found = await seen("hang_at_start", tmp_path, seconds=3)
    assert "it did not answer within 3 seconds" in found.told


@pytest.mark.parametrize("mode", ["shape", "die_in_call"])
async def test_a_call_without_a_result_fails_alone(mode: str, tmp_path: Path) -> None:
    found = await seen(mode, tmp_path, "mcp_bad_go")
    assert found.results[0].startswith("the server bad failed: ")


async def test_a_call_that_hangs_is_given_up(tmp_path: Path) -> None:
    found = await seen("hang_in_call", tmp_path, "mcp_bad_go", seconds=30)
    assert found.results[0].startswith("the server bad failed: ")


@pytest.mark.parametrize("mode", ["garbage", "stderr", "hang_on_close", "children"])
async def test_a_server_that_is_loud_or_stays_is_used_and_ended(
    mode: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = await seen(mode, tmp_path, "mcp_bad_go")
    assert "Traceback" not in capfd.readouterr().err
    assert found.results == ["done"]
    assert left("600.125") == []


async def test_an_answer_beyond_all_bounds_fails_its_call_alone(tmp_path: Path) -> None:
    found = await seen("huge", tmp_path, "mcp_bad_go", "mcp")
    assert "more than 32000000 are not read" in found.results[0]
    assert "go" in found.results[1]


class Pieces:
    """A source of bytes that come in these pieces."""

    def __init__(self, data: bytes, size: int) -> None:
        self._pieces = [data[at : at + size] for at in range(0, len(data), size)]

    async def read(self, most: int) -> bytes:
        del most
        return self._pieces.pop(0) if self._pieces else b""


@pytest.mark.parametrize("size", [1, 2, 7, 64, 1_000])
async def test_lines_come_whole_wherever_they_are_cut(size: int) -> None:
    long = b'{"jsonrpc": "2.0", "id": 7, "result": "' + b"x" * 300 + b'"}'
    late = b'{"result": "' + b"y" * 300 + b'", "id": "a-b"}'
    data = b"\n".join([b'{"a": 1}', long, b"", late, b"z" * 100, b"w" * 300, b"no end"])
    found = [line async for line in whole_lines(Pieces(data, size), most=100)]
    assert found[0] == b'{"a": 1}'
    assert json.loads(found[1])["id"] == 7
    assert json.loads(found[1])["error"]["message"].startswith(f"the answer has {len(long)} bytes")
    assert found[2] == b""
    assert json.loads(found[3])["id"] == "a-b"
    assert found[4] == b"z" * 100
    assert json.loads(found[5])["id"] is None
    assert len(found) == 6


class HugeService(BaseHTTPRequestHandler):
    """A service whose one tool answers without end."""

    def do_POST(self) -> None:
        if self.headers["Authorization"] != "Bearer me":
            self.send_error(401)
            return
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answers: dict[str, Any] = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "x", "version": "1"},
            },
            "tools/list": {"tools": [{"name": "go", "inputSchema": {"type": "object"}}]},
        }
        self.send_response(200 if "id" in asked else 202)
        self.send_header("Content-Type", "application/json")
        if asked.get("method") == "tools/call":
            self.end_headers()
            with suppress(OSError):
                while True:
                    self.wfile.write(b" " * 1_000_000)
        answer = {"jsonrpc": "2.0", "id": asked.get("id"), "result": answers.get(asked.get("method"), {})}
        body = json.dumps(answer).encode() if "id" in asked else b""
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        del words


async def test_a_service_that_answers_without_end_fails_its_call_alone(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), HugeService) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_address[1]}/mcp"
        module = {
            "module": "tool-mcp",
            "config": {
                "servers": {"web": {"url": url, "headers": {"Authorization": "Bearer me"}, "type": "http"}}
            },
        }
        steps: list[Any] = [{"tools": [{"name": name, "input": {}}]} for name in ("mcp_web_go", "mcp")]
        try:
            async with opened(
                plan(steps=[*steps, {"text": "ok"}], tools=[module]), working_dir=tmp_path
            ) as stage:
                assert await stage.say("go") == "ok"
                results = [each["content"] for each in await stage.messages() if each["role"] == "tool"]
        finally:
            await asyncio.to_thread(server.shutdown)
            thread.join()
    assert "the answer has more than 32000000 bytes" in results[0]
    assert "go" in results[1]


@pytest.mark.parametrize(
    "server",
    [
        {"command": "x", "type": "http"},
        {"url": "http://x", "type": "stdio"},
        {"url": "http://x", "type": "pigeon"},
        {"command": "x", "headers": {"A": "b"}},
        {"url": "http://x", "headers": ["A"]},
    ],
)
async def test_a_server_that_contradicts_itself_is_refused(server: dict[str, Any]) -> None:
    with pytest.raises(ModuleConfigError, match="'odd'"):
        await mcp.mount(create_test_coordinator(), {"servers": {"odd": server}})


async def test_a_server_that_is_switched_off_is_not_started() -> None:
    coordinator = create_test_coordinator()
    await mcp.mount(coordinator, {"servers": {"off": {"command": "nowhere", "disabled": True}}})
    await mcp.on_session_ready(coordinator)
    assert (await coordinator.get("tools")["mcp"].execute({})).output == {}


async def test_results_of_any_shape_and_size_become_text(tmp_path: Path) -> None:
    (flood,) = (await seen("flood", tmp_path, "mcp_bad_go")).results
    assert len(flood) < 101_000
    assert (await seen("structured", tmp_path, "mcp_bad_go")).results == ['{"answer": 42}']
    (pictures,) = (await seen("pictures", tmp_path, "mcp_bad_go")).results
    assert pictures == "[image of text/html]\n[image of image/png]\n[image of image/png]"
