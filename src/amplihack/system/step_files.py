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
        # The first stays open, with its number: steps that follow each other need no other.
        self._kept: tuple[str, int, int] | None = None

    def write(self, parts: Sequence[bytes]) -> str:
        """Write a file, and return its path. Raises ProcessError."""
        try:
            while self._free:
                path = self._free.pop()
                if self._written_again(path, parts):
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
            if self._kept is None:
                self._kept = path, os.dup(descriptor), os.fstat(descriptor).st_ino
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
        if self._kept is not None and self._kept[0] == path:
            os.close(self._kept[1])
            self._kept = None
        with suppress(OSError):  # a step has removed it, or made a directory of it: the run removes all
            os.unlink(path)  # noqa: PTH108 - a plain text: this runs at every step

    def _written_again(self, path: str, parts: Sequence[bytes]) -> bool:
        """Give a file another content, unless a step has made something else of it."""
        if self._kept is not None and self._kept[0] == path:
            _, descriptor, number = self._kept
            try:
                found = os.lstat(path)
            except OSError:
                return False
            return found.st_ino == number and _overwritten(descriptor, found, parts)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return False
        try:
            return _overwritten(descriptor, os.fstat(descriptor), parts)
        finally:
            os.close(descriptor)


def _overwritten(descriptor: int, found: os.stat_result, parts: Sequence[bytes]) -> bool:
    """Write a file from its start, if it is still a private one of one name."""
    if found.st_mode != _PRIVATE or found.st_nlink != 1:
        return False
    os.lseek(descriptor, 0, os.SEEK_SET)
    write_all(descriptor, *parts)
    size = sum(map(len, parts))
    if size < found.st_size:
        os.ftruncate(descriptor, size)
    return True
