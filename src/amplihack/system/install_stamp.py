"""Read and write the stamp of the installed version. What is no regular file is neither read nor replaced."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from io import FileIO
from pathlib import Path

from amplihack.errors import AmplihackError
from amplihack.install.decide import malformed_line
from amplihack.install.errors import shown_path
from amplihack.install.stamp import FOLDER, LONGEST_STAMP, NEW_STAMP, STAMP, parse_stamp
from amplihack.system.files import up_to
from amplihack.system.replace import PRIVATE, sync_path, write_atomic


class StampRefused(AmplihackError):
    """Raised for a stamp that is no regular file: somebody may want us to overwrite what it names."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"the install stamp {shown_path(path)} is a link or no regular file",
            fix="look at what it is and who made it, then delete it",
        )


def read_stamp(root: Path, warn: Callable[[str], None]) -> str | None:
    """Return the version that is staged; None without a stamp, or with a malformed one, which is told.

    Raises StampRefused, and AmplihackError for a stamp that cannot be read.
    """
    path = root / STAMP
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise StampRefused(path)
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with FileIO(descriptor) as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise StampRefused(path)
            data = up_to(file, LONGEST_STAMP + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        what = f"the install stamp {shown_path(path)} cannot be read: {error.strerror}"
        raise AmplihackError(what, fix="check who may read it") from error
    found = parse_stamp(data)
    if found is None:
        warn(malformed_line(shown_path(path), data))
    return found


def write_stamp(root: Path, stamp: str) -> None:
    """Replace the stamp in one step, for its owner alone. Raises StampRefused or AmplihackError.

    It is written in a directory of our own: what a crash leaves there, the next install removes.
    """
    require_regular_stamp(root)
    new = root / FOLDER / NEW_STAMP
    new.parent.mkdir(mode=0o700, exist_ok=True)
    write_atomic(new, stamp.encode("ascii"), PRIVATE)
    new.replace(root / STAMP)
    sync_path(root)


def require_regular_stamp(root: Path) -> None:
    """Raise StampRefused for a stamp that is there and is no regular file."""
    path = root / STAMP
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISREG(status.st_mode):
        raise StampRefused(path)
