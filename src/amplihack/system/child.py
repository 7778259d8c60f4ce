"""Start a child process, in the quickest way that this Python has for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from amplihack.system.limit_marks import marking

# What `subprocess` itself uses: one call makes the session, moves the streams, closes every other descriptor
# and changes the directory. `Popen` takes twice as long around it, `posix_spawn` cannot do all of that.
# It is no public function: where it is missing or has changed, `Popen` does the work.
_fork_exec: Any = None
with suppress(ImportError):
    from _posixsubprocess import fork_exec as _fork_exec
_AS_FILES = (sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())  # what `os.fsencode` uses
_VFORK = (True,) if sys.version_info < (3, 14) else ()  # a parameter that later ones do without


def entries(variables: Mapping[str, str]) -> dict[str, bytes]:
    """Return variables as a process gets them, `NAME=value`, by name. Raises ValueError for unfit ones."""
    if "=" in "".join(variables):
        raise ValueError("no variable can have a `=` in its name")
    return {name: f"{name}={text}".encode(*_AS_FILES) for name, text in variables.items()}


def start_child(
    argv: tuple[str, ...],
    variables: Mapping[str, bytes],
    streams: tuple[int, int, int],
    cwd: Path | None = None,
    *,
    limit: int = 0,
) -> int:
    """Start a program as the leader of a new session with these three streams, and return its id.

    `variables` are entries, `limit` is the mark that it gets, if any. Raises OSError or ValueError.
    """
    ours = marking() if limit else None
    if ours is None:
        return _start(argv, variables, streams, cwd)
    ours.give(limit)
    try:
        return _start(argv, variables, streams, cwd)
    finally:
        ours.give(ours.own)


def _start(
    argv: tuple[str, ...], variables: Mapping[str, bytes], streams: tuple[int, int, int], cwd: Path | None
) -> int:
    if _fork_exec is not None and min(streams) > 2 and "/" in argv[0]:
        reading, writing = os.pipe()  # tells why the program could not be started
        try:
            pid = _started(argv, list(variables.values()), streams, cwd, (reading, writing))
            os.close(writing)
            writing = -1
            if pid is not None:
                failure = os.read(reading, 1_000)
                if failure:
                    wait_for(pid)
                    raise _told(failure, argv[0], cwd)
                return pid
        finally:
            os.close(reading)
            if writing >= 0:
                os.close(writing)
    return _by_popen(argv, variables.values(), streams, cwd)


def _started(
    argv: tuple[str, ...],
    variables: list[bytes],
    streams: tuple[int, int, int],
    cwd: Path | None,
    failing: tuple[int, int],
) -> int | None:
    """Return the id of the child; None if this Python wants to be asked in another way."""
    stdin, stdout, stderr = streams
    reading, writing = failing
    words = [word.encode(*_AS_FILES) for word in argv]
    # Everything is closed but the three streams and what tells of a failure; that is closed by the program.
    closing = (True, (writing,), None if cwd is None else str(cwd))
    moved = (stdin, -1, -1, stdout, -1, stderr)
    # Signals that Python ignores are restored; a session is made; group, groups, user and mask stay.
    how = (True, True, -1, None, None, None, -1, None)
    try:
        pid: int = _fork_exec(words, words[:1], *closing, variables, *moved, reading, writing, *how, *_VFORK)
    except TypeError:
        return None
    return pid


def _told(failure: bytes, program: str, cwd: Path | None) -> OSError | ValueError:
    """Return the error that the child told: its kind, its number, and whether it was about the directory."""
    kind, _, rest = failure.partition(b":")
    number, _, about = rest.partition(b":")
    if kind != b"OSError" or not number:
        return ValueError(f"the process could not be prepared: {os.fsdecode(failure)}")
    code = int(number, 16)
    return OSError(code, os.strerror(code), str(cwd) if about.startswith(b"noexec") else program)


def _by_popen(
    argv: tuple[str, ...], variables: Iterable[bytes], streams: tuple[int, int, int], cwd: Path | None
) -> int:
    import subprocess  # deferred: seldom needed

    pairs: Any = (each.partition(b"=")[::2] for each in variables)
    stdin, stdout, stderr = streams
    popen = subprocess.Popen(  # noqa: S603 - starting what we are told to is the purpose
        argv,
        cwd=cwd,
        env=dict(pairs),
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    )
    popen.returncode = 0  # it is the caller who waits
    return popen.pid


def wait_for(pid: int) -> int:
    """Return the exit code of a child, or the negative number of the signal that ended it."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:  # the program that uses us as a library ignores SIGCHLD
        return 0
