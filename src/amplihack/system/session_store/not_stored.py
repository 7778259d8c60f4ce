"""Say why a session cannot be stored, and what helps against it."""

from __future__ import annotations

import errno

from amplihack.sessions.errors import SessionNotStored

_FULL = (errno.ENOSPC, errno.EDQUOT)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
_TOO_MANY = (errno.EMFILE, errno.ENFILE)
_NO_FILE = (errno.ELOOP, errno.EISDIR, errno.ENOTDIR)


def not_stored(what: str, error: OSError) -> SessionNotStored:
    """Return the error to raise: `what` is what could not be done."""
    return SessionNotStored(f"{what}: {error.strerror or error}", fix=_fix(error))


def _fix(error: OSError) -> str:
    if error.errno in _FULL:
        return "make room on that disk, then resume the session"
    if error.errno in _FORBIDDEN:
        return "give write access to it, then resume the session"
    if error.errno in _TOO_MANY:
        return "close some sessions, or allow more open files with `ulimit -n`, then resume the session"
    if error.errno in _NO_FILE:
        return "put a plain file or directory in its place; links are not followed"
    return "make room or give write access, then resume the session"
