"""Mark processes by a resource limit, to find those that kept nothing else of what they were started with.

A process may leave its session and lose its parent, empty its environment or hide it. Its limits stay: every
child inherits them, and everybody can read them in /proc. Linux ignores the limit on file locks since 2.6,
so its two numbers are free to hold marks:

    hard: the outermost run. It can be lowered, and not raised again, so an inner run leaves it as it is.
    soft: the command of the innermost run. Of what the runner starts for itself, it is the hard limit.

Limits belong to the whole process, so this is for a process that is there for one run. A program that uses us
as a library would mark what it starts on its own.
"""

from __future__ import annotations

import itertools
import os
import re
import sys
import time
from collections.abc import Callable, Container
from typing import TypeAlias

from amplihack.records import Record
from amplihack.system.process_marks import starter

_LOCKS = 10  # RLIMIT_LOCKS, which the module `resource` has no name for
_OUTERMOST = 1 << 62  # hard limits from here to the double are marks of runs
_COMMANDS = 1 << 24  # commands of one process; later ones have the numbers of the first again
_SHORT, _TICK = 10.0, 0.05  # seconds: a run in which no clock is set, and how coarse the clock of /proc is
_RUNNERS = 1 << 37  # what is left of the numbers below hard limits, for runs in one another

_MOMENT, _BEGAN = time.time(), time.monotonic()
_TRACES = re.compile(r"[0-9a-f]{16}(\.[0-9a-f]{1,16}){4}|[0-9a-f]{16}")
SetLimit: TypeAlias = Callable[[int, tuple[int, int]], None]


class Sign(Record):
    """What tells that processes belong together: a mark in their environment, or their limits.

    `since` is the start, as /proc writes it, that none of them can be older than. `own` tells that this
    process has started them.
    """

    mark: str
    hard: int = 0  # none
    soft: Container[int] = ()
    since: int = 0
    own: bool = False

    def is_on(self, limits: tuple[int, int]) -> bool:
        """Tell whether these limits, soft and hard, are the wanted ones."""
        soft, hard = limits
        return hard == self.hard != 0 and soft in self.soft


class Marking:
    """The marks that this process gives to what it starts; `own` is the soft limit that it has itself."""

    def __init__(self, own: int, hard: int, *, outermost: bool, since: int, set_limit: SetLimit) -> None:
        self.pid, self.own, self.hard, self.since = os.getpid(), own, hard, since
        self._set_limit = set_limit
        self.outermost, self.first = outermost, (1 + _random(_RUNNERS)) * _COMMANDS
        self.steps: list[str] = []  # of all commands so far, by their number
        self._numbers = itertools.cycle(range(_COMMANDS))

    def of_steps(self) -> range:
        """Return the soft limits of what steps start. The outermost run has those of the inner ones too."""
        return range(self.hard) if self.outermost else range(self.first, self.first + _COMMANDS)

    def of_all(self) -> range:
        """Return the soft limits of all that dies with us."""
        return range(self.hard + 1) if self.outermost else self.of_steps()

    def give(self, soft: int) -> None:
        """Let what is started from now on have this soft limit."""
        try:
            self._set_limit(_LOCKS, (soft, self.hard))
        except (OSError, ValueError):  # somebody has lowered our limit: other marks have to do
            return

    def next(self, step: str) -> int:
        number = next(self._numbers)
        if len(self.steps) < _COMMANDS:
            self.steps.append(step)
        else:
            self.steps[number] = step
        return self.first + number


_ours: list[Marking] = []


def mark_what_we_start(since: int) -> bool:
    """Let all that this process starts carry marks from now on, and tell whether they are new.

    `since` is the start of this process. Where the machine has no such limit, there are none.
    """
    if sys.platform != "linux" or marking() is not None:
        return False
    import resource  # deferred: runs alone need it

    try:
        soft, hard = resource.getrlimit(_LOCKS)
        outermost = hard == resource.RLIM_INFINITY
        if outermost:
            soft = hard = _OUTERMOST + _random(_OUTERMOST)
            resource.setrlimit(_LOCKS, (soft, hard))
        elif hard < _OUTERMOST:  # somebody means the limit
            return False
    except (OSError, ValueError, OverflowError):  # a machine that has no such limit, or 32 bits for it
        return False
    _ours[:] = [Marking(soft, hard, outermost=outermost, since=since, set_limit=resource.setrlimit)]
    return True


def moment_before() -> float:
    """Return a time that is before all that is marked, by the clock of /proc.

    It is 0, which is before everything, for a long run: the clock may have been set meanwhile.
    """
    lasted = time.monotonic() - _BEGAN
    return min(_MOMENT, time.time() - lasted) - _TICK if lasted < _SHORT else 0.0


def marking() -> Marking | None:
    """Return the marks of this process, if it gives any. A fork of ours gives none."""
    return _ours[0] if _ours and _ours[0].pid == os.getpid() else None


def command_sign(mark: str, step: str) -> tuple[Sign, int]:
    """Return the sign of a new command with this mark, and the limit to start it with; 0 if none."""
    ours = marking()
    if ours is None:
        return Sign(mark), 0
    number = ours.next(step)
    return Sign(mark, ours.hard, (number,), ours.since, own=True), number


def steps_sign(mark: str) -> Sign:
    """Return the sign of all that the steps of this process started. The mark is that of their run."""
    ours = marking()
    return Sign(mark) if ours is None else Sign(mark, ours.hard, ours.of_steps(), ours.since, own=True)


def traces() -> str:
    """Return in one word how to find all that dies with this process, for whoever comes after it."""
    ours = marking()
    numbers = () if ours is None else (ours.hard, ours.of_all().start, ours.of_all().stop, ours.since)
    return ".".join([starter().removesuffix("-"), *(f"{number:x}" for number in numbers)])


def sign_of(traces: str) -> Sign | None:
    """Return what to look for, of a process that has left these traces; None if they are none."""
    mark, *numbers = traces.split(".")
    if not _TRACES.fullmatch(traces):
        return None
    if not numbers:
        return Sign(f"{mark}-")
    hard, first, end, since = (int(number, 16) for number in numbers)
    return Sign(f"{mark}-", hard, range(first, end), since)


def step_with(limits: tuple[int, int]) -> str | None:
    """Return the step of a process of ours with these limits, soft and hard; None if it is no such one."""
    ours = marking()
    if ours is None or limits[1] != ours.hard or not 0 <= limits[0] - ours.first < len(ours.steps):
        return None
    return ours.steps[limits[0] - ours.first]


def _random(size: int) -> int:
    """Return a number below a power of two that nobody can guess."""
    return int.from_bytes(os.urandom(8), "big") % size
