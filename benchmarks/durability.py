"""What it costs to keep a run, to go on with a long one, and to list many; beside DBOS where it is here."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.measure import Cost, Work, command
from benchmarks.table import Row
from benchmarks.workloads import bash_steps

_SCRIPT = str(Path(__file__).with_name("durable_steps.py"))
_TURNS = 8


def durable(bench: Bench) -> list[Row]:
    """Measure a step that is kept less one that is not, and an empty step of this process beside DBOS."""
    works = {
        f"{kind}/{steps}": bench.run(bash_steps(bench.folder, steps), "-q", *flags)
        for steps in (1, 101)
        for kind, flags in (("kept", ()), ("lost", ("--ephemeral",)))
    }
    costs = bench.measure(works, 2 * _TURNS, least=True)  # a difference of differences is mostly noise
    more = (costs["kept/101"] - costs["kept/1"] - (costs["lost/101"] - costs["lost/1"])) / 100
    return [
        Row("keeping a step", "the same, ephemeral", _milliseconds(bench, more), 0.5, "ms more"),
        Row("keeping a step, by the clock", "the same, ephemeral", more.wall * 1000, unit="ms more"),
        *_beside_dbos(bench),
    ]


def _beside_dbos(bench: Bench) -> list[Row]:
    many = 200 if bench.quick else 1000
    works = {f"{kind}/{steps}": _fresh(bench, kind, steps) for kind in _kinds() for steps in (1, many + 1)}
    costs = bench.measure(works, 4)
    each = {kind: (costs[f"{kind}/{many + 1}"] - costs[f"{kind}/1"]) / many for kind in _kinds()}
    others: dict[str, float | None] = {
        kind: _milliseconds(bench, cost) for kind, cost in each.items() if kind != "ours"
    }
    figure = _milliseconds(bench, each["ours"])
    return [Row("a kept step that does nothing", "others in one process", figure, unit="ms", others=others)]


def resume(bench: Bench) -> list[Row]:
    """Measure a whole command that goes on at the end of a long run."""
    many = 1_000 if bench.quick else 10_000
    works = {kind: _resumed(bench, kind, many) for kind in _kinds(ephemeral=False)}
    costs = bench.measure(works, 2)
    others: dict[str, float | None] = {
        kind: _milliseconds(bench, cost) for kind, cost in costs.items() if kind != "ours"
    }
    figure = _milliseconds(bench, costs["ours"])
    return [Row(f"resume a run of {many:,} steps", "others, whole command", figure, unit="ms", others=others)]


def listing(bench: Bench) -> list[Row]:
    """Measure `runs list` over 100,000 steps in a thousand runs."""
    runs = 100 if bench.quick else 1_000
    home = bench.folder / "listed"
    recipe = bash_steps(bench.folder, 100).recipe
    env = {**bench.env, "AMPLIHACK_HOME": str(home)}
    program = str(Path(sys.executable).with_name("amplihack"))
    command([program, "recipe", "run", str(recipe), "-q"], cwd=bench.folder, env=env)()
    _multiply(home / "runs.sqlite3", runs)
    work = command([program, "runs", "list"], cwd=bench.folder, env=env)
    cost = bench.measure({"list": work}, _TURNS)["list"]
    what = f"runs list, {runs * 100:,} steps in {runs:,} runs"
    return [Row(what, "whole command", _milliseconds(bench, cost), 500, "ms")]


def showing(bench: Bench) -> list[Row]:
    """Measure `runs show` of one long run."""
    steps = 10_000 if bench.quick else 100_000
    home = bench.folder / "shown"
    env = {**bench.env, "AMPLIHACK_HOME": str(home)}
    program = str(Path(sys.executable).with_name("amplihack"))
    recipe = bash_steps(bench.folder, 100).recipe
    command([program, "recipe", "run", str(recipe), "-q"], cwd=bench.folder, env=env)()
    run_id = _lengthen(home / "runs.sqlite3", steps // 100)
    work = command([program, "runs", "show", run_id], cwd=bench.folder, env=env)
    cost = bench.measure({"show": work}, 2)["show"]
    what = f"runs show, a run of {steps:,} steps"
    return [Row(what, "whole command", _milliseconds(bench, cost), unit="ms")]


def _milliseconds(bench: Bench, cost: Cost) -> float:
    return (cost.wall if bench.wall else cost.cpu) * 1000


def _kinds(*, ephemeral: bool = True) -> tuple[str, ...]:
    others = ("ephemeral",) if ephemeral else ()
    return ("ours", *others, *(("dbos",) if importlib.util.find_spec("dbos") else ()))


@contextmanager
def _place(bench: Bench) -> Iterator[Path]:
    """Make an empty folder, and remove it afterwards: thousands of steps take room."""
    place = next(path for number in count() if not (path := bench.folder / f"kept-{number}").exists())
    place.mkdir()
    try:
        yield place
    finally:
        shutil.rmtree(place)


def _steps(bench: Bench, kind: str, steps: int, place: Path, *, go: bool = False) -> Cost:
    env = {**bench.env, **({"GO": "1"} if go else {})}
    return command([sys.executable, _SCRIPT, kind, str(steps), str(place)], cwd=bench.folder, env=env)()


def _fresh(bench: Bench, kind: str, steps: int) -> Work:
    """Return the work of running so many steps in a folder of their own."""

    def work() -> Cost:
        with _place(bench) as place:
            return _steps(bench, kind, steps, place)

    return work


def _resumed(bench: Bench, kind: str, steps: int) -> Work:
    """Return the work of going on with a run, which is made once and copied; that is not measured."""
    source = bench.folder / f"long-{kind}"
    source.mkdir()
    _steps(bench, kind, steps, source)

    def work() -> Cost:
        aside = bench.folder / f"aside-{kind}"
        shutil.copytree(source, aside)  # the database holds paths, so the copy takes the place of the source
        try:
            return _steps(bench, kind, steps, source, go=True)
        finally:
            shutil.rmtree(source)
            aside.rename(source)

    return work


def _lengthen(database: Path, times: int) -> str:
    """Let the only run of a database have its steps so many times, under other names, and return its id."""
    with closing(sqlite3.connect(database)) as connection, connection:
        first, *steps, last = connection.execute("SELECT * FROM events ORDER BY seq").fetchall()
        copies = (
            (run, at, kind, re.sub(r'"s(\d+)"', rf'"s\1_{copy}"', data), file)
            for copy in range(times)
            for run, _, at, kind, data, file in steps
        )
        begun, ended = ((row[0], *row[2:]) for row in (first, last))
        connection.execute("DELETE FROM events")
        connection.executemany(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)",
            ((run, seq, *rest) for seq, (run, *rest) in enumerate((begun, *copies, ended), 1)),
        )
        (run_id,) = connection.execute("SELECT run_id FROM runs").fetchone()
    return str(run_id)


def _multiply(database: Path, runs: int) -> None:
    """Copy the only run of a database until there are so many."""
    with closing(sqlite3.connect(database)) as connection, connection:
        names = [row[1] for row in connection.execute("PRAGMA table_info(runs)")]
        others = ", ".join(name for name in names if name not in ("number", "run_id"))
        for number in range(2, runs + 1):
            connection.execute(
                f"INSERT INTO runs (number, run_id, {others}) "  # noqa: S608 - names of columns
                f"SELECT ?, ?, {others} FROM runs WHERE number = 1",
                (number, f"copy-{number:06}"),
            )
            connection.execute(
                "INSERT INTO events SELECT ?, seq, at, kind, data, file FROM events WHERE run = 1", (number,)
            )
