"""Keep processes that steps leave running, until the run ends them.

`server &` in one step serves later steps, whether its output goes to a file or to us. While a run is open
under its mark, `run_process` hands over the pipes that are still open when a process with that mark exits.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from amplihack.recipes.events import below
from amplihack.recipes.ports import LeftRunning
from amplihack.system.limit_marks import Sign, step_with, steps_sign
from amplihack.system.process_marks import command_after, run_mark, step_of
from amplihack.system.process_table import (
    TABLE,
    Member,
    command_of,
    limits_of,
    marks_of,
    tree,
    with_descendants,
)
from amplihack.system.process_tree import HURRY, ask_to_end, end_tree, group_alive
from amplihack.system.readiness import Readiness
from amplihack.system.spawn import GRACE, ProcessError, keep_watched
from amplihack.system.undisturbed import undisturbed

OnStart: TypeAlias = Callable[[str, int], None]  # the step, and the process

_MOMENT = 0.2  # seconds that those get which are just ending when the run ends
_TURN = 0.02  # seconds that the event loop may wait while short processes follow each other
_FIRST = 1  # the process that a container begins with
_NO_MARK = "\0"  # that no environment can hold
_NO_SIGN = Sign(_NO_MARK)
_open: dict[str, Background] = {}


class Background:
    """The background processes of one run. All of them start with `environment`.

    `alone` tells that the event loop is there for this run, so that a step may keep it waiting for a moment.
    """

    def __init__(
        self, environment: Mapping[str, str], on_start: OnStart | None = None, *, alone: bool = False
    ) -> None:
        self._mark, self._on_start = run_mark(environment), on_start
        self.alone, self._turn = alone, 0.0  # when the event loop last had a turn
        self._groups: dict[int, str] = {}  # what is known without /proc: leaders, and their steps
        # What stayed in the session of a step when it ended, which it may have lost its mark in (`env -i`).
        self._stayed: dict[Member, str] = {}
        self._sign = steps_sign(self._mark) if alone else Sign(self._mark)  # of all of them
        self._running: dict[int, Sign] = {}  # commands that somebody waits for, by their leaders
        self._asked, self._told = frozenset[Member](), dict[Member, LeftRunning]()
        self._asked_at: float | None = None
        self._pipes: list[Callable[[], None]] = []
        self._readiness: Readiness | None = None
        self._duties: tuple[Callable[[], None], ...] = ()  # what stops them
        if self._mark:
            _open[self._mark] = self

    def readiness(self) -> Readiness:
        """Return what watches the processes of this run."""
        if self._readiness is None:
            self._readiness = Readiness()
            if self.alone:
                self._duties = (keep_watched(self._readiness), *self._reaping())
        return self._readiness

    def _reaping(self) -> Iterator[Callable[[], None]]:
        if os.getpid() == _FIRST:
            from amplihack.system.adopted import keep_reaping  # deferred: hardly any process is the first

            yield keep_reaping(self._running)

    def started(self, pid: int, step: str, sign: Sign) -> None:
        """Remember a command that has started, and tell who wants to know of it."""
        self._running[pid] = sign
        if self._on_start is not None:
            self._on_start(step, pid)

    def ended(self, pid: int) -> None:
        """Forget a command that has ended."""
        self._running.pop(pid, None)

    def owes_a_turn(self) -> bool:
        """Tell whether timers and signals have waited long enough for the event loop."""
        return self.alone and time.monotonic() - self._turn > _TURN

    def had_a_turn(self) -> None:
        self._turn = time.monotonic()

    def take(self, leader: int, step: str, sign: Sign, close_pipes: Callable[[], None]) -> None:
        """Take over what an exited process left running. Its session is still there, and so its own."""
        self._groups[leader] = step
        self._pipes.append(close_pipes)
        if TABLE and not sign.hard and group_alive(leader):
            self._stayed.update(dict.fromkeys(tree(sign, leader), step))

    def ask(self) -> None:
        """Ask what steps have left running to end, while the commands that still run are being ended.

        So both have the same period of grace. What is left of them then, `end` ends.
        """
        if self._asked_at is not None or not TABLE:
            return
        self._asked_at = time.monotonic()
        alive = self._members()
        self._asked = alive - self._of_running(alive)
        self._told = self._named(self._asked)
        ask_to_end(self._asked)

    async def end(self, *, grace: float = GRACE) -> tuple[LeftRunning, ...]:
        """End everything that is left, even when cancelled meanwhile, and return what it was."""
        if _open.pop(self._mark, None) is None:
            return ()
        try:
            return await undisturbed(self._end_all(grace))
        finally:
            for close in self._pipes:
                close()
            for stop in self._duties:
                stop()
            if self._readiness is not None:
                self._readiness.close()

    async def end_step(self, step: str, *, grace: float = GRACE) -> None:
        """End what a step, and the steps inside it, left running."""
        stayed = frozenset(member for member, each in self._stayed.items() if _is_inside(each, step))
        ends = [end_tree(sign, grace=grace) for sign in self._commands(step)]
        if stayed:
            ends.append(end_tree(_NO_SIGN, known=stayed, grace=grace))
        if not TABLE:
            groups = [leader for leader, each in self._groups.items() if _is_inside(each, step)]
            ends = [end_tree(_NO_SIGN, leader=leader, grace=grace) for leader in filter(group_alive, groups)]
        await undisturbed(_gathered(ends))

    def _commands(self, step: str) -> Iterator[Sign]:
        """Yield the signs of all living commands that a step started."""
        marks, numbers = set[str](), set[int]()
        for member in tree(self._sign):
            limits = limits_of(member.pid)
            by_number = step_with(limits)
            if by_number is None:
                marks.add(command_after(marks_of(member), self._mark))
            elif _is_inside(by_number, step):
                numbers.add(limits[0])
        named = step.replace(";", ",")
        yield from (Sign(mark) for mark in marks if _is_inside(step_of(mark), named))
        if numbers:
            yield Sign(_NO_MARK, self._sign.hard, numbers, self._sign.since)

    async def _end_all(self, grace: float) -> tuple[LeftRunning, ...]:
        clock = asyncio.get_running_loop().time
        deadline = clock() + _MOMENT
        while (left := self._left()) and clock() < deadline and not HURRY.is_set():  # noqa: ASYNC110
            await asyncio.sleep(_MOMENT / 10)  # what is just ending need not be told
        if self._asked_at is not None:
            grace = max(0.0, self._asked_at + grace - time.monotonic())
        if left and not await self._ended(grace):
            raise ProcessError(
                "processes that steps left in the background do not end", fix="end them with `kill -9`"
            )
        return tuple({**self._told, **left}.values())

    async def _ended(self, grace: float) -> bool:
        if TABLE:
            known = frozenset(self._stayed)
            return await end_tree(self._sign, known=known, asked=self._asked, grace=grace)
        groups = [
            end_tree(_NO_SIGN, leader=leader, grace=grace) for leader in filter(group_alive, self._groups)
        ]
        return await _gathered(groups)

    def _left(self) -> dict[Member, LeftRunning]:
        """Return what is left, with the step of each."""
        if TABLE:
            return self._named(self._members())
        alive = filter(group_alive, self._groups)
        return {
            Member(leader, 0, leader, leader, ""): LeftRunning(self._groups[leader], "") for leader in alive
        }

    def _members(self) -> frozenset[Member]:
        """Return all living processes of the run."""
        return tree(self._sign, known=self._stayed)

    def _of_running(self, members: Iterable[Member]) -> frozenset[Member]:
        """Return those processes of the run that belong to commands which somebody waits for."""
        signs = self._running.values()
        marks = {sign.mark for sign in signs}
        return with_descendants(
            lambda each: (
                each.session in self._running
                or command_after(marks_of(each), self._mark) in marks
                or any(sign.is_on(limits_of(each.pid)) for sign in signs)
            ),
            members,
        )

    def _named(self, members: Collection[Member]) -> dict[Member, LeftRunning]:
        """Return the topmost ones, with the step and the command of each."""
        pids = {member.pid for member in members}
        topmost = (member for member in sorted(members, key=_number) if member.parent not in pids)
        return {member: LeftRunning(self._step_of(member), command_of(member)) for member in topmost}

    def _step_of(self, member: Member) -> str:
        """Return the step that started a process; empty if it is one of an inner run that hides it."""
        return (
            self._stayed.get(member)
            or step_with(limits_of(member.pid))
            or step_of(command_after(marks_of(member), self._mark))
        )


async def _gathered(ends: Sequence[Coroutine[None, None, bool]]) -> bool:
    return all(await asyncio.gather(*ends))


def _is_inside(step: str | None, outer: str) -> bool:
    return step == outer or (step is not None and below(step, outer))


def _number(member: Member) -> int:
    return member.pid


def background_of(environment: Mapping[str, str]) -> Background | None:
    """Return the background of the run that a process with this environment belongs to."""
    return _open.get(run_mark(environment))
