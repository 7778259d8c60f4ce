"""Files replaced in one step, with the plain OSError that callers of a library expect."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from amplihack.errors import AmplihackError
from amplihack.system.files import write_atomic

PRIVATE = 0o600


def replace_bytes(path: Path, data: bytes, *, new_mode: int = PRIVATE) -> None:
    """Write the whole file; one that exists keeps its permissions. Raises OSError."""
    try:
        write_atomic(path, data, _mode(path, new_mode))
    except AmplihackError as error:
        if isinstance(error.__cause__, OSError):
            raise error.__cause__ from None
        raise


def replace_text(path: Path, text: str, *, new_mode: int = PRIVATE) -> None:
    replace_bytes(path, text.encode("utf-8", "surrogatepass"), new_mode=new_mode)


def replace_lines(path: Path, lines: Iterable[str]) -> int:
    """Write the lines as they come, however many; the file changes once all are there. Tells how many."""
    descriptor, name = tempfile.mkstemp(prefix=".new-", dir=path.parent)
    temporary = Path(name)
    count = 0
    try:
        with os.fdopen(descriptor, "wb") as file:
            for line in lines:
                file.write(line.encode("utf-8", "surrogatepass") + b"\n")
                count += 1
            file.flush()
            os.fchmod(descriptor, _mode(path, PRIVATE))
            os.fsync(descriptor)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return count


def _mode(path: Path, new_mode: int) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return new_mode
