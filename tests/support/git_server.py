"""Repositories made on the spot, and servers on 127.0.0.1 that give them out, well or badly."""

from __future__ import annotations

import base64
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

Answer: TypeAlias = Callable[[BaseHTTPRequestHandler], None]

_IDENTITY = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "protocol.file.allow=always")


class Repository:
    """A real git repository with a working tree."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        home = {"PATH": os.environ["PATH"], "HOME": str(self.path), "GIT_CONFIG_NOSYSTEM": "1"}
        command = ["git", *_IDENTITY, *arguments]
        done = subprocess.run(command, cwd=self.path, env=home, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def commit(self, files: dict[str, str]) -> str:
        """Write the files, commit them, and say which commit that is."""
        for name, text in files.items():
            file = self.path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "change")
        self.git("update-server-info")
        return self.git("rev-parse", "HEAD")


@dataclass
class WebServer:
    """Answers by path; `asked` holds every request line, `headers` the last request's headers for a path."""

    answers: dict[str, Answer] = field(default_factory=dict)
    otherwise: Answer = field(default=lambda handler: say(404)(handler))
    asked: list[str] = field(default_factory=list)
    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        path = urlsplit(handler.path).path
        self.asked.append(f"{handler.command} {handler.path}")
        self.headers[path] = dict(handler.headers.items())
        self.answers.get(path, self.otherwise)(handler)


@contextmanager
def serving(server: WebServer) -> Iterator[WebServer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.handle(self)

        do_POST = do_HEAD = do_GET  # noqa: N815 - the base class looks for these names

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = False

        def handle_error(self, request: Any, client_address: Any) -> None:
            pass  # a client that goes away is what some tests are about

    with Server(("127.0.0.1", 0), Handler) as listening:
        server.port = listening.server_address[1]
        thread = threading.Thread(target=listening.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()


def say(status: int, body: bytes = b"", **headers: str) -> Answer:
    """An answer with this status and body; `_` in a header's name means `-`."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content_Length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(body)

    return answer


def first(times: int, answer: Answer, then: Answer) -> Answer:
    """One answer for the first so many requests, another one for the rest."""
    lock, left = threading.Lock(), [times]

    def choose(handler: BaseHTTPRequestHandler) -> None:
        with lock:
            left[0] -= 1
            chosen = answer if left[0] >= 0 else then
        chosen(handler)

    return choose


def git_backend(root: Path, *, login: str = "") -> Answer:
    """Git's own smart http server for the repositories below `root`; `login` is `user:password`."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        wanted = "Basic " + base64.b64encode(login.encode()).decode()
        if login and handler.headers.get("Authorization") != wanted:
            say(401, WWW_Authenticate='Basic realm="x"')(handler)
            return
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=_cgi(handler, root), capture_output=True, check=False
        )
        head, _, rest = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        status = int(headers.pop("Status", "200").split()[0])
        say(status, rest, **{name.replace("-", "_"): value for name, value in headers.items()})(handler)

    return answer


def _cgi(handler: BaseHTTPRequestHandler, root: Path) -> dict[str, str]:
    parts = urlsplit(handler.path)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(root),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_PROJECT_ROOT": str(root),
        "GIT_HTTP_EXPORT_ALL": "1",
        "REQUEST_METHOD": handler.command,
        "PATH_INFO": parts.path,
        "QUERY_STRING": parts.query,
        "CONTENT_TYPE": handler.headers.get("Content-Type", ""),
        "HTTP_CONTENT_ENCODING": handler.headers.get("Content-Encoding", ""),
        "GIT_PROTOCOL": handler.headers.get("Git-Protocol", ""),
        "REMOTE_ADDR": "127.0.0.1",
    }
