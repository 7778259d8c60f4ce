"""Ctrl-C while a bundle is being fetched: the command ends at once and leaves nothing half done."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler

from tests.support.bundle_place import home
from tests.support.git_server import WebServer, serving
from tests.support.workspace import Workspace


def test_an_interrupted_fetch_ends_with_130_and_leaves_nothing_in_the_cache(workspace: Workspace) -> None:
    asked = threading.Event()

    def hang(handler: BaseHTTPRequestHandler) -> None:
        asked.set()
        handler.rfile.read(1)  # of a request that has no body: until the client leaves

    with serving(WebServer(otherwise=hang)) as server:
        process = subprocess.Popen(
            [sys.executable, "-m", "amplihack", "bundle", "show", f"git+{server.url}/far@main"],
            cwd=workspace.path,
            env=workspace.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert asked.wait(60)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, stderr) == (130, b"", b"interrupted\n")
    assert list((home(workspace) / "cache").glob("[!.]*")) == []
