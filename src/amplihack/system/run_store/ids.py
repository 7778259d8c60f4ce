"""Make the ids of runs: they sort by time, are short enough to type, and are not used twice."""

from __future__ import annotations

import os
import time

# Digits and letters in the order of ASCII, without those that are easily mistaken for another.
_DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
_BEGINNING = 1_704_067_200  # 2024-01-01: six digits of seconds since then last until 2058
_RANDOM = 5


def new_run_id() -> str:
    """Return an id such as `02tq4k-x3m9p`: the time in seconds, and a random part."""
    seconds = max(0, int(time.time()) - _BEGINNING)
    chance = int.from_bytes(os.urandom(4)) % 32**_RANDOM
    return f"{_spelled(seconds, 6)}-{_spelled(chance, _RANDOM)}"


def _spelled(number: int, width: int) -> str:
    digits = ""
    for _ in range(width):
        number, digit = divmod(number, 32)
        digits = _DIGITS[digit] + digits
    return digits
