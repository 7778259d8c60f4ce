"""A command that is still running: what it has started, what it leaves behind, and how to interrupt it."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.support.marked import marked
from tests.support.workspace import Answer, Workspace

PATIENCE = 60.0  # seconds after which a test gives up; nothing here is meant to take long


def wait_until(what: str, holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(0.01)


@dataclass
class Scene:
    """A workspace whose processes carry a mark, and whose temporary directory is its own."""

    workspace: Workspace
    patience: float = PATIENCE  # for a process to end
    mark: str = field(default_factory=lambda: f"mark-{uuid.uuid4().hex}")

    def __post_init__(self) -> None:
        self.temporary = self.workspace.path / "tmp"
        self.temporary.mkdir()
        self.workspace.env |= {"TMPDIR": str(self.temporary), "TEST_MARK": self.mark}

    def alive(self) -> list[str]:
        """The command lines of our living processes, found by the mark in their environment."""
        return list(marked(self.mark).values())

    def left_files(self) -> list[str]:
        return [path.name for path in self.temporary.iterdir()]

    def has(self, name: str) -> bool:
        return (self.workspace.path / name).exists()

    def start(self, *words: str, **more: Any) -> Started:
        process = subprocess.Popen(
            [sys.executable, "-m", "amplihack", *words],
            cwd=self.workspace.path,
            env=self.workspace.env,
            stdin=more.get("stdin", subprocess.DEVNULL),
            stdout=subprocess.PIPE,
            stderr=more.get("stderr", subprocess.PIPE),
            start_new_session=True,
        )
        return Started(self, process)


@dataclass
class Started:
    scene: Scene
    process: subprocess.Popen[bytes]

    def wait_for(self, name: str) -> None:
        """Until a file of that name appears in the workspace."""
        wait_until(name, lambda: self.scene.has(name) or self.process.poll() is not None)
        assert self.scene.has(name), self.end()

    def interrupt(self, *, group: bool = False, number: int = signal.SIGINT) -> None:
        (os.killpg if group else os.kill)(self.process.pid, number)

    def end(self) -> Answer:
        out, err = self.process.communicate(timeout=self.scene.patience)
        return Answer(
            self.process.returncode, out.decode("utf-8", "replace"), (err or b"").decode("utf-8", "replace")
        )

    def interrupted(self, *, group: bool = False) -> Any:
        """Interrupts it; its JSON result, once nothing is left of it."""
        self.interrupt(group=group)
        answer = self.end()
        assert answer.exit_code == 130, answer
        assert self.scene.alive() == []
        assert self.scene.left_files() == []
        return json.loads(answer.stdout)


class Terminal:
    """A terminal with a person at it: what it shows, and what the person types."""

    def __init__(self, scene: Scene, *words: str) -> None:
        self._person, theirs = pty.openpty()
        self.started = scene.start(*words, stdin=theirs, stderr=theirs)
        os.close(theirs)
        self.shown = ""

    def read_until(self, words: str) -> None:
        def seen() -> bool:
            self._read()
            return words in self.shown

        wait_until(words, seen)

    def _read(self) -> None:
        while select.select([self._person], [], [], 0)[0]:
            try:
                self.shown += os.read(self._person, 65_536).decode("utf-8", "replace")
            except OSError:  # how a terminal says that nobody else has it open any more
                return

    def type(self, line: str, end: str = "\n") -> None:
        os.write(self._person, f"{line}{end}".encode(errors="surrogateescape"))

    def end(self) -> Answer:
        def over() -> bool:
            self._read()
            return self.started.process.poll() is not None

        wait_until("the end", over)
        answer = self.started.end()
        os.close(self._person)
        return answer
