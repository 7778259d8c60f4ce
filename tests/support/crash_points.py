"""Stop a command with SIGKILL at a chosen point of its life, in a place of its own.

A point is just before or after an event of the journal or its write, the start or the end of a process, a
rename, a sync or a removal of a file, or before a statement to the database. Each life is a real process,
forked from one that has loaded everything already.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import shutil
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, wraps
from pathlib import Path
from typing import Any

from tests.support.crash_recipes import RECIPES

import amplihack
from amplihack.cli import main
from amplihack.recipes.run_history import RunHistory
from amplihack.system import processes, watcher
from amplihack.system.run_store import journal, row_writer
from amplihack.system.run_store.rows import KeptRun
from amplihack.system.run_store.store import RunStore

# When a life ends: at the point of that number, or after so many seconds, wherever it is then.
Kill = int | float | None


@cache
def load_everything() -> None:
    """Import the whole product before the first fork: once for all lives, and from one state of the files."""
    for module in pkgutil.walk_packages(amplihack.__path__, "amplihack."):
        if not module.name.endswith("__main__") and "._bundle" not in module.name:
            importlib.import_module(module.name)


@dataclass
class Place:
    """A folder with the recipes, a home and a log of what the steps did."""

    path: Path
    env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        load_everything()
        shutil.rmtree(self.path, ignore_errors=True)
        (self.path / "tmp").mkdir(parents=True)
        self.write(RECIPES)
        self.env = {
            "HOME": str(self.path / "home"),
            "PATH": os.environ["PATH"],
            "TMPDIR": str(self.path / "tmp"),
            "LOG": str(self.path / "log"),
            "LANG": "C.UTF-8",
            "AMPLIHACK_SKIP_AUTO_INSTALL": "1",  # `tests.crash_install` has that
        }

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_text(text, "utf-8")

    # what can be seen -------------------------------------------------------------------------------------

    @property
    def effects(self) -> Counter[str]:
        log = self.path / "log"
        return Counter(log.read_text("utf-8").split()) if log.exists() else Counter()

    @property
    def errors(self) -> str:
        return (self.path / "errors").read_text("utf-8")

    @property
    def store(self) -> RunStore:
        return RunStore(self.path / "home" / ".amplihack")

    def runs(self) -> tuple[KeptRun, ...]:
        return self.store.listing().runs if self.store.database.exists() else ()

    def history(self, run: KeptRun) -> RunHistory:
        return RunHistory(((at, event) for _, at, event in self.store.events(run)), alive=False)

    def finished(self) -> set[str]:
        """The steps of the newest run whose end is recorded."""
        runs = self.runs()
        known = self.history(runs[0]).state.instances() if runs else {}
        return {
            name
            for name, each in known.items()
            if each.finished and each.result.status == "completed" and not each.withheld
        }

    def kept_bytes(self) -> bytes:
        files = sorted(path for path in self.store.root.rglob("*") if path.is_file())
        return b"".join(path.read_bytes() for path in files)

    def left_over(self) -> list[str]:
        """What lives of temporary files and half-written values, once the watchers have had their time."""
        deadline = time.monotonic() + 10
        while (left := self._left_over()) and time.monotonic() < deadline:
            time.sleep(0.02)
        return left

    def _left_over(self) -> list[str]:
        known = {run.run_id for run in self.runs()}
        runs = self.store.root / "runs"
        lost = [path for path in runs.iterdir() if path.name not in known] if runs.exists() else []
        # One with a lock alone may be that of a run that begins: a start ten seconds later removes it.
        lost = [path for path in lost if {each.name for each in path.iterdir()} - {"lock"}]
        half = list(self.store.root.rglob(".new-*"))
        return [str(path) for path in (*(self.path / "tmp").iterdir(), *lost, *half)]

    # going back -------------------------------------------------------------------------------------------

    def save(self) -> None:
        assert self.left_over() == []
        shutil.rmtree(self._saved, ignore_errors=True)
        shutil.copytree(self.path, self._saved)

    def restore(self) -> None:
        shutil.rmtree(self.path)
        shutil.copytree(self._saved, self.path)

    @property
    def _saved(self) -> Path:
        return self.path.with_name(f"{self.path.name}.saved")

    # living -----------------------------------------------------------------------------------------------

    def live(self, words: list[str], kill: Kill = None) -> tuple[int, int]:
        """Run a command in a process of its own. Returns how it ended, and how many points it passed."""
        self._let_time_pass()
        death = self.path / "death"
        for old in self.path.glob("points*"):
            old.unlink()
        death.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            self._become(words, kill if isinstance(kill, int) else None, death)
        if isinstance(kill, float):
            time.sleep(kill)
            os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        if "--detach" in words and os.waitstatus_to_exitcode(status) == 0:
            _wait(lambda: len(self._counts()) > 1 or death.exists())
        _wait(lambda: not any(run.taken for run in self.runs()))
        code = -signal.SIGKILL if death.exists() else os.waitstatus_to_exitcode(status)
        return code, max(self._counts(), default=0)

    def _let_time_pass(self) -> None:
        """Make the directories of runs older: one that is new may be of a process that just begins."""
        then = time.time() - 60
        for directory in (self.store.root / "runs").glob("*"):
            os.utime(directory, (then, then))

    def _counts(self) -> list[int]:
        """How many points each process has passed that lived to its end."""
        return [int(path.read_text() or 0) for path in self.path.glob("points-*")]

    def _become(self, words: list[str], kill_at: int | None, death: Path) -> None:
        code = 70
        try:
            os.setsid()
            os.chdir(self.path)
            os.environ.clear()
            os.environ.update(self.env)
            output = os.open(self.path / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            errors = os.open(self.path / "errors", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            for source, target in ((os.open(os.devnull, os.O_RDONLY), 0), (output, 1), (errors, 2)):
                os.dup2(source, target)
            # Not those of a test runner, which may keep what is written to them.
            sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
            passed = place_points(kill_at, death)
            code = main.main(words)
            sys.stdout.flush()
            (self.path / f"points-{os.getpid()}").write_text(str(passed[0]))
            watcher._say_goodbye()
        finally:
            os._exit(code)


def _wait(until: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not until():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def place_points(kill_at: int | None, death: Path) -> list[int]:
    """Make every point count, and the one of that number deadly. Returns the count, as it grows."""
    passed = [0]

    def point(_: object = None) -> None:
        passed[0] += 1
        if passed[0] == kill_at:
            death.touch()  # for those who cannot see how it ended, as of one in the background
            os.kill(os.getpid(), signal.SIGKILL)

    def around(work: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(work)
        def wrapped(*args: Any, **named: Any) -> Any:
            point()
            result = work(*args, **named)
            point()
            return result

        return wrapped

    places: tuple[tuple[Any, str], ...] = (
        (row_writer, "_write"),
        (journal.RunJournal, "keep"),
        (processes, "start"),
        (processes._Watch, "_exit"),
        (Path, "replace"),
        (os, "fsync"),
        (os, "unlink"),
        (os, "rmdir"),
        (RunStore, "create"),
        (RunStore, "claim"),
    )
    for owner, name in places:
        setattr(owner, name, around(getattr(owner, name)))
    _place_at_statements(point)
    return passed


def _place_at_statements(point: Callable[[object], None]) -> None:
    def connect(*args: Any, **named: Any) -> sqlite3.Connection:
        connection = sqlite3.Connection(*args, **named)
        connection.set_trace_callback(point)
        return connection

    setattr(sqlite3, "connect", connect)  # noqa: B010 - types say that it cannot be changed
