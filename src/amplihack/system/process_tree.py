"""Ending a process with everything that it started: ask, wait, insist, and check that nothing is left.

A process of ours leads its own session and group. On Linux the whole session is found in /proc, and with it
every descendant: `timeout`, `set -m` and agent tools put their children into groups of their own, where a
signal to our group does not reach. Elsewhere the group is all that is signalled. What a program has both
detached into a session of its own *and* orphaned can no longer be told from a stranger; it stays.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from amplihack.records import Record

_PROC = Path("/proc")
_SHORTEST, _LONGEST = 0.001, 0.05  # seconds between looks while a tree is ending; bounded by its grace


class Member(Record):
    """A living process; `started` tells it from a later one with the same number."""

    pid: int
    parent: int
    group: int
    session: int
    started: str
    zombie: bool = False


async def end_tree(leader: int, *, grace: float) -> bool:
    """SIGTERM, up to `grace` seconds, then SIGKILL, to all that `leader` started; whether all are gone."""
    known = tree(leader)
    _signal(leader, known, signal.SIGTERM)
    _signal(leader, known, signal.SIGCONT)  # a stopped process must be woken to receive the other
    if await _gone(leader, known, grace, insist=False):
        return True
    return await _gone(leader, known, max(grace, 1.0), insist=True)


async def _gone(leader: int, known: frozenset[Member], patience: float, *, insist: bool) -> bool:
    clock = asyncio.get_running_loop().time
    deadline, pause = clock() + patience, _SHORTEST
    while alive := _alive(leader, known):
        if clock() >= deadline:
            return False
        if insist:  # each time: a tree may grow while it is being felled
            _signal(leader, alive, signal.SIGKILL)
        await asyncio.sleep(pause)
        pause = min(pause * 2, _LONGEST)
    return True


def group_alive(leader: int) -> bool:
    """Whether something still runs in the group of a leader that has ended and been reaped."""
    try:
        os.kill(leader, 0)
    except ProcessLookupError:
        return _reachable(leader) and bool(_alive(leader, frozenset()))
    except PermissionError:
        return False
    return False  # the number belongs to somebody else by now: a group that is in use reserves it


def tree(leader: int) -> frozenset[Member]:
    """The living members of the leader's session and their descendants; nothing without /proc."""
    if sys.platform != "linux":
        return frozenset()
    return descendants(leader, _everyone())


def descendants(leader: int, everyone: Iterable[Member]) -> frozenset[Member]:
    """Of everyone, those in the leader's session and whatever they started, without zombies."""
    children: dict[int, list[Member]] = {}
    waiting: list[Member] = []
    for member in everyone:
        children.setdefault(member.parent, []).append(member)
        if member.session == leader:
            waiting.append(member)
    found: set[Member] = set()
    while waiting:
        member = waiting.pop()
        if member not in found:
            found.add(member)
            waiting += children.get(member.pid, [])
    return frozenset(member for member in found if not member.zombie)


def parse_stat(text: str) -> Member:
    """A line of /proc/<pid>/stat; the program's name in it may hold spaces and parentheses."""
    pid, rest = text.split(" (", 1)
    fields = rest.rsplit(")", 1)[1].split()
    parent, group, session = (int(field) for field in fields[1:4])
    return Member(int(pid), parent, group, session, fields[19], fields[0] in "ZX")


def _everyone() -> list[Member]:
    pids = [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]
    return [member for pid in pids if (member := _look_up(pid))]


def _look_up(pid: int) -> Member | None:
    try:
        return parse_stat((_PROC / str(pid) / "stat").read_text("utf-8", "replace"))
    except (FileNotFoundError, ProcessLookupError):
        return None  # it ended while we looked


def _alive(leader: int, known: frozenset[Member]) -> frozenset[Member]:
    if sys.platform != "linux":
        return frozenset([Member(leader, 0, leader, leader, "")] if _reachable(leader) else [])
    return tree(leader) | frozenset(member for member in known if _lives(member))


def _lives(member: Member) -> bool:
    now = _look_up(member.pid)
    return now is not None and now.started == member.started and not now.zombie


def _reachable(leader: int) -> bool:
    try:
        os.killpg(leader, 0)
    except (ProcessLookupError, PermissionError):  # macOS refuses a group of zombies with the latter
        return False
    return True


def _signal(leader: int, members: frozenset[Member], number: signal.Signals) -> None:
    """Once to each: the group as a whole, and those that have left it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)
    for member in members:
        if member.group != leader and _lives(member):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(member.pid, number)
