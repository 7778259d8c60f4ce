"""Stop a run with SIGKILL at a chosen point, go on with it, and compare its end with that of one that lived.

A point is just before or after an event of the journal or its write, the start or the end of a process, or a
rename. Each life is a real process, forked from one that has loaded everything already.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

from amplihack.app import run, run_world, variables
from amplihack.app.runs import gates, resuming
from amplihack.cli import main, recipe_results, recipe_run, runs, runs_resume
from amplihack.recipes.engine import recovery
from amplihack.recipes.results import StepResult
from amplihack.recipes.run_history import RunHistory
from amplihack.system import processes, watcher
from amplihack.system.run_store import journal, row_writer
from amplihack.system.run_store.store import RunStore

# Loaded before the first fork: once for all lives, and from one state of the files.
LOADED = (gates, recipe_results, recipe_run, recovery, resuming, run, run_world, runs, runs_resume, variables)
_TOOK = re.compile(r" \(\d+\.\ds\)")
PATIENCE = 20  # lives of one run; more would mean that it does not get on

RECIPES = {
    "main.yaml": """\
name: main
stages:
  - name: build
    steps:
      - {id: a, parallel_group: g, command: 'echo a >> "$LOG"; echo A'}
      - {id: b, parallel_group: g, command: 'echo b >> "$LOG"; echo B'}
      - {id: call, recipe: ./child.yaml, context: {given: '{{a}}{{b}}'}}
      - {id: big, command: 'echo big >> "$LOG"; head -c 20000 /dev/zero | tr "\\0" x'}
    approval: {prompt: 'ship {{big}}?', when: after}
  - name: ship
    steps:
      - id: flaky
        retry: {max_attempts: 3, initial_delay: 0}
        command: 'echo flaky >> "$LOG"; [ "$(grep -c flaky "$LOG")" -gt 1 ] && echo {{_approval_message}}'
      - {id: end, command: 'echo end >> "$LOG"; echo "{{rounds}} {{flaky}} {{given}}"'}
""",
    "child.yaml": """\
name: child
steps:
  - {id: each, foreach: [x, y], as: it, command: 'echo each-{{it}} >> "$LOG"; echo {{it}}', collect: rounds}
  - {id: deeper, recipe: ./grandchild.yaml}
""",
    "grandchild.yaml": """\
name: grandchild
context: {n: 0}
steps:
  - id: again
    while_condition: n < 2
    update_context: {n: '{{_loop_iteration}}'}
    steps: [{id: turn, command: 'echo turn-{{n}} >> "$LOG"; echo {{n}}'}]
""",
}


@dataclass
class Place:
    """A folder with the recipes, a home and a log of what the steps did."""

    path: Path
    env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        (self.path / "tmp").mkdir(parents=True)
        for name, text in RECIPES.items():
            (self.path / name).write_text(text, "utf-8")
        self.env = {
            "HOME": str(self.path / "home"),
            "PATH": os.environ["PATH"],
            "TMPDIR": str(self.path / "tmp"),
            "LOG": str(self.path / "log"),
            "LANG": "C.UTF-8",
        }

    @property
    def effects(self) -> Counter[str]:
        log = self.path / "log"
        return Counter(log.read_text("utf-8").split()) if log.exists() else Counter()

    @property
    def store(self) -> RunStore:
        return RunStore(self.path / "home" / ".amplihack")

    def history(self) -> RunHistory:
        (run,) = self.store.listing().runs
        return RunHistory(((at, event) for _, at, event in self.store.events(run)), alive=False)

    def finished(self) -> set[str]:
        """The steps whose end is recorded."""
        if not self.store.database.exists() or not self.store.listing().runs:
            return set()
        known = self.history().state.instances()
        return {name for name, each in known.items() if each.finished and each.result.status == "completed"}

    def live(self, words: list[str], kill_at: int | None = None) -> tuple[int, int]:
        """Run a command in a process of its own. Returns how it ended, and how many points it passed."""
        count, child = self.path / "points", os.fork()
        if child == 0:
            self._become(words, kill_at, count)
        status = os.waitpid(child, 0)[1]
        return os.waitstatus_to_exitcode(status), int(count.read_text() or 0) if count.exists() else 0

    def _become(self, words: list[str], kill_at: int | None, count: Path) -> None:
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
            passed = place_points(kill_at)
            code = main.main(words)
            sys.stdout.flush()
            count.write_text(str(passed[0]))
            watcher._say_goodbye()
        finally:
            os._exit(code)


def place_points(kill_at: int | None) -> list[int]:
    """Make every point count, and the one of that number deadly. Returns the count, as it grows."""
    passed = [0]

    def point() -> None:
        passed[0] += 1
        if passed[0] == kill_at:
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
        (RunStore, "create"),
        (RunStore, "claim"),
    )
    for owner, name in places:
        setattr(owner, name, around(getattr(owner, name)))
    return passed


@dataclass
class Ended:
    """The end of a run: its context, its statuses, what its steps did, and how often it was killed."""

    context: dict[str, Any]
    statuses: list[tuple[str, str]]
    effects: Counter[str]
    kills: int
    points: int  # of its first life


def run_to_its_end(place: Place, kills: list[int]) -> Ended:
    """Run the recipe; each life that there is a number for is killed at that point. Then check the law."""
    words, lives, killed, points = ["recipe", "run", "main.yaml", "--json", "-q"], 0, 0, 0
    while True:
        before, done = place.effects, place.finished()
        kill_at = kills[lives] if lives < len(kills) else None
        code, passed = place.live(words, kill_at)
        points = passed if lives == 0 else points
        killed += code == -signal.SIGKILL
        again = place.effects - before
        assert not {name for name in done if again[name.rpartition("/")[2]]}, (kills, done, again)
        lives += 1
        assert lives < PATIENCE, (kills, (place.path / "errors").read_text())
        found = place.store.listing().runs if place.store.database.exists() else ()
        if not found:
            continue  # killed before the run was kept: it begins anew
        run, history = found[0], place.history()
        if run.status == "completed":
            break
        asked = run.status == "waiting" and any(gate.approved is None for gate in history.gates())
        words = ["runs", "approve", "-m", "go"] if asked else ["runs", "resume", "--json", "-q"]
    assert history.result is not None
    context = {name: _timeless(value) for name, value in history.result.context.items()}
    return Ended(context, _statuses(history.steps()), place.effects, killed, points)


def _timeless(value: Any) -> Any:
    """Return a value without the times in the text of a sub-recipe's result."""
    return _TOOK.sub("", value) if isinstance(value, str) else value


def _statuses(steps: tuple[StepResult, ...]) -> list[tuple[str, str]]:
    return [pair for step in steps for pair in [(step.identity, step.status), *_statuses(step.children)]]


def check(ended: Ended, expected: Ended, kills: list[int]) -> None:
    """Raise AssertionError if the kills have changed anything but how often a step in flight ran."""
    assert ended.context == expected.context, (kills, ended.context, expected.context)
    assert sorted(ended.statuses) == sorted(expected.statuses), kills
    more = ended.effects - expected.effects
    assert not expected.effects - ended.effects, kills
    assert all(count <= ended.kills for count in more.values()), (kills, more)
    # At most what was in flight: two members of the group, or one step.
    assert sum(more.values()) <= 2 * ended.kills, (kills, more)
