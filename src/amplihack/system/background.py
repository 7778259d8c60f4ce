"""Keep processes that steps leave running, until the run ends them.

`server &` in one step serves later steps, whether its output goes to a file or to us. While a run is open
under its mark, `run_process` hands over the pipes that are still open when a process with that mark exits.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from typing import TypeAlias

from amplihack.recipes.events import below
from amplihack.recipes.ports import LeftRunning
from amplihack.system.process_marks import command_after, run_mark, step_of
from amplihack.system.process_table import TABLE, Member, command_of, marks_of, tree
from amplihack.system.process_tree import HURRY, end_tree, group_alive
from amplihack.system.readiness import Readiness
from amplihack.system.spawn import GRACE, ProcessError
from amplihack.system.undisturbed import undisturbed

OnStart: TypeAlias = Callable[[str, int], None]  # the step, and the process

_MOMENT = 0.2  # seconds that those get which are just ending when the run ends
_TURN = 0.02  # seconds that the event loop may wait while short processes follow each other
_NO_MARK = "\0"  # that no environment can hold
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
        self._pipes: list[Callable[[], None]] = []
        self._readiness: Readiness | None = None
        if self._mark:
            _open[self._mark] = self

    def readiness(self) -> Readiness:
        """Return what watches the processes of this run."""
        if self._readiness is None:
            self._readiness = Readiness()
        return self._readiness

    def started(self, pid: int, step: str) -> None:
        """Tell who wants to know that a process of the run has started."""
        if self._on_start is not None:
            self._on_start(step, pid)

    def owes_a_turn(self) -> bool:
        """Tell whether timers and signals have waited long enough for the event loop."""
        return self.alone and time.monotonic() - self._turn > _TURN

    def had_a_turn(self) -> None:
        self._turn = time.monotonic()

    def take(self, leader: int, step: str, mark: str, close_pipes: Callable[[], None]) -> None:
        """Take over what an exited process left running. Its session is still there, and so its own."""
        self._groups[leader] = step
        self._pipes.append(close_pipes)
        if TABLE and group_alive(leader):
            self._stayed.update(dict.fromkeys(tree(mark, leader), step))

    async def end(self, *, grace: float = GRACE) -> tuple[LeftRunning, ...]:
        """End everything that is left, even when cancelled meanwhile, and return what it was."""
        if _open.pop(self._mark, None) is None:
            return ()
        try:
            return await undisturbed(self._end_all(grace))
        finally:
            for close in self._pipes:
                close()
            if self._readiness is not None:
                self._readiness.close()

    async def end_step(self, step: str, *, grace: float = GRACE) -> None:
        """End what a step, and the steps inside it, left running."""
        stayed = frozenset(member for member, each in self._stayed.items() if _is_inside(each, step))
        ends = [end_tree(mark, grace=grace) for mark in self._commands(step.replace(";", ","))]
        if stayed:
            ends.append(end_tree(_NO_MARK, known=stayed, grace=grace))
        if not TABLE:
            groups = [leader for leader, each in self._groups.items() if _is_inside(each, step)]
            ends = [end_tree("", leader=leader, grace=grace) for leader in filter(group_alive, groups)]
        await undisturbed(_gathered(ends))

    def _commands(self, step: str) -> set[str]:
        """Return the marks of all living commands that a step started."""
        alive = {command_after(marks_of(member), self._mark) for member in tree(self._mark)}
        return {mark for mark in alive if _is_inside(step_of(mark), step)}

    async def _end_all(self, grace: float) -> tuple[LeftRunning, ...]:
        clock = asyncio.get_running_loop().time
        deadline = clock() + _MOMENT
        while (left := tuple(self._left())) and clock() < deadline and not HURRY.is_set():  # noqa: ASYNC110
            await asyncio.sleep(_MOMENT / 10)  # what is just ending need not be told
        if left and not await self._ended(grace):
            raise ProcessError(
                "processes that steps left in the background do not end", fix="end them with `kill -9`"
            )
        return left

    async def _ended(self, grace: float) -> bool:
        if TABLE:
            return await end_tree(self._mark, known=frozenset(self._stayed), grace=grace)
        groups = [end_tree("", leader=leader, grace=grace) for leader in filter(group_alive, self._groups)]
        return await _gathered(groups)

    def _left(self) -> Iterator[LeftRunning]:
        """Yield the topmost processes that are left, with the step of each."""
        if not TABLE:
            yield from (LeftRunning(step, "") for leader, step in self._groups.items() if group_alive(leader))
        found = tree(self._mark, known=self._stayed)
        pids = {member.pid for member in found}
        for member in sorted(found, key=_number):
            if member.parent not in pids:
                step = self._stayed.get(member) or step_of(command_after(marks_of(member), self._mark))
                yield LeftRunning(step, command_of(member))


async def _gathered(ends: Sequence[Coroutine[None, None, bool]]) -> bool:
    return all(await asyncio.gather(*ends))


def _is_inside(step: str, outer: str) -> bool:
    return step == outer or below(step, outer)


def _number(member: Member) -> int:
    return member.pid


def background_of(environment: Mapping[str, str]) -> Background | None:
    """Return the background of the run that a process with this environment belongs to."""
    return _open.get(run_mark(environment))
