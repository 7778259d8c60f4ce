"""Putting a finished directory in its place in one step, whether or not something is there already."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
from pathlib import Path

_AT_FDCWD, _EXCHANGE = -100, 2
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)
_ASIDE = ".old"


def publish(new: Path, place: Path) -> None:
    """Rename `new` to `place`; what was there before is at `new` afterwards, or nothing is."""
    if not os.path.lexists(place):
        new.rename(place)
    elif not exchange(new, place):
        _replace_in_two_steps(new, place)


def exchange(first: Path, second: Path) -> bool:
    """Swap two names in one step; False where the system or the file system cannot."""
    import ctypes  # slow to import, and needed for updates only

    library = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(first), os.fsencode(second)
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        failed = library.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _EXCHANGE)
    elif sys.platform == "darwin" and hasattr(library, "renamex_np"):
        failed = library.renamex_np(*names, _EXCHANGE)
    else:
        return False
    number = ctypes.get_errno() if failed else 0
    if number and number not in _UNSUPPORTED:
        raise OSError(number, os.strerror(number), str(second))
    return not failed


def recover(place: Path, incoming: Path) -> None:
    """Put back what a process that died between the two steps of a replacement had moved aside."""
    if is_aside(place, incoming):
        (incoming / f"{place.name}{_ASIDE}").rename(place)


def is_aside(place: Path, incoming: Path) -> bool:
    """Whether a replacement of `place` is between its two steps, or died there."""
    return (incoming / f"{place.name}{_ASIDE}").is_dir() and not os.path.lexists(place)


def remove_tree(path: Path) -> None:
    """Remove a directory and all in it, also what was made read-only; links are not followed."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    for attempts_left in (2, 1, 0):  # a git that lost its parent may still be writing
        try:
            shutil.rmtree(path)
        except OSError as error:
            if not path.exists():
                return
            if attempts_left == 0:
                raise
            if isinstance(error, PermissionError):
                _open_up(path)
        else:
            return


def _replace_in_two_steps(new: Path, place: Path) -> None:
    aside = new.parent / f"{place.name}{_ASIDE}"
    place.rename(aside)
    try:
        new.rename(place)
    except OSError:
        aside.rename(place)
        raise
    aside.rename(new)


def _open_up(path: Path) -> None:
    """A directory without write permission keeps its content from removal; we made it, so we may open it."""
    for directory, _, _ in os.walk(path):
        Path(directory).chmod(stat.S_IRWXU)
