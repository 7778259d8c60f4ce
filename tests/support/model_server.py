"""A small model on 127.0.0.1 that says what a test tells it to, in the three wire formats that tools speak.

    with ModelServer(Say("hello")) as server:
        ...                      # point a tool at server.url (Anthropic) or server.url + "/v1" (OpenAI)
    assert "my prompt" in server.last.text

Turns are played in order, and the last one is repeated. Whatever a client asks about besides the model
itself (a model list, telemetry) gets an empty answer.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from types import TracebackType
from typing import Any, Self, TypeAlias

Event: TypeAlias = tuple[str, dict[str, Any]]  # the name of a server-sent event, and its data


@dataclass(frozen=True)
class Say:
    """Answer with this text, perhaps slowly: `pause` seconds between its words.

    One that is not `counted` does not tell its usage, as some services that speak chat completions.
    """

    text: str
    pause: float = 0.0
    counted: bool = True
    stop: str = ""  # why it ends, in the words of the wire format; else because it is done


@dataclass(frozen=True)
class UseTool:
    """Ask the client to run a tool; `arguments` go by wire format, since tools name theirs differently."""

    name: str
    arguments: dict[str, Any]
    raw: str = ""  # instead of the arguments, whatever it is

    @property
    def text(self) -> str:
        return self.raw or json.dumps(self.arguments)


@dataclass(frozen=True)
class BreakOff:
    """Begin to answer with this text, and end the connection in the middle."""

    text: str


@dataclass(frozen=True)
class Refuse:
    """Answer with an HTTP status, such as 429 or 500."""

    status: int
    message: str = "no"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Garble:
    """Answer with something that is not the protocol."""

    body: str = "data: {this is not json\n\n"


@dataclass(frozen=True)
class Stream:
    """Answer with exactly these events, whatever the wire format."""

    events: tuple[Event, ...]


Turn: TypeAlias = Say | UseTool | BreakOff | Refuse | Garble | Stream


@dataclass(frozen=True)
class Asked:
    """One request for an answer, as it came."""

    path: str
    body: dict[str, Any]

    @property
    def text(self) -> str:
        return json.dumps(self.body, ensure_ascii=False)


class ModelServer:
    """Starts with the `with` block and is gone after it."""

    def __init__(self, *turns: Turn, models: tuple[str, ...] = ()) -> None:
        self._turns, self.models = list(turns), models
        self._lock = threading.Lock()
        self.asked: list[Asked] = []
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def last(self) -> Asked:
        return self.asked[-1]

    def next_turn(self, asked: Asked) -> Turn:
        with self._lock:
            self.asked.append(asked)
            return self._turns.pop(0) if len(self._turns) > 1 else self._turns[0]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    model: ModelServer


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""

    def do_GET(self) -> None:
        listed = [
            {"id": name, "type": "model", "object": "model", "display_name": name, "created": 0,
             "created_at": "2026-01-01T00:00:00Z", "owned_by": "test"}
            for name in self.server.model.models
        ]  # fmt: skip
        page = {"data": listed, "models": [], "has_more": False, "first_id": None, "last_id": None}
        self._send(200, "application/json", json.dumps(page).encode())

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        events = _EVENTS.get(self.path.partition("?")[0].removeprefix("/v1"))
        if events is None:
            self._send(200, "application/json", b"{}")
            return
        turn = self.server.model.next_turn(Asked(self.path, json.loads(raw)))
        match turn:
            case Refuse():
                problem = {"type": "error", "error": {"type": "refused", "message": turn.message}}
                self._send(turn.status, "application/json", json.dumps(problem).encode(), turn.headers)
            case BreakOff():
                self._stream(islice(events(Say(turn.text)), 3), 0.0)
            case Stream():
                self._stream(iter(turn.events), 0.0)
            case Garble():
                self._send(200, "text/event-stream", turn.body.encode())
            case _:
                self._stream(events(turn), turn.pause if isinstance(turn, Say) else 0.0)

    def _send(self, status: int, kind: str, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, events: Iterator[Event], pause: float) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        try:
            for name, data in events:
                self.wfile.write(f"event: {name}\ndata: {json.dumps(data)}\n\n".encode())
                self.wfile.flush()
                if "delta" in name:
                    time.sleep(pause)
            if self.path.partition("?")[0].endswith("/chat/completions") and not isinstance(events, islice):
                self.wfile.write(b"data: [DONE]\n\n")
        except (BrokenPipeError, ConnectionResetError):
            return  # the client was ended meanwhile, which is what some tests are about


def _words(text: str) -> Iterator[str]:
    for index, word in enumerate(text.split(" ")):
        yield word if index == 0 else " " + word


def _anthropic(turn: Say | UseTool) -> Iterator[Event]:
    usage = {"input_tokens": 11, "output_tokens": 1, "cache_read_input_tokens": 3}
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "test-model",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    yield "message_start", {"type": "message_start", "message": message}
    yield from _anthropic_block(turn)
    yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    delta = {
        "stop_reason": (turn.stop or "end_turn") if isinstance(turn, Say) else "tool_use",
        "stop_sequence": None,
    }
    yield "message_delta", {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 7}}
    yield "message_stop", {"type": "message_stop"}


def _anthropic_block(turn: Say | UseTool) -> Iterator[Event]:
    def delta(change: dict[str, str]) -> Event:
        return "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": change}

    block: dict[str, Any] = {"type": "text", "text": ""}
    if isinstance(turn, UseTool):
        block = {"type": "tool_use", "id": "toolu_1", "name": turn.name, "input": {}}
    yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
    if isinstance(turn, UseTool):
        yield delta({"type": "input_json_delta", "partial_json": turn.text})
    else:
        for word in _words(turn.text):
            yield delta({"type": "text_delta", "text": word})


def _chat(turn: Say | UseTool) -> Iterator[Event]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        frame = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "test-model"}
        return "delta", {**frame, "choices": [choice]}

    yield chunk({"role": "assistant", "content": ""})
    if isinstance(turn, UseTool):
        function = {"name": turn.name, "arguments": turn.text}
        yield chunk({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]})
        yield chunk({}, "tool_calls")
    else:
        for word in _words(turn.text):
            yield chunk({"content": word})
        yield chunk({}, turn.stop or "stop")
    if isinstance(turn, Say) and not turn.counted:
        return
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    yield "usage", {**chunk({})[1], "choices": [], "usage": usage}


def _responses(turn: Say | UseTool) -> Iterator[Event]:
    def event(kind: str, **data: Any) -> Event:
        return kind, {"type": kind, **data}

    frame = {"id": "resp_1", "object": "response", "created_at": 1, "model": "test-model"}
    yield event("response.created", response={**frame, "status": "in_progress", "output": []})
    if isinstance(turn, UseTool):
        item: dict[str, Any] = {
            "id": "fc_1",
            "type": "function_call",
            "call_id": "call_1",
            "name": turn.name,
            "arguments": json.dumps(turn.arguments),
            "status": "completed",
        }
    else:
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        item = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
        yield event("response.output_item.added", output_index=0, item={**item, "content": []})
        for word in _words(turn.text):
            yield event(
                "response.output_text.delta", item_id="msg_1", output_index=0, content_index=0, delta=word
            )
    yield event("response.output_item.done", output_index=0, item=item)
    usage = {
        "input_tokens": 11,
        "input_tokens_details": {"cached_tokens": 3},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 18,
    }
    yield event(
        "response.completed", response={**frame, "status": "completed", "output": [item], "usage": usage}
    )


_EVENTS = {"/messages": _anthropic, "/chat/completions": _chat, "/responses": _responses}
