"""Let a process die with the one that started it, until it says that it goes on alone.

Linux alone can do so. Elsewhere a process that lost its parent is noticed when it asks, and no earlier.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG


def die_with(parent: int) -> None:
    """Be killed when `parent`, the process that forked this one, ends; at once if it has ended."""
    _on_death_of_parent(signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(128 + signal.SIGKILL)


def live_on() -> None:
    """Outlive the parent from now on."""
    _on_death_of_parent(0)


def _on_death_of_parent(number: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, ctypes.c_ulong(number), 0, 0, 0)
