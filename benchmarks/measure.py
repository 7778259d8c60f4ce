"""Costs of commands and of functions that take turns, and their medians."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Cost:
    """What a work took: seconds of processors, with all that it started, and seconds by the clock."""

    cpu: float
    wall: float

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.cpu - other.cpu, self.wall - other.wall)

    def __truediv__(self, number: float) -> Cost:
        return Cost(self.cpu / number, self.wall / number)


Work: TypeAlias = Callable[[], Cost]


class CommandFailed(Exception):
    """A command that was to be measured and did not do its work."""


def command(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdout: str = os.devnull) -> Work:
    """Return a work that runs a command to its end. It raises CommandFailed."""

    def work() -> Cost:
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, stdout, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        here = Path.cwd()
        os.chdir(cwd)  # posix_spawn has no word for a directory
        try:
            started = time.perf_counter()
            pid = os.posix_spawn(argv[0], list(argv), env, file_actions=actions)
        except OSError as error:
            raise CommandFailed(f"{argv[0]}: {error.strerror}") from error
        finally:
            os.chdir(here)
        _, status, used = os.wait4(pid, 0)
        wall = time.perf_counter() - started
        if status:
            raise CommandFailed(f"{' '.join(argv)} ended with {os.waitstatus_to_exitcode(status)}")
        return Cost(used.ru_utime + used.ru_stime, wall)

    return work


# A process begins with the peak of the one that starts it, so a small one has to.
_PEAK = """
import os, sys
null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
_, status, used = os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=null), 0)
print(used.ru_maxrss)
sys.exit(status != 0)
"""


def peak(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> int:
    """Return the bytes that a command, or a process that it started, had at most. Raises CommandFailed."""
    small = [sys.executable, "-I", "-S", "-c", _PEAK, *argv]
    done = subprocess.run(small, cwd=cwd, env=dict(env), stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise CommandFailed(f"{' '.join(argv)} failed")
    return int(done.stdout) * 1024


def function(action: Callable[[], object]) -> Work:
    """Return a work that calls a function of this process."""

    def work() -> Cost:
        wall, cpu = time.perf_counter(), time.process_time()
        action()
        return Cost(time.process_time() - cpu, time.perf_counter() - wall)

    return work


def in_turns(works: Mapping[str, Work], rounds: int, *, least: bool = False) -> dict[str, Cost]:
    """Return the median, or least, cost of each work. They take turns: a busy machine slows all alike."""
    costs: dict[str, list[Cost]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            costs[name].append(work())
    return {name: (minimum if least else median)(found) for name, found in costs.items()}


def median(costs: Sequence[Cost]) -> Cost:
    return Cost(
        statistics.median(each.cpu for each in costs),
        statistics.median(each.wall for each in costs),
    )


def minimum(costs: Sequence[Cost]) -> Cost:
    """Return the least of each measure: for small differences, to which a busy machine only adds."""
    return Cost(min(each.cpu for each in costs), min(each.wall for each in costs))
