"""Read what somebody names on a command line: a file, or a pipe such as `<(pass show x)` and stdin.

A pipe can be read once. So only what is read once for a command comes this way: values, never recipes.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from amplihack.errors import InputError
from amplihack.system.files import decoded, read_bytes
from amplihack.system.home import Home

_STDIN = "/dev/stdin"
_SILENCE = 2.0  # seconds without anything before that is told
_PART = 65_536


def given_path(home: Home, name: str) -> Path:
    """Return the path that a name means: `-` is stdin."""
    return Path(_STDIN) if name == "-" else home.path(name)


def is_stdin(name: str) -> bool:
    """Tell whether a name means stdin, of which there is one."""
    return name in ("-", _STDIN, "/dev/fd/0", "/proc/self/fd/0")


def given_bytes(path: Path, *, limit: int, kind: str) -> bytes:
    """Read a regular file or a pipe to its end, at most `limit` bytes. Raises NotFound or InputError."""
    try:
        is_pipe = stat.S_ISFIFO(path.stat().st_mode)
    except (OSError, ValueError):
        is_pipe = False  # what is wrong with it is told below
    return _all_of_pipe(path, limit, kind) if is_pipe else read_bytes(path, limit=limit, kind=kind)


def given_text(path: Path, *, limit: int, kind: str) -> str:
    """Read the UTF-8 text of a file or a pipe, with the rules of `given_bytes`."""
    return decoded(given_bytes(path, limit=limit, kind=kind), path)


def _all_of_pipe(path: Path, limit: int, kind: str) -> bytes:
    import select  # deferred: hardly any command reads a pipe

    parts: list[bytes] = []
    size = 0
    try:
        # O_NONBLOCK: a pipe that nobody writes to is waited for below, and that is told.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not select.select([descriptor], [], [], _SILENCE)[0]:
                sys.stderr.write(f"waiting for {path}, which is a pipe that nothing comes from\n")
                sys.stderr.flush()
            while size <= limit and select.select([descriptor], [], []):
                part = os.read(descriptor, _PART)
                if not part:
                    break
                parts.append(part)
                size += len(part)
        finally:
            os.close(descriptor)
    except OSError as error:
        what = f"IO error: cannot read {path}: {error.strerror or error}"
        raise InputError(what, fix="write it to a file, and name that") from error
    if size > limit:
        fix = "give it less, or write the text to a file that a step reads"
        raise InputError(f"{kind} too large: {path} has more than {limit} bytes", fix=fix)
    return b"".join(parts)
