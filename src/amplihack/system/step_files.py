"""Write the files that steps read, in a private directory that the run removes."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from amplihack.system.random_tokens import token
from amplihack.system.spawn import ProcessError
from amplihack.system.spool import write_all

_PRIVATE = stat.S_IFREG | stat.S_IRUSR | stat.S_IWUSR


class StepFiles:
    """The files of one run. One that a step has given back is written again for the next.

    To make a file and to remove it takes some disks a quarter of the time in which bash starts.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = str(directory)
        self._free: list[str] = []

    def write(self, parts: Sequence[bytes]) -> str:
        """Write a file, and return its path. Raises ProcessError."""
        try:
            while self._free:
                path = self._free.pop()
                if _written_again(path, parts):
                    return path
                self.remove(path)
            return self._new(parts)
        except OSError as error:
            what = f"cannot write a file for the step: {error.strerror or error}"
            raise ProcessError(what, fix="make room in the temporary directory, or set TMPDIR") from error

    def _new(self, parts: Sequence[bytes]) -> str:
        path = f"{self._directory}/step-{token(8)}"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            write_all(descriptor, *parts)
        except OSError:
            self.remove(path)
            raise
        finally:
            os.close(descriptor)
        return path

    def give_back(self, path: str) -> None:
        """Keep a file that no step reads any more for the next that needs one."""
        self._free.append(path)

    def clear(self) -> None:
        """Remove what was given back."""
        while self._free:
            self.remove(self._free.pop())

    def remove(self, path: str) -> None:
        with suppress(OSError):  # a step has removed it, or made a directory of it: the run removes all
            os.unlink(path)  # noqa: PTH108 - a plain text: this runs at every step


def _written_again(path: str, parts: Sequence[bytes]) -> bool:
    """Give a file another content, unless a step has made something else of it."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        found = os.fstat(descriptor)
        if found.st_mode != _PRIVATE or found.st_nlink != 1:
            return False
        write_all(descriptor, *parts)
        size = sum(map(len, parts))
        if size < found.st_size:
            os.ftruncate(descriptor, size)
        return True
    finally:
        os.close(descriptor)
