"""Make words that nobody can guess.

`secrets` would do, but it loads OpenSSL to compare digests, which costs more than starting a shell.
"""

from __future__ import annotations

import os


def token(size: int) -> str:
    """Return `size` random bytes as hexadecimal digits."""
    return os.urandom(size).hex()
