"""Starting a process, and being told when it exits."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from amplihack.errors import AmplihackError
from amplihack.system.lines import LONGEST_LINE
from amplihack.system.spool import OUTPUT_LIMIT
from amplihack.system.watcher import watch_over_us

GRACE = 5.0  # seconds between asking a process to end and insisting


class ProcessError(AmplihackError):
    """A process that could not be started, heard or ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to start, and where. `stdin` is the null device, these bytes, or this file."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    step: str = ""  # the step that it is for, if any
    stdin: bytes | Path | None = None
    timeout: float | None = None
    idle_timeout: float | None = None  # seconds without a byte of output
    grace: float = GRACE
    output_limit: int = OUTPUT_LIMIT
    longest_line: int = LONGEST_LINE


class Process:
    """A started process; `stdout` and `stderr` are our ends of its pipes."""

    def __init__(self, popen: subprocess.Popen[bytes], stdout: int, stderr: int) -> None:
        self._popen, self.stdout, self.stderr = popen, stdout, stderr

    @property
    def pid(self) -> int:
        return self._popen.pid

    def wait(self) -> int:
        """Return its exit code, or the negative number of the signal that ended it."""
        return self._popen.wait()


def start(command: Command) -> Process:
    """Start it as the leader of a new session, its output in pipes."""
    watch_over_us()
    with ExitStack() as ours, ExitStack() as ends:
        try:
            stdin = _stdin(command.stdin, ours)
            stdout, theirs = _pipe(ours, ends)
            stderr, theirs_too = _pipe(ours, ends)
            popen = subprocess.Popen(  # noqa: S603 - starting what we are told to is the purpose
                command.argv,
                cwd=command.cwd,
                env=command.env,
                stdin=stdin,
                stdout=theirs,
                stderr=theirs_too,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise _not_started(command, error) from error
        ends.pop_all()
        return Process(popen, stdout, stderr)


def _pipe(ours: ExitStack, ends: ExitStack) -> tuple[int, int]:
    """Open a pipe; its writing end is closed with `ours`, its reading end with `ends`."""
    reading, writing = os.pipe()
    ends.callback(os.close, reading)
    ours.callback(os.close, writing)
    return reading, writing


def _stdin(source: bytes | Path | None, ours: ExitStack) -> IO[bytes] | int:
    """Bytes travel in a nameless file rather than a pipe: no size can block, and nobody has to feed it."""
    if source is None:
        return subprocess.DEVNULL
    if isinstance(source, Path):
        return ours.enter_context(source.open("rb"))
    file = ours.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
    file.write(source)
    file.seek(0)
    return file


def _not_started(command: Command, error: OSError | ValueError) -> ProcessError:
    program = command.argv[0]
    match error:
        case FileNotFoundError() | NotADirectoryError() if not command.cwd.is_dir():
            return ProcessError(f"cannot run {program}: the directory {command.cwd} does not exist")
        case FileNotFoundError() if isinstance(command.stdin, Path) and error.filename == str(command.stdin):
            return ProcessError(f"cannot run {program}: its input {error.filename} does not exist")
        case FileNotFoundError():
            fix = "install it, or name it by its full path"
            return ProcessError(f"cannot run {program}: no such program on the PATH", fix=fix)
        case OSError():
            return ProcessError(f"cannot run {program}: {error.strerror or error}")
        case _:
            what = "an argument, variable or path holds a character that no process can be given"
            return ProcessError(f"cannot run {program}: {what} ({error})")


def on_exit(process: Process, tell: Callable[[], None]) -> Callable[[], None]:
    """Call `tell` in the event loop once, as soon as the process exits; the result takes that back.

    Where the kernel has process descriptors the process is not reaped, so its number stays reserved for its
    group. Elsewhere a thread waits for it.
    """
    loop = asyncio.get_running_loop()
    if sys.platform == "linux":
        with suppress(OSError):  # a kernel before 5.3, or one that forbids them
            return _on_exit_by_descriptor(os.pidfd_open(process.pid), loop, tell)
    return _on_exit_by_thread(process, loop, tell)


def _on_exit_by_descriptor(
    descriptor: int, loop: asyncio.AbstractEventLoop, tell: Callable[[], None]
) -> Callable[[], None]:
    waiting = [descriptor]

    def forget() -> None:
        while waiting:
            loop.remove_reader(waiting[0])
            os.close(waiting.pop())

    def readable() -> None:
        forget()
        tell()

    loop.add_reader(descriptor, readable)
    return forget


def _on_exit_by_thread(
    process: Process, loop: asyncio.AbstractEventLoop, tell: Callable[[], None]
) -> Callable[[], None]:
    wanted = [tell]

    def told() -> None:
        while wanted:
            wanted.pop()()

    def wait() -> None:
        process.wait()
        with suppress(RuntimeError):  # the loop has closed: nobody is left to tell
            loop.call_soon_threadsafe(told)

    threading.Thread(target=wait, name=f"exit of {process.pid}", daemon=True).start()
    return wanted.clear
