"""Write moments, which are seconds since 1970. A damaged file or an immense timeout may hold any number."""

from __future__ import annotations

import time

_LAST = 253_402_214_400  # the last day of the year 9999, which calendars end with

UNKNOWN = "an unknown time"


def is_moment(seconds: float) -> bool:
    """Tell whether calendars have such a moment."""
    return 0 <= seconds < _LAST


def calendar_moment(seconds: float) -> float:
    """Return the moment, or the one of those in calendars that is nearest to it."""
    return min(max(seconds, 0), _LAST)


def local_time(seconds: float) -> str:
    """Return the time here, such as `2026-11-16 05:00:00`."""
    if not is_moment(seconds):
        return UNKNOWN
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
