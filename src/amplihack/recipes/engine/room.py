"""Ask Python whether its stack has room for another level of steps."""

from __future__ import annotations

import sys

_NEEDED = 250  # calls that a level, and what it asks of the world, may take


def has_room() -> bool:
    """Tell whether steps inside steps can go one level deeper without an error of Python."""
    left = sys.getrecursionlimit() - _NEEDED
    frame = sys._getframe()
    while left > 0 and frame.f_back is not None:
        frame, left = frame.f_back, left - 1
    return left > 0
