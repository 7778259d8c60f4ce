"""Put one name in the place of another in one step, whatever kind of file each of them is."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path

_AT_FDCWD = {"linux": -100, "darwin": -2}
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS
_CALLS = {"linux": "renameat2", "darwin": "renameatx_np"}
_NOT_HERE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)


def exchange(one: Path, other: Path) -> bool:
    """Exchange what two names stand for. Returns False where the system or the file system cannot do it."""
    call = getattr(ctypes.CDLL(None, use_errno=True), _CALLS.get(sys.platform, ""), None)
    if call is None:
        return False
    here = _AT_FDCWD[sys.platform]
    if call(here, os.fsencode(one), here, os.fsencode(other), ctypes.c_uint(_EXCHANGE)) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_HERE:
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))
