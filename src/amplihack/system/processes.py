"""The one place that runs processes: output streamed and kept at any size, nothing left running.

A process leads a session of its own, so that its whole tree can be ended. When it exits, whatever still
holds its output pipes gets a short moment to finish and is then ended too; a background process that sent
its output elsewhere (`server >log 2>&1 &`) lives on, and `Finished.left_running` says how to end it later.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from functools import partial
from typing import IO, Literal, TypeAlias, TypeVar, cast

from amplihack.records import Record
from amplihack.system.lines import LineSplitter
from amplihack.system.process_tree import end_tree, group_alive
from amplihack.system.spawn import GRACE, Command, ProcessError, on_exit, start
from amplihack.system.spool import Captured
from amplihack.system.undisturbed import undisturbed

__all__ = ["Captured", "Command", "Finished", "LineListener", "ProcessError", "end_leftover", "run_process"]

_SILENCE = 0.2  # seconds without output after which those who hold a dead process's pipes are ended
_LAST_WORDS = 2.0  # seconds that they get in all, however much they print
_READ = 262_144

Stream: TypeAlias = Literal["stdout", "stderr"]
LineListener: TypeAlias = Callable[[Stream, str], None]
Ending: TypeAlias = Literal["exit", "timeout", "idle"]
T = TypeVar("T")


class Finished(Record, kw_only=True):
    """How a process ended: by `exit_code` or by `signal`, and what it printed."""

    pid: int
    exit_code: int | None
    signal: int | None
    timed_out: bool
    idle_timed_out: bool
    stdout: Captured
    stderr: Captured
    left_running: int | None  # for `end_leftover`: the group of its background processes

    @property
    def ok(self) -> bool:
        return self.exit_code == 0 and not self.timed_out and not self.idle_timed_out

    @property
    def status(self) -> str:
        """`exit 3`, or `signal 15` for a process that was killed."""
        return f"exit {self.exit_code}" if self.signal is None else f"signal {self.signal}"


async def run_process(command: Command, on_line: LineListener | None = None) -> Finished:
    """Run to the end, or to a timeout; when cancelled, end the whole tree first."""
    watch = _Watch(command, on_line)
    try:
        ending = await watch.ending
    except BaseException:  # cancelled, a listener that raised, a full disk
        await undisturbed(watch.close("timeout"))
        for output in watch.outputs.values():
            output.close()
        raise
    await undisturbed(watch.close(ending))
    return watch.finished(ending)


async def end_leftover(group: int, *, grace: float = GRACE) -> None:
    """End the background processes that `Finished.left_running` names, if they are still there."""
    if group_alive(group) and not await undisturbed(end_tree(group, grace=grace)):
        raise ProcessError(f"processes of group {group} do not end")


class _Pipe:
    """One output stream of a process, read in chunks while the event loop does other things."""

    def __init__(self, file: IO[bytes], name: Stream, watch: _Watch) -> None:
        self.open = True
        self._file, self._name, self._watch = file, name, watch
        self._splitter = LineSplitter(watch.command.longest_line)
        os.set_blocking(file.fileno(), False)
        watch.loop.add_reader(file.fileno(), self._readable)

    def _readable(self) -> None:
        try:
            data = os.read(self._file.fileno(), _READ)
            self._watch.heard()
            self._take(data)
        except BlockingIOError:
            return
        except BaseException as error:  # noqa: BLE001 - whoever waits for us raises it
            self._watch.fail(error)

    def _take(self, data: bytes) -> None:
        if not data:
            self.close()
            return
        try:
            self._watch.outputs[self._name].add(data)
        except OSError as error:
            raise ProcessError(f"cannot keep the output of {self._watch.command.argv[0]}: {error}") from error
        if self._watch.on_line is not None:
            self._tell(self._splitter.feed(data))

    def _tell(self, lines: list[str]) -> None:
        for line in lines:
            if self._watch.on_line is not None:
                self._watch.on_line(self._name, line)

    def close(self) -> None:
        if self.open:
            self.open = False
            self._watch.loop.remove_reader(self._file.fileno())
            self._file.close()
            self._watch.pipe_closed()
            self._tell(self._splitter.end())

    def drain(self) -> None:
        """Take what a process that is gone has left in the pipe, which is not much, and close it."""
        for _ in range(64):
            if self.open:
                self._readable()
        try:
            self.close()
        except BaseException as error:  # noqa: BLE001 - as above
            self._watch.fail(error)


class _Watch:
    """A running process and everything that is waited for on its behalf."""

    def __init__(self, command: Command, on_line: LineListener | None) -> None:
        self.command, self.on_line = command, on_line
        self.loop = asyncio.get_running_loop()
        self.ending: asyncio.Future[Ending] = self.loop.create_future()
        # Handed over at the end: this object is part of cycles, and they must not keep a large file open.
        self.outputs: dict[Stream, Captured] = {
            "stdout": Captured(command.output_limit),
            "stderr": Captured(command.output_limit),
        }
        self._failure: BaseException | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._exited = False
        self._process = start(command)
        self._last_heard = self.loop.time()
        self._forget_exit = on_exit(self._process, self._exit)
        self._stdout = _Pipe(cast("IO[bytes]", self._process.stdout), "stdout", self)
        self._stderr = _Pipe(cast("IO[bytes]", self._process.stderr), "stderr", self)
        if command.timeout is not None:
            self._at(self._last_heard + command.timeout, "timeout", partial(self._end, "timeout"))
        if command.idle_timeout is not None:
            self._when_silent(command.idle_timeout, "idle", partial(self._end, "idle"))

    def heard(self) -> None:
        self._last_heard = self.loop.time()

    def fail(self, error: BaseException) -> None:
        if self._failure is None:
            self._failure, self.on_line = error, None
        if not self.ending.done():
            self.ending.set_exception(error)

    def pipe_closed(self) -> None:
        if self._exited and not self._stdout.open and not self._stderr.open:
            self._end("exit")

    def _end(self, ending: Ending) -> None:
        if not self.ending.done():
            self.ending.set_result(ending)

    def _exit(self) -> None:
        self._exited = True
        self.heard()
        self.pipe_closed()
        if not self.ending.done():
            self._at(self._last_heard + _LAST_WORDS, "last words", partial(self._end, "exit"))
            self._when_silent(_SILENCE, "silence", partial(self._end, "exit"))

    def _at(self, when: float, name: str, then: Callable[[], None]) -> None:
        self._timers[name] = self.loop.call_at(when, then)

    def _when_silent(self, seconds: float, name: str, then: Callable[[], None]) -> None:
        """Call once nothing has been heard for so long; looks again only when that may be."""
        due = self._last_heard + seconds
        if self.loop.time() >= due:
            then()
        else:
            self._at(due, name, partial(self._when_silent, seconds, name, then))

    async def close(self, ending: Ending) -> None:
        """Leave nothing behind: no timer, no pipe, no process that should not stay."""
        for timer in self._timers.values():
            timer.cancel()
        pipes, gone = (self._stdout, self._stderr), True
        if ending != "exit" or any(pipe.open for pipe in pipes):
            gone = await end_tree(self._process.pid, grace=self.command.grace)
        for pipe in pipes:
            pipe.drain()
        self._forget_exit()
        if not gone:
            raise ProcessError(f"process {self._process.pid} ({self.command.argv[0]}) does not end")
        self._process.wait()

    def finished(self, ending: Ending) -> Finished:
        if self._failure is not None:
            raise self._failure
        code, pid = self._process.returncode, self._process.pid
        return Finished(
            pid=pid,
            exit_code=code if code >= 0 else None,
            signal=-code if code < 0 else None,
            timed_out=ending == "timeout",
            idle_timed_out=ending == "idle",
            stdout=self.outputs.pop("stdout"),
            stderr=self.outputs.pop("stderr"),
            left_running=pid if group_alive(pid) else None,
        )
