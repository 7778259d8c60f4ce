"""What the engine costs, as ratios within one run: `python benchmarks/engine.py`.

Every figure is compared with the same work done without us, on the same machine. The two take turns, so that
a busy machine slows both alike, and the median of several tries counts.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

TRIES = 5


def medians(*works: Callable[[], object], tries: int = TRIES) -> list[float]:
    """Return the seconds of each work, which take turns."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(tries):
        for work, seconds in zip(works, times, strict=True):
            started = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - started)
    return [statistics.median(each) for each in times]


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="amplihack-benchmark-") as name:
        yield Path(name)


class Bench:
    def __init__(self, place: Path) -> None:
        self.place = place
        self.env = {**os.environ, "HOME": str(place), "PYTHONPATH": str(Path(__file__).parents[1] / "src")}

    def sh(self, *argv: str) -> Callable[[], None]:
        def work() -> None:
            subprocess.run(argv, cwd=self.place, env=self.env, capture_output=True, check=True)

        return work

    def recipe(self, name: str, text: str, *flags: str) -> Callable[[], None]:
        (self.place / f"{name}.yaml").write_text(text)
        return self.sh(sys.executable, "-m", "amplihack", "recipe", "run", f"{name}.yaml", "-q", *flags)

    def loop(self, count: int) -> Callable[[], None]:
        return self.sh(
            "/bin/sh", "-c", f"i=0; while [ $i -lt {count} ]; do /bin/bash -c 'echo $0' $i; i=$((i+1)); done"
        )


def row(what: str, ours: float, theirs: float, bar: str = "") -> None:
    print(f"{what:<58} {ours * 1000:9.1f} ms {theirs * 1000:9.1f} ms {ours / theirs:7.2f}×  {bar}")


def compare(what: str, ours: Callable[[], None], theirs: Callable[[], None], bar: str = "") -> None:
    one, other = medians(ours, theirs, tries=3)
    row(what, one, other, bar)


def steps(count: int, fields: str = "command: 'echo {n}'") -> str:
    lines = "".join(f"  - {{id: s{n}, {fields.replace('{n}', str(n))}}}\n" for n in range(count))
    return f"name: bench\nrecursion: {{max_total_steps: 100000}}\nsteps:\n{lines}"


def bash_steps(bench: Bench) -> None:
    one = bench.recipe("one", steps(1))
    for count, tries, bar in ((100, TRIES, "≤ 1.8"), (1000, 3, "")):
        run = bench.recipe(f"r{count}", steps(count))
        ours, empty, theirs = medians(run, one, bench.loop(count), tries=tries)
        row(f"{count} bash steps, whole command / shell loop", ours, theirs, bar)
        row("  one more step / the spawn of bash", (ours - empty) / (count - 1), theirs / count, "≤ 1.5")
    context = "context:\n" + "".join(f"  v{n}: value {n}\n" for n in range(1000))
    many = [bench.recipe(f"many{count}", steps(count) + context) for count in (1, 101)]
    few = [bench.recipe(f"few{count}", steps(count)) for count in (1, 101)]
    empty, ours, plain, theirs = medians(*many, *few)
    row(
        "  one more step with 1,000 variables / with few", (ours - empty) / 100, (theirs - plain) / 100, "~ 1"
    )
    ours, theirs = medians(one, bench.sh(sys.executable, "-c", "pass"))
    row("1 bash step, whole command / python -c pass", ours, theirs, "≤ 9")


def lines(bench: Bench) -> None:
    """Very many short lines, without and with somebody who listens."""
    loud = "name: lines\nsteps: [{id: s, command: 'seq 400000'}]\n"
    cat = bench.sh("/bin/bash", "-c", "seq 400000 | cat > printed")
    quiet, unheard, heard, theirs = medians(
        bench.recipe("quiet", steps(1)),
        bench.recipe("lines", loud),
        bench.recipe("lines", loud, "--progress"),
        cat,
    )
    row("400,000 lines that nobody hears, above an empty step / cat", unheard - quiet, theirs, "≤ 5")
    row("400,000 lines with progress, above an empty step / cat", heard - quiet, theirs, "≤ 15")


def groups(bench: Bench) -> None:
    wide = bench.recipe("wide", steps(200, "parallel_group: g, command: 'echo {n}'"))
    compare("200-wide parallel group / 200 in a shell loop", wide, bench.loop(200))
    text = "name: each\nsteps: [{id: s, foreach: '{{items}}', command: 'echo {{item}}'}]\n"
    limit = "recursion: {max_total_steps: 100000}\n"
    items = f"context: {{items: {list(range(1000))}}}\n"
    loop = bench.recipe("each", f"{limit}{items}{text}")
    compare("foreach of 1,000 / 1,000 in a shell loop", loop, bench.loop(1000), "≤ 1.6")
    (bench.place / "child.yaml").write_text("name: child\nsteps: [{id: c, command: echo c}]\n")
    subs = bench.recipe("subs", steps(50, "recipe: child"))
    compare("50 sub-recipes / 50 in a shell loop", subs, bench.loop(50))


def agents(bench: Bench) -> None:
    (bench.place / "agent.sh").write_text(
        "date +%s%N > answered\nsleep ${1:-0}; date +%s%N > answered; echo done\n"
    )
    flags = ("--no-auto-stage", "--agent", "command:bash agent.sh 1")
    eight, one = medians(
        bench.recipe("agent8", steps(8, "parallel_group: g, prompt: p"), *flags),
        bench.recipe("agent1", steps(1, "prompt: p"), *flags),
        tries=1,
    )
    row("8 agents of 1 s at once / 1 such agent", eight, one, "~ 1")
    text = "name: gap\nsteps:\n  - {id: a, prompt: p}\n  - {id: b, command: 'date +%s%N > began'}\n"
    run = bench.recipe("gap", text, "--no-auto-stage", "--agent", "command:bash agent.sh 0")
    gaps = []
    for _ in range(TRIES):
        run()
        gaps.append(int((bench.place / "began").read_text()) - int((bench.place / "answered").read_text()))
    print(
        f"{'from an agent’s last act to the first act of the next step':<58} "
        f"{min(gaps) / 1e6:9.1f} ms  ≤ 50 ms"
    )


def other_runners(bench: Bench) -> None:
    """The same 100 commands with tools that people use for this."""
    run = bench.recipe("r100", steps(100))
    targets = " ".join(f"t{n}" for n in range(100))
    rules = "".join(f"t{n}:\n\t@/bin/bash -c 'echo {n}'\n" for n in range(100))
    (bench.place / "Makefile").write_text(f".PHONY: all {targets}\nall: {targets}\n{rules}")
    recipes = "".join(f"t{n}:\n    @/bin/bash -c 'echo {n}'\n" for n in range(100))
    (bench.place / "justfile").write_text(f"all: {targets}\n{recipes}")
    tasks = "".join(f"  t{n}: {{cmds: [\"/bin/bash -c 'echo {n}'\"], silent: true}}\n" for n in range(100))
    calls = "".join(f"      - task: t{n}\n" for n in range(100))
    (bench.place / "Taskfile.yml").write_text(f"version: '3'\ntasks:\n  all:\n    cmds:\n{calls}{tasks}")
    commands = {"make": ("all",), "just": ("all",), "task": ("all",), "recipe-runner-rs": ("r100.yaml",)}
    for name, words in commands.items():
        beside = Path(sys.executable).parent / name
        program = shutil.which(name) or (str(beside) if beside.exists() else None)
        if program is None:
            print(f"{f'100 steps, whole command / {name}':<58} not installed")
        else:
            compare(f"100 steps, whole command / {name}", run, bench.sh(program, *words))


def memory(bench: Bench) -> None:
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )

    def peak(name: str, command: str) -> int:
        (bench.place / f"{name}.yaml").write_text(f"name: m\nsteps:\n  - {{id: s, command: '{command}'}}\n")
        words = (sys.executable, "-m", "amplihack", "recipe", "run", f"{name}.yaml", "-q", "--json")
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            cwd=bench.place,
            env=bench.env,
            capture_output=True,
            check=True,
        )
        return int(done.stdout) // 1024

    small, large = peak("empty", "true"), peak("gib", 'head -c 1073741824 /dev/zero | tr "\\0" x')
    print(
        f"{'1 GiB of output: memory above an empty step':<58} {large - small:9d} MiB  ≤ 64 MiB "
        f"(empty: {small} MiB)"
    )


def main() -> None:
    print(f"{'':<58} {'ours':>12} {'theirs':>12} {'ratio':>8}  bar")
    with folder() as place:
        bench = Bench(place)
        for part in (bash_steps, lines, groups, agents, other_runners, memory):
            part(bench)


if __name__ == "__main__":
    main()
