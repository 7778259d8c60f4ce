"""Read what other programs, or a person, write to our stdin."""

from __future__ import annotations

import os
import select
import stat
import sys

from amplihack.documents import MAX_BYTES
from amplihack.errors import InputError

_SILENCE = 2.0  # seconds without anything on stdin before that is told


def read_stdin(limit: int = MAX_BYTES) -> bytes:
    """Return all of stdin. Raises InputError if nothing comes, too much, or it cannot be read."""
    if sys.stdin.isatty():
        sys.stderr.write("reading the recipe from the terminal; Ctrl-D on a line of its own ends it\n")
        sys.stderr.flush()
    try:
        data = sys.stdin.buffer.read(limit + 1)
    except OSError as error:
        raise InputError(
            f"IO error: stdin cannot be read: {error.strerror}", fix="send a recipe to it: … | amplihack …"
        ) from error
    if len(data) > limit:
        raise InputError(
            f"the recipe on stdin is too large. Maximum allowed: {limit} bytes",
            fix="divide it into sub-recipes, or read long texts from files",
        )
    if not data.strip():
        raise InputError(
            "nothing came on stdin", fix="send a recipe to it, such as `cat my.yaml | amplihack recipe run -`"
        )
    return data


def typed_line() -> str:
    """Return a line that a person types, whatever bytes are in it; empty at the end of the input."""
    return sys.stdin.buffer.readline().decode(sys.stdin.encoding, "replace")


def attached_stdin(limit: int = MAX_BYTES) -> str:
    """Return what is piped to us beside a prompt; empty if stdin is neither a pipe nor a file.

    Whoever leaves a pipe open would wait without a word, so the waiting is told. Raises InputError.
    """
    if not _is_piped():
        return ""
    if not select.select([sys.stdin], [], [], _SILENCE)[0]:
        sys.stderr.write("waiting for stdin; `</dev/null` asks without it\n")
        sys.stderr.flush()
    return prompt_of_stdin(limit)


def prompt_of_stdin(limit: int = MAX_BYTES) -> str:
    """Return all of stdin as text. Raises InputError if it is too much or cannot be read."""
    try:
        data = sys.stdin.buffer.read(limit + 1)
    except OSError as error:
        fix = "pipe a text to it, or give the prompt as an argument"
        raise InputError(f"IO error: stdin cannot be read: {error.strerror}", fix=fix) from error
    if len(data) > limit:
        fix = "write it to a file and let the agent read that"
        raise InputError(f"what comes on stdin is too large. Maximum allowed: {limit} bytes", fix=fix)
    return data.decode("utf-8", "replace").strip()


def _is_piped() -> bool:
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)
