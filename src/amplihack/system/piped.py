"""Read what other programs, or a person, write to our stdin."""

from __future__ import annotations

import sys

from amplihack.documents import MAX_BYTES
from amplihack.errors import InputError


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
