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
from pathlib import Path
from typing import IO, TypeAlias

from amplihack.errors import AmplihackError
from amplihack.records import Record
from amplihack.system.lines import LONGEST_LINE
from amplihack.system.spool import OUTPUT_LIMIT

GRACE = 5.0  # seconds between asking a process to end and insisting

Process: TypeAlias = "subprocess.Popen[bytes]"


class ProcessError(AmplihackError):
    """A process that could not be started, heard or ended."""


class Command(Record, kw_only=True):
    """What to start, and where. `stdin` is the null device, these bytes, or this file."""

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    stdin: bytes | Path | None = None
    timeout: float | None = None
    idle_timeout: float | None = None  # seconds without a byte of output
    grace: float = GRACE
    output_limit: int = OUTPUT_LIMIT
    longest_line: int = LONGEST_LINE


def start(command: Command) -> Process:
    """Start it as the leader of a new session, its output in pipes."""
    with ExitStack() as ours:
        try:
            stdin = _stdin(command.stdin, ours)
            return subprocess.Popen(  # noqa: S603 - starting what we are told to is the purpose
                command.argv,
                cwd=command.cwd,
                env=dict(command.env),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise _not_started(command, error) from error


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
