"""Run processes: stream and keep output of any size, and leave nothing running.

A process leads a session of its own, and everything that it starts carries its mark, so that the whole tree
can be ended. When it exits, processes that still hold its output pipes get a short moment to finish. After
that they belong to the background of the run, or are ended if there is none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, TypeAlias

from amplihack.records import Record
from amplihack.system.background import Background, background_of
from amplihack.system.child import entries
from amplihack.system.limit_marks import command_sign
from amplihack.system.pipes import OutputPipe, Stream
from amplihack.system.process_marks import VARIABLE, command_mark, with_mark
from amplihack.system.process_table import TABLE
from amplihack.system.process_tree import STOPPING, end_tree, group_alive, leaves_something
from amplihack.system.readiness import Readiness
from amplihack.system.spawn import Command, ProcessError, exits_within, not_started, on_exit, start
from amplihack.system.spool import Captured
from amplihack.system.undisturbed import undisturbed

__all__ = ["Captured", "Command", "Finished", "LineListener", "ProcessError", "run_process"]

_SILENCE = 0.2  # seconds without output after which those who hold a dead process's pipes are left behind
_FIRST_WORDS = 0.005  # seconds before output is read: a short process has ended by then, and is read once
_LAST_WORDS = 2.0  # seconds that they get in all, however much they print

LineListener: TypeAlias = Callable[[Stream, Sequence[str]], None]
Ending: TypeAlias = Literal["exit", "timeout", "idle"]


class Finished(Record, kw_only=True):
    """How a process ended: by `exit_code` or by `signal`, with its output.

    `cut_off` says that it had left something running, which was ended.
    """

    pid: int
    exit_code: int | None
    signal: int | None
    timed_out: bool
    idle_timed_out: bool
    cut_off: bool = False
    stdout: Captured
    stderr: Captured

    @property
    def ok(self) -> bool:
        return self.exit_code == 0 and not self.timed_out and not self.idle_timed_out

    @property
    def status(self) -> str:
        """Return `exit 3`, or `signal 15` for a process that was killed."""
        return f"exit {self.exit_code}" if self.signal is None else f"signal {self.signal}"


async def run_process(command: Command, on_lines: LineListener | None = None) -> Finished:
    """Run a process to its end or to a timeout. When cancelled, the whole tree is ended first."""
    background = background_of(command.env)
    if background is not None and background.owes_a_turn():
        await asyncio.sleep(0)
        background.had_a_turn()
    watch = _Watch(command, on_lines, background)
    if watch.ended_at_once():
        return watch.finished("exit")
    try:
        ending = await watch.ending()
        if background is not None:
            background.had_a_turn()
    except BaseException:  # cancelled, a listener that raised, a full disk
        if background is not None and STOPPING.is_set():
            background.ask()  # what it would ask later has the same time as the steps
        await undisturbed(watch.end())
        watch.forget_output()
        raise
    cut_off = ending == "exit" and watch.must_end
    if ending != "exit" or cut_off:
        await undisturbed(watch.end())
    return watch.finished(ending, cut_off=cut_off)


def _variables(command: Command, mark: str) -> dict[str, bytes]:
    """Return all that the process gets. Raises ProcessError."""
    try:
        own = entries({**command.env, VARIABLE: with_mark(command.env, mark)})
    except ValueError as error:
        raise not_started(command, error) from error
    return {**command.inherited, **own} if command.inherited else own


class _Watch:
    """A running process, its pipes and its timers."""

    def __init__(
        self, command: Command, on_lines: LineListener | None, background: Background | None
    ) -> None:
        mark, self._background = command_mark(command.step), background
        self._sign, limit = command_sign(mark, command.step)
        self._readiness = Readiness() if background is None else background.readiness()
        self._command, self._on_lines = command, on_lines
        self._loop = asyncio.get_running_loop()
        self._ending: asyncio.Future[Ending] | None = None  # made when somebody waits for it
        self._forget_exit: Callable[[], None] | None = None
        # Handed over at the end: this object is part of cycles, and they must not keep a large file open.
        self._outputs: dict[Stream, Captured] = {
            "stdout": Captured(command.output_limit),
            "stderr": Captured(command.output_limit),
        }
        self._failure: BaseException | None = None
        self._timers: list[asyncio.TimerHandle] = []
        self._exited = False
        try:
            self._process = start(command, _variables(command, mark), limit)
        except BaseException:
            self._stop_readiness()
            raise
        if self._background is not None:
            self._background.started(self._process.pid, command.step, self._sign)
        self._last_heard = self._loop.time()
        longest = None if on_lines is None else command.longest_line
        at_once = command.lines_at_once
        self._pipes = (
            OutputPipe("stdout", self._process.stdout, self, self._readiness, longest, at_once=at_once),
            OutputPipe("stderr", self._process.stderr, self, self._readiness, longest, at_once=at_once),
        )

    def ended_at_once(self) -> bool:
        """Wait for its end a moment, if there is nothing else to do, and tell whether it is over.

        Most steps of many recipes are that short. Whoever waits in the event loop waits at least two turns of
        it, and has to register for each thing that may happen.
        """
        command = self._command
        if not command.alone or self._background is None or not self._background.alone:
            return False
        for limit in (command.timeout, command.idle_timeout):
            if limit is not None and limit <= 2 * _FIRST_WORDS:
                return False
        if exits_within(self._process, _FIRST_WORDS):
            self._drain()
            return not self._holders
        return False

    def ending(self) -> asyncio.Future[Ending]:
        """Return what will tell how it ended, from now on."""
        ending = self._ending = self._loop.create_future()
        self._forget_exit = on_exit(self._process, self._readiness, self._exit)
        began, command = self._last_heard, self._command
        self._at(began + _FIRST_WORDS, self._listen)
        if command.timeout is not None:
            self._at(began + command.timeout, partial(self._end, "timeout"))
        if command.idle_timeout is not None:
            self._when_silent(command.idle_timeout, partial(self._end, "idle"))
        if self._failure is not None:
            ending.set_exception(self._failure)
        return ending

    @property
    def must_end(self) -> bool:
        """Tell whether something is left that has to end, and there is no background to take it over."""
        if self._background is not None:
            return False
        left = self._command.leaves_nothing and leaves_something(self._sign, self._process.pid)
        return self._holders or left

    @property
    def _holders(self) -> bool:
        return self._pipes[0].open or self._pipes[1].open

    # what the pipes tell --------------------------------------------------------------------------------

    def on_data(self, stream: Stream, data: bytes) -> None:
        self._last_heard = self._loop.time()
        output = self._outputs.get(stream)
        if output is None:  # the step is over: what it left running is heard, but no longer kept
            return
        try:
            output.add(data)
        except OSError as error:
            what = f"cannot keep the output of {self._command.argv[0]}: {error}"
            raise ProcessError(what, fix="make room in the temporary directory, or set TMPDIR") from error

    def on_lines(self, stream: Stream, lines: Sequence[str]) -> None:
        if self._on_lines is not None:
            self._on_lines(stream, lines)

    def on_error(self, error: BaseException) -> None:
        if self._failure is None:
            self._failure = error
        if self._ending is not None and not self._ending.done():
            self._ending.set_exception(error)

    def on_end(self) -> None:
        if self._exited and not self._holders:
            self._end("exit")

    # how it ends ----------------------------------------------------------------------------------------

    def _end(self, ending: Ending) -> None:
        if self._ending is not None and not self._ending.done():
            self._ending.set_result(ending)

    def _drain(self) -> None:
        for pipe in self._pipes:
            pipe.drain()  # most often to its end, and then there is nothing to wait for

    def _exit(self) -> None:
        self._exited = True
        self._drain()
        self.on_end()
        if self._ending is not None and not self._ending.done():
            self._listen()
            self._last_heard = self._loop.time()
            self._at(self._last_heard + _LAST_WORDS, partial(self._end, "exit"))
            self._when_silent(_SILENCE, partial(self._end, "exit"))

    def _listen(self) -> None:
        for pipe in self._pipes:
            pipe.listen()

    def _at(self, when: float, then: Callable[[], None]) -> None:
        self._timers.append(self._loop.call_at(when, then))

    def _when_silent(self, seconds: float, then: Callable[[], None]) -> None:
        """Call `then` after this many seconds without output."""
        due = self._last_heard + seconds
        if self._loop.time() >= due:
            then()
        else:
            self._at(due, partial(self._when_silent, seconds, then))

    async def end(self) -> None:
        """End the process and everything that it started."""
        gone = await end_tree(self._sign, leader=self._process.pid, grace=self._command.grace)
        self._stop_waiting()
        self._close_pipes()
        if self._background is not None:
            self._background.ended(self._process.pid)
        if not gone:
            what = f"process {self._process.pid} ({self._command.argv[0]}) does not end"
            raise ProcessError(what, fix=f"look what holds it: `ps -o stat,wchan -p {self._process.pid}`")
        self._process.wait()

    def finished(self, ending: Ending, *, cut_off: bool = False) -> Finished:
        """Return how it ended. Processes that still hold its pipes go to the background of the run."""
        self._stop_waiting()
        if self._holders:
            self._drain()
        code, pid = self._process.wait(), self._process.pid
        if self._background is not None:
            self._background.ended(pid)
        if self._failure is not None:
            self._close_pipes()
            self.forget_output()
            raise self._failure
        stdout, stderr = self._outputs.pop("stdout"), self._outputs.pop("stderr")
        if self._background is not None and (self._holders or not TABLE or group_alive(pid)):
            self._background.take(pid, self._command.step, self._sign, self._close_pipes)
        return Finished(
            pid=pid,
            exit_code=code if code >= 0 else None,
            signal=-code if code < 0 else None,
            timed_out=ending == "timeout",
            idle_timed_out=ending == "idle",
            cut_off=cut_off,
            stdout=stdout,
            stderr=stderr,
        )

    def forget_output(self) -> None:
        for output in self._outputs.values():
            output.close()

    def _stop_waiting(self) -> None:
        for timer in self._timers:
            timer.cancel()
        if self._forget_exit is not None:
            self._forget_exit()
        self._stop_readiness()

    def _stop_readiness(self) -> None:
        if self._background is None:  # otherwise it serves all processes of the run
            self._readiness.close()

    def _close_pipes(self) -> None:
        for pipe in self._pipes:
            pipe.drain()
            pipe.close()
