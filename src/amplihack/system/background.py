"""What the steps of a run leave running: it lives, and is heard, until the run ends it.

`server &` in one step serves the next ones, whether its output goes to a file or to ours. While a run is open
under its mark, `run_process` hands over the pipes that are still held when a process with that mark exits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from amplihack.recipes.ports import LeftRunning
from amplihack.system.marks import run_mark, step_after
from amplihack.system.process_table import TABLE, Member, command_of, marks_of, tree
from amplihack.system.process_tree import end_tree, group_alive
from amplihack.system.spawn import GRACE, ProcessError
from amplihack.system.undisturbed import undisturbed

_open: dict[str, Background] = {}


class Background:
    """The background of one run; `environment` is the one that all its processes start with."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._mark = run_mark(environment)
        self._groups: dict[int, str] = {}  # what is known without /proc: leaders, and their steps
        self._pipes: list[Callable[[], None]] = []
        if self._mark:
            _open[self._mark] = self

    def take(self, leader: int, step: str, close_pipes: Callable[[], None]) -> None:
        """Take over what a process that has exited left running."""
        self._groups[leader] = step
        self._pipes.append(close_pipes)

    async def end(self, *, grace: float = GRACE) -> tuple[LeftRunning, ...]:
        """End all that is left, even when cancelled meanwhile, and tell what that was."""
        if _open.pop(self._mark, None) is None:
            return ()
        left = tuple(self._left())
        try:
            if left and not await undisturbed(self._end(grace)):
                raise ProcessError("processes that steps left in the background do not end")
        finally:
            for close in self._pipes:
                close()
        return left

    async def _end(self, grace: float) -> bool:
        if TABLE:
            return await end_tree(self._mark, grace=grace)
        ended = [
            await end_tree(self._mark, leader=each, grace=grace) for each in filter(group_alive, self._groups)
        ]
        return all(ended)

    def _left(self) -> Iterator[LeftRunning]:
        """Return the processes that no other one of them has started, with the step of each."""
        if not TABLE:
            yield from (LeftRunning(step, "") for leader, step in self._groups.items() if group_alive(leader))
        found = tree(self._mark)
        pids = {member.pid for member in found}
        for member in sorted(found, key=_number):
            if member.parent not in pids:
                yield LeftRunning(step_after(marks_of(member), self._mark), command_of(member))


def _number(member: Member) -> int:
    return member.pid


def background_of(environment: Mapping[str, str]) -> Background | None:
    """Return the background of the run to which a process with this environment belongs."""
    return _open.get(run_mark(environment))
