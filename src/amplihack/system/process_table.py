"""Find the processes of this machine in Linux's /proc, and signal exactly the one that is meant.

Other systems have no such table: there, every question has an empty answer.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

from amplihack.recipes.values import one_line
from amplihack.records import Record, field
from amplihack.system.limit_marks import Sign, moment_before
from amplihack.system.process_marks import VARIABLE, carries

TABLE = sys.platform == "linux"  # whether this machine has one
_VARIABLE = f"{VARIABLE}=".encode()
_BECOMING, _MOMENT = 0.5, 0.001  # seconds that a process may take to become another program, between looks
_LONGEST_COMMAND = 100  # characters of a command line that are shown
_LOOKS = 3  # at processes that come and go
_GLIMPSES = 50  # of the newest process, while a tree is being killed
_PAGE = 16_384  # bytes that are read at once
_MARKED_LIMIT = b"Max file locks"
_OF_THE_KERNEL = 0x0020_0000  # the flag of a thread of the kernel's own


class Member(Record):
    """A process. `started` distinguishes it from a later one with the same id."""

    pid: int
    parent: int = field(compare=False)
    group: int = field(compare=False)
    session: int = field(compare=False)
    started: str
    zombie: bool = field(default=False, compare=False)
    kernel: bool = field(default=False, compare=False)


def everyone() -> Iterator[Member]:
    """Yield all visible processes except this one, each as soon as it is seen: it may end at once."""
    return (member for pid in _pids() if (member := look_up(pid)))


def _pids() -> Iterator[int]:
    """Yield the ids of all of them. The newest comes first, several times.

    Of a chain in which each starts the next and ends, nobody in a list is left when the list has been read.
    """
    if TABLE:
        own = os.getpid()
        yield from (pid for _ in range(_LOOKS) if (pid := _newest()) != own)
        names = os.listdir("/proc")  # noqa: PTH208 - a page of names
        yield from (pid for name in names if name.isdigit() and (pid := int(name)) != own)


def _newest() -> int:
    """Return the id that was given last; 0 where the table does not tell."""
    try:
        return int(Path("/proc/loadavg").read_bytes().split()[-1])
    except (OSError, ValueError, IndexError):
        return 0


def look_up(pid: int) -> Member | None:
    text = _read(pid, "stat").decode("utf-8", "replace")
    return parse_stat(text) if text else None


def parse_stat(text: str) -> Member:
    """Parse a line of /proc/<pid>/stat. The program's name in it may hold spaces and parentheses."""
    pid, rest = text.split(" (", 1)
    fields = rest.rsplit(")", 1)[1].split()
    parent, group, session = (int(field) for field in fields[1:4])
    kernel = bool(int(fields[6]) & _OF_THE_KERNEL)
    return Member(int(pid), parent, group, session, fields[19], fields[0] in "ZX", kernel)


def marks_of(member: Member) -> str:
    """Return the marks that a process was started with; empty if it has none or we may not look."""
    if member.kernel:  # half of all processes of many machines
        return ""
    data = b"\0" + _waited_for(member, "environ")
    _, found, value = data.partition(b"\0" + _VARIABLE)
    return value.partition(b"\0")[0].decode("utf-8", "surrogateescape") if found else ""


def command_of(member: Member) -> str:
    """Return the beginning of its command line, on one line."""
    words = _waited_for(member, "cmdline").decode("utf-8", "replace").replace("\0", " ")
    return one_line(words, _LONGEST_COMMAND)


def with_descendants(chosen: Callable[[Member], bool], processes: Iterable[Member]) -> frozenset[Member]:
    """Return the chosen processes and their descendants, without zombies."""
    children: dict[int, list[Member]] = {}
    waiting: list[Member] = []
    for member in processes:
        children.setdefault(member.parent, []).append(member)
        if chosen(member):
            waiting.append(member)
    found: set[Member] = set()
    for member in waiting:  # of one that was seen twice, the first look counts
        if member not in found:
            found.add(member)
            waiting += children.get(member.pid, [])
    return frozenset(member for member in found if not member.zombie)


def limits_of(pid: int) -> tuple[int, int]:
    """Return the limits that may be marks, soft and hard; 0 for one that is none."""
    words = _read(pid, "limits").partition(_MARKED_LIMIT)[2].split(None, 2)[:2]
    soft, hard = (int(word) if word.isdigit() else 0 for word in words or (b"", b""))
    return soft, hard


def tree(sign: Sign, leader: int | None = None, known: Collection[Member] = frozenset()) -> frozenset[Member]:
    """Return all living processes with the sign or in the leader's session, with their descendants.

    Those that are `known` from before count too, with theirs.
    """
    if leader is None and not known and not _may_be_there(sign):
        return frozenset()
    return with_descendants(
        lambda each: each.session == leader or each in known or _has(each, sign), everyone()
    )


def _has(member: Member, sign: Sign) -> bool:
    if member.kernel or int(member.started) < sign.since:
        return False
    return carries(marks_of(member), sign.mark) or _is_limited(member, sign)


def _is_limited(member: Member, sign: Sign) -> bool:
    """Tell by its limits whether a process has the sign.

    No step can start anything in our own session, but another thread of ours can, while the limit is set for
    a step. What we may not signal runs for another user, and is not ours to end.
    """
    if not sign.hard or member.session == os.getsid(0) or not sign.is_on(limits_of(member.pid)):
        return False
    try:
        os.kill(member.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _may_be_there(sign: Sign) -> bool:
    """Tell whether a process may have the sign, by a look that takes a fifth of the whole one.

    One that ended during the look may have started another, which was not in the list yet: if that happens
    each time, there may be a chain of them.
    """
    moment = _trusted_moment() if sign.own else 0.0
    for _ in range(_LOOKS):
        seen = _glance(sign, moment)
        if seen is not None:
            return seen
    return True


def _glance(sign: Sign, moment: float) -> bool | None:
    """Tell whether a process may have the sign; None if there is none, but one has ended meanwhile.

    A process that has nothing to show may be becoming another program. The kernel's have no such file.
    """
    wanted = sign.mark.encode("utf-8", "surrogateescape")
    seen: bool | None = False
    for pid in _pids():
        try:
            if moment and _dated(pid) < moment:
                continue
            found = _whole(pid, "environ")
        except PermissionError:  # of another user, or one that hides it
            found = b"hidden"
        except FileNotFoundError:
            seen = None
            continue
        except OSError:  # it is just ending, or is of the kernel
            continue
        if not found or (wanted in found and _VARIABLE in found):
            return True
        if sign.hard and sign.is_on(limits_of(pid)):
            return True
    return seen


def _trusted_moment() -> float:
    """Return a time that is before all that this process started; 0 if the table knows no times.

    Linux dates the directory of a process when somebody first looks at it, so one that is dated before our
    start is no process of ours, and need not be opened. At our own we looked only after that moment.
    """
    moment = moment_before()
    return moment if _dated(os.getpid()) >= moment else 0.0


def _dated(pid: int) -> float:
    return os.stat(f"/proc/{pid}").st_ctime  # noqa: PTH116 - for each process of the machine


def lives(member: Member) -> bool:
    now = look_up(member.pid)
    return now == member and not now.zombie


def send(member: Member, number: signal.Signals) -> None:
    """Signal this process and no other, even if it ends and its id is reused meanwhile."""
    with suppress(ProcessLookupError, PermissionError):
        try:
            descriptor = os.pidfd_open(member.pid)
        except (AttributeError, OSError):  # no such kernel: a look just before is the best that can be done
            if lives(member):
                os.kill(member.pid, number)
            return
        try:
            if lives(member):
                signal.pidfd_send_signal(descriptor, number)
        finally:
            os.close(descriptor)


def kill(members: Collection[Member], sign: Sign, groups: Iterable[int] = ()) -> None:
    """Kill these processes, and these groups with all that is in them.

    The kernel signals a whole group at once: none of it can start another and end meanwhile, however fast.
    """
    for group in {*groups, *_whole_groups(members, sign)}:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
    for member in chain(members, _newest_with(sign)):
        send(member, signal.SIGKILL)


def _newest_with(sign: Sign) -> Iterator[Member]:
    """Yield new processes with the sign, each as soon as it is seen: it may have left its group."""
    for _ in range(_GLIMPSES):
        if (member := look_up(_newest())) and member.pid != os.getpid() and _has(member, sign):
            yield member


def _whole_groups(members: Collection[Member], sign: Sign) -> set[int]:
    """Return the process groups of these members that hold nobody without the sign.

    What a runner started for itself is in its own group, where a script of the user's may be, too.
    """
    groups = {member.group for member in members} - {0, os.getpgrp()}
    others = (each for each in everyone() if each.group in groups and each not in members)
    return groups - {each.group for each in others if not _has(each, sign) and lives(each)}


def own_start() -> str:
    """Return when this process started, as the table writes it; 0 if there is no table."""
    now = look_up(os.getpid())
    return now.started if now else "0"


def _waited_for(member: Member, name: str) -> bytes:
    """Return what a process was started with. One that is just becoming another program is waited for.

    It shows neither words nor an environment meanwhile: it would be taken for a foreign one and live on.
    """
    deadline = time.monotonic() + _BECOMING
    while not (found := _read(member.pid, name)) and _is_blank(member) and time.monotonic() < deadline:
        time.sleep(_MOMENT)
    return found or _read(member.pid, name)  # its words are there a little before its environment


def _is_blank(member: Member) -> bool:
    """Tell whether a living process has no words. Those of the kernel never have any.

    Session 0 does not tell them: in a container it is that of everything whose session began outside.
    """
    return not member.kernel and not _read(member.pid, "cmdline") and lives(member)


def _read(pid: int, name: str) -> bytes:
    """Return a file of a process; empty if it has ended, or may not be read."""
    try:
        return _whole(pid, name)
    except OSError:
        return b""


def _whole(pid: int, name: str) -> bytes:
    descriptor = os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        found = part = os.read(descriptor, _PAGE)
        while len(part) == _PAGE:  # less is the end, as the kernel has all of it
            found += (part := os.read(descriptor, _PAGE))
        return found
    finally:
        os.close(descriptor)
