from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable

import pytest

from amplihack.system import process_table
from amplihack.system.limit_marks import Sign
from amplihack.system.process_marks import VARIABLE
from amplihack.system.process_table import (
    Member,
    command_of,
    kill,
    look_up,
    marks_of,
    parse_stat,
    with_descendants,
)


def member(pid: int, parent: int, session: int, *, zombie: bool = False) -> Member:
    return Member(pid, parent, session, session, "0", zombie)


def descendants(leader: int, processes: Iterable[Member]) -> frozenset[Member]:
    return with_descendants(lambda each: each.session == leader, processes)


def test_a_stat_line_is_read_whatever_the_program_is_called() -> None:
    line = "42 (a) b (c) S 7 40 41 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 987654 1 1"
    assert parse_stat(line) == Member(42, 7, 40, 41, "987654")


def test_a_zombie_is_told_from_a_living_process() -> None:
    assert parse_stat("42 (x) Z 7 40 41 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 1 1 1").zombie


def test_a_process_of_the_kernel_is_told_by_its_flag_and_not_by_its_session() -> None:
    """In a container, session 0 is that of every process whose session began outside."""
    kernel = parse_stat("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 25 0 0")
    contained = parse_stat("2 (cat) R 1 0 0 0 -1 4194304 100 0 0 0 0 0 0 0 20 0 1 0 14826 1 1")
    assert (kernel.kernel, contained.kernel) == (True, False)


def test_the_session_and_all_that_it_started_are_found_and_strangers_are_not() -> None:
    leader, child, detached, below = (
        member(10, 1, 10),
        member(11, 10, 10),
        member(12, 11, 12),
        member(13, 12, 12),
    )
    strangers = [member(1, 0, 1), member(20, 1, 20), member(21, 20, 20)]
    assert descendants(10, [*strangers, below, detached, child, leader]) == {leader, child, detached, below}


def test_a_zombie_is_not_alive_but_its_children_are() -> None:
    orphan = member(11, 10, 10)
    assert descendants(10, [member(10, 1, 10, zombie=True), orphan]) == {orphan}


def test_one_that_ends_during_the_look_was_alive() -> None:
    """The newest processes are looked at before all others, and again in their turn."""
    seen, later = member(10, 1, 10), member(10, 1, 10, zombie=True)
    assert descendants(10, [seen, later]) == {seen}


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
@pytest.mark.parametrize("marked", [True, False])
def test_a_group_is_killed_as_a_whole_only_if_all_of_it_has_the_sign(marked: bool) -> None:
    """What a runner starts for itself is in its own group, where a script of the user's may be, too."""
    ours = {**os.environ, VARIABLE: "one-1:s;"}
    leader = subprocess.Popen(["sleep", "60"], env=ours, process_group=0)
    other = subprocess.Popen(
        ["sleep", "60"], env=ours if marked else dict(os.environ), process_group=leader.pid
    )
    try:
        found = look_up(leader.pid)
        assert found is not None
        kill([found], Sign("one-"))
        assert leader.wait(10) == -signal.SIGKILL
        time.sleep(0.1)
        assert (other.poll() is None) is not marked
    finally:
        for each in (leader, other):
            each.kill()
            each.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
def test_a_process_that_is_becoming_another_program_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the kernel shows it in the middle of an `exec`: for some reads without words and environment."""
    blank = [3, 3]
    read = process_table._read

    def read_in_between(pid: int, name: str) -> bytes:
        which = ("environ", "cmdline").index(name) if name != "stat" else None
        if which is None or not blank[which]:
            return read(pid, name)
        blank[which] -= 1
        return b""

    with subprocess.Popen(["/bin/sleep", "600"], env={VARIABLE: "run.1;"}) as process:
        try:
            while read(process.pid, "cmdline") != b"/bin/sleep\x00600\x00":
                os.sched_yield()
            monkeypatch.setattr(process_table, "_read", read_in_between)
            member = look_up(process.pid)
            assert member is not None
            assert marks_of(member) == "run.1;"
            blank[:] = [0, 3]
            assert command_of(member) == "/bin/sleep 600"
        finally:
            process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
def test_one_that_is_started_by_another_that_ends_during_the_look_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with subprocess.Popen(["/bin/sleep", "600"], env={VARIABLE: "run.1;"}) as heir:
        ended = subprocess.Popen(["/bin/true"])
        ended.wait()
        lists = iter([[ended.pid]])  # of a look that came too early for the heir
        pids = process_table._pids
        monkeypatch.setattr(process_table, "_pids", lambda: next(lists, None) or pids())
        try:
            assert [each.pid for each in process_table.tree(Sign("run.1"))] == [heir.pid]
        finally:
            heir.kill()
