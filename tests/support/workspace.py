"""An empty folder, and the real commands run in it as a user would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.distribution import bare_program


@dataclass(frozen=True)
class Answer:
    """What a command left behind: its exit code and what it printed."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)


@dataclass
class Workspace:
    path: Path
    env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        home = self.path / "home"
        home.mkdir(exist_ok=True)
        self.env = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(bare_program()),  # no bundle: no test waits for it to be staged
            **self.env,
        }

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))
        return path

    def run(self, *words: str, env: dict[str, str] | None = None, stdin: str = "") -> Answer:
        """`amplihack <words>` in the folder."""
        return self._run("amplihack", words, env, stdin)

    def runner(self, *words: str, env: dict[str, str] | None = None) -> Answer:
        """`recipe-runner <words>` in the folder."""
        return self._run("amplihack.cli.runner", words, env, "")

    def _run(self, module: str, words: tuple[str, ...], env: dict[str, str] | None, stdin: str) -> Answer:
        done = subprocess.run(
            [sys.executable, "-m", module, *words],
            cwd=self.path,
            env={**self.env, **(env or {})},
            input=stdin.encode(),
            capture_output=True,
            timeout=120,
            check=False,
        )
        return Answer(
            done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        )
