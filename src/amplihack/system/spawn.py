"""Start processes, and report when they exit."""

from __future__ import annotations

import asyncio
import errno
import os
import select
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from amplihack.errors import AmplihackError
from amplihack.records import Record, field
from amplihack.system.child import start_child, wait_for
from amplihack.system.lines import LONGEST_LINE
from amplihack.system.readiness import Readiness
from amplihack.system.spool import OUTPUT_LIMIT
from amplihack.system.watcher import replace_killed, watch_over_us, watched_by

GRACE = 5.0  # seconds between asking a process to end and insisting


class ProcessError(AmplihackError):
    """Raised when a process cannot be started, read or ended."""


class Command(Record, kw_only=True):
    """What to start, and where. `stdin` is the null device, these bytes, or this file."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    inherited: Mapping[str, bytes] = field(default_factory=dict)  # entries that `env` wins over
    step: str = ""  # the step that it is for, if any
    stdin: bytes | Path | None = None
    timeout: float | None = None
    idle_timeout: float | None = None  # seconds without a byte of output
    grace: float = GRACE
    output_limit: int = OUTPUT_LIMIT
    longest_line: int = LONGEST_LINE
    alone: bool = False  # whether nothing else is to be done before it has ended
    leaves_nothing: bool = False  # outside a run, end with it also what it started that holds no pipe of ours
    lines_at_once: bool = True  # False: the lines of a process that ends at once are not told


class Process:
    """A started process. `stdout` and `stderr` are our ends of its pipes."""

    def __init__(self, pid: int, stdout: int, stderr: int) -> None:
        self.pid, self.stdout, self.stderr = pid, stdout, stderr
        self._code: int | None = None
        self._alone: threading.Lock | None = None  # made where several threads wait

    def share(self) -> None:
        """Let other threads wait for it too."""
        self._alone = threading.Lock()

    def wait(self) -> int:
        """Return its exit code, or the negative number of the signal that ended it."""
        if self._alone is None:
            return self._waited()
        with self._alone:
            return self._waited()

    def _waited(self) -> int:
        if self._code is None:
            self._code = wait_for(self.pid)
        return self._code


def start(command: Command, variables: Mapping[str, bytes], limit: int = 0) -> Process:
    """Start it with these entries and this limit, leading a new session, with its output in pipes."""
    watch_over_us()
    opened: list[int] = []
    ours: tuple[int, ...] = ()
    try:
        opened += (stdin := _stdin(command.stdin),)
        opened += (stdout := os.pipe())
        opened += (stderr := os.pipe())
        pid = start_child(command.argv, variables, (stdin, stdout[1], stderr[1]), command.cwd, limit=limit)
        ours = (stdout[0], stderr[0])
    except (OSError, ValueError) as error:
        raise not_started(command, error) from error
    finally:
        for each in opened:
            if each not in ours:
                os.close(each)
    return Process(pid, *ours)


def _stdin(source: bytes | Path | None) -> int:
    """Open the input. Bytes go into an unnamed file, not a pipe: no size can block, nobody must feed it."""
    if isinstance(source, bytes):
        import tempfile  # deferred: few processes are given anything

        with tempfile.TemporaryFile() as file:
            file.write(source)
            file.seek(0)
            return os.dup(file.fileno())
    return os.open(os.devnull if source is None else source, os.O_RDONLY | os.O_CLOEXEC)


_START_FIXES = {
    errno.EACCES: "make it executable with `chmod +x`, or name its interpreter in front of it",
    errno.ENOEXEC: "give it a first line such as #!/bin/sh",
    errno.E2BIG: "its arguments or variables are too large: pass them in a file",
    errno.EMFILE: "too many files are open: lower --max-parallel, or raise `ulimit -n`",
    errno.EAGAIN: "too many processes run: lower --max-parallel, or raise `ulimit -u`",
    errno.ENOMEM: "there is no memory left: lower --max-parallel",
}


def not_started(command: Command, error: OSError | ValueError) -> ProcessError:
    """Return what to tell of a program that could not be started."""
    program = command.argv[0]
    match error:
        case FileNotFoundError() | NotADirectoryError() if not command.cwd.is_dir():
            what = f"cannot run {program}: the directory {command.cwd} does not exist"
            return ProcessError(what, fix="create it, or correct `working_dir:` or -C")
        case FileNotFoundError() if isinstance(command.stdin, Path) and error.filename == str(command.stdin):
            what = f"cannot run {program}: its input {error.filename} does not exist"
            return ProcessError(
                what, fix="do not remove files of the temporary directory while a run goes on"
            )
        case FileNotFoundError():
            fix = "install it, or name it by its full path"
            return ProcessError(f"cannot run {program}: no such program on the PATH", fix=fix)
        case OSError():
            fix = _START_FIXES.get(error.errno or 0, "check that it runs from a shell")
            return ProcessError(f"cannot run {program}: {error.strerror or error}", fix=fix)
        case UnicodeEncodeError() if "surrogates" not in error.reason:
            what = (
                f"the locale has no way to write {error.object[error.start]!a}, which a value or path holds"
            )
            return ProcessError(
                f"cannot run {program}: {what}", fix="use a UTF-8 locale, as in LC_ALL=C.UTF-8"
            )
        case _:
            what = "an argument, variable or path holds a character that no process can be given"
            return ProcessError(f"cannot run {program}: {what} ({error})", fix="remove it from the value")


def exits_within(process: Process, seconds: float) -> bool:
    """Wait so long for the exit of a process, and tell whether it came. It is not reaped."""
    if sys.platform != "linux":
        return False
    try:
        descriptor = os.pidfd_open(process.pid)
    except OSError:  # as below
        return False
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(seconds * 1_000))
    finally:
        os.close(descriptor)


def keep_watched(readiness: Readiness) -> Callable[[], None]:
    """Let another watcher take the place of ours as often as somebody kills it; the result ends that."""
    forget: list[Callable[[], None]] = []

    def follow() -> None:
        watcher = watched_by()
        if watcher is not None and sys.platform == "linux":
            with suppress(OSError):  # as below
                forget[:] = [_on_exit_by_descriptor(os.pidfd_open(watcher), readiness, renew)]

    def renew() -> None:
        if replace_killed():
            follow()

    def stop() -> None:
        while forget:
            forget.pop()()

    follow()
    return stop


def on_exit(process: Process, readiness: Readiness, tell: Callable[[], None]) -> Callable[[], None]:
    """Call `tell` in the event loop once when the process exits; the result cancels that.

    With process descriptors the process is not reaped, so its id stays reserved for its group. On other
    kernels a thread waits for it.
    """
    if sys.platform == "linux":
        with suppress(OSError):  # a kernel before 5.3, or one that forbids them
            return _on_exit_by_descriptor(os.pidfd_open(process.pid), readiness, tell)
    return _on_exit_by_thread(process, asyncio.get_running_loop(), tell)


def _on_exit_by_descriptor(
    descriptor: int, readiness: Readiness, tell: Callable[[], None]
) -> Callable[[], None]:
    waiting = [descriptor]

    def forget() -> None:
        if waiting:
            readiness.remove(descriptor)
            os.close(waiting.pop())

    def readable() -> None:
        forget()
        tell()

    readiness.add(descriptor, readable)
    return forget


def _on_exit_by_thread(
    process: Process, loop: asyncio.AbstractEventLoop, tell: Callable[[], None]
) -> Callable[[], None]:
    wanted = [tell]
    process.share()

    def told() -> None:
        while wanted:
            wanted.pop()()

    def wait() -> None:
        process.wait()
        with suppress(RuntimeError):  # the loop has closed: nobody is left to tell
            loop.call_soon_threadsafe(told)

    threading.Thread(target=wait, name=f"exit of {process.pid}", daemon=True).start()
    return wanted.clear
