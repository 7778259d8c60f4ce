"""End a process with everything that it started: SIGTERM, wait, SIGKILL, and check that nothing is left.

A process of ours leads its own session and group and carries a mark. On Linux all its descendants are found
in /proc: by the session, by the parents, by the mark, which stays after both are gone, and by its limits,
which stay after all else. `timeout`, `set -m`, `setsid` and agent tools put their children where a signal to
our group does not reach. On other systems only the group is signalled. Where no limits are set, as in a
program that uses us as a library, a process that was detached into its own session, orphaned *and* stripped
of its environment cannot be told from a foreign one; it stays.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Collection
from contextlib import suppress

from amplihack.system.limit_marks import Sign
from amplihack.system.process_table import TABLE, Member, kill, lives, send, tree, with_descendants

_SHORTEST, _LONGEST = 0.001, 0.05  # seconds between looks while a tree is ending; bounded by its grace
_LAST_LOOKS = 5
_PATIENCE = 10.0  # seconds that a process gets to die of a SIGKILL before we give up

STOPPING = threading.Event()  # set when all that this process runs is to end, after the first Ctrl-C
HURRY = threading.Event()  # set it to end every period of grace now, after a second Ctrl-C


async def end_tree(
    sign: Sign,
    *,
    leader: int | None = None,
    known: frozenset[Member] = frozenset(),
    asked: frozenset[Member] = frozenset(),
    grace: float,
) -> bool:
    """Send SIGTERM, wait up to `grace` seconds, then send SIGKILL; return whether all are gone.

    This ends everything that has the sign, that the leader started or that is in its session, and what
    is `known` already. The leader must not be reaped yet, so that its process id is still its own. What a
    process starts after it was asked, to clean up, is left alone until that process has ended; some may
    have been `asked` before.
    """
    clock, pause = asyncio.get_running_loop().time, _SHORTEST
    deadline = clock() + grace
    looks = 0  # without anything alive
    own_group = () if leader is None else (leader,)
    # One that was started while the table was read, by one that ended then, is not in it: the end is looked
    # at several times.
    while (alive := _living(sign, leader, known)) or (known and looks < _LAST_LOOKS):
        looks = 0 if alive else looks + 1
        insist = clock() >= deadline or HURRY.is_set()
        if alive and insist:  # each time: a tree may grow while it is being felled
            kill(alive, sign, own_group)
        elif new := _on_their_own(alive, asked):
            ask_to_end(new, () if asked else own_group)
            asked |= new
        if alive and clock() >= deadline + _PATIENCE:
            return False
        known |= alive
        await asyncio.sleep(pause if alive else _SHORTEST)
        pause = min(pause * 2, _LONGEST)
    return True


def ask_to_end(members: frozenset[Member], groups: Collection[int] = ()) -> None:
    """Send SIGTERM to processes and groups, and wake those that are stopped, so that they hear it."""
    _signal(members, groups, signal.SIGTERM)
    _signal(members, groups, signal.SIGCONT)


def leaves_something(sign: Sign, leader: int) -> bool:
    """Tell whether something still runs of what a leader started that has ended and is not reaped yet."""
    return bool(_living(sign, leader, frozenset()))


def _on_their_own(alive: frozenset[Member], asked: frozenset[Member]) -> frozenset[Member]:
    """Return those that nobody started who was asked to end and is still at it."""
    return alive - with_descendants(lambda member: member in asked, alive)


def _living(sign: Sign, leader: int | None, known: frozenset[Member]) -> frozenset[Member]:
    """Return all living processes of a tree, also those known from before."""
    if not TABLE:
        alive = leader is not None and group_reachable(leader)
        return frozenset([Member(leader or 0, 0, leader or 0, leader or 0, "")] if alive else [])
    found = tree(sign, leader, known)
    return found | frozenset(member for member in known - found if lives(member))


def group_alive(leader: int) -> bool:
    """Tell whether something still runs in the group of a leader that has ended and been reaped."""
    if not group_reachable(leader):
        return False
    try:
        os.kill(leader, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False  # the id is in use again, which cannot be while its group exists


def group_reachable(leader: int) -> bool:
    try:
        os.killpg(leader, 0)
    except (ProcessLookupError, PermissionError):  # macOS refuses a group of zombies with the latter
        return False
    return True


def _signal(members: frozenset[Member], groups: Collection[int], number: signal.Signals) -> None:
    """Signal each process once: these groups as wholes, and those outside of them."""
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
    for member in members:
        if member.group not in groups:
            send(member, number)
