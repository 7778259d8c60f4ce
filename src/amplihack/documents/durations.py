"""Read a length of time as people write it: `90`, `1.5`, `500ms`, `90s`, `5m`, `1h30m`, `2d`, `1w`."""

from __future__ import annotations

import math

from amplihack.patterns import pattern

EXPECTED = "a number of seconds, or a duration such as 5m"
FIX = "write seconds, or a duration of the units ms, s, m, h, d and w: 90, 1.5, 500ms, 5m, 1h30m, 2d"
_FIX_MILLISECONDS = "write whole milliseconds, or a duration: 500, 500ms, 5s, 1m30s"

_UNITS = (("w", 604_800.0), ("d", 86_400.0), ("h", 3_600.0), ("m", 60.0), ("s", 1.0), ("ms", 0.001))
_AMOUNT = r"[0-9]+(\.[0-9]+)?"
# For editors. Each unit once, the longest first; the look-ahead makes sure that there is one.
SCHEMA = rf"^{_AMOUNT}$|^(?=[0-9])" + "".join(rf"({_AMOUNT}{unit} ?)?" for unit, _ in _UNITS) + "$"
_NUMBER = pattern(r"\+?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_CLOCK = pattern(r"([0-9]{1,4}):([0-5][0-9])(?::([0-5][0-9]))?")
_ISO = pattern(r"P[0-9T]")  # ISO 8601: PT5M
_PARTS = pattern(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-zµ]+)")
_WORDS = {
    "milliseconds": "ms", "millisecond": "ms", "msec": "ms", "msecs": "ms",
    "seconds": "s", "second": "s", "secs": "s", "sec": "s",
    "minutes": "m", "minute": "m", "mins": "m", "min": "m",
    "hours": "h", "hour": "h", "hrs": "h", "hr": "h",
    "days": "d", "day": "d", "weeks": "w", "week": "w",
}  # fmt: skip


def seconds_in(text: str) -> float | None:
    """Return the seconds that a text says, or None where it is neither a number nor a duration."""
    text = text.strip()
    if _NUMBER.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else None
    parts = _split(text)
    units = [unit for _, unit in parts]
    if not parts or units != [unit for unit, _ in _UNITS if unit in units]:
        return None
    worth = dict(_UNITS)
    total = sum(float(amount) * worth[unit] for amount, unit in parts)
    return total if math.isfinite(total) else None


def fix_for(text: str, *, milliseconds: bool = False) -> str:
    """Return how to write a length of time that could not be read."""
    if clock := _CLOCK.fullmatch(text.strip()):
        return _as_units(*clock.groups())
    words = text.strip()[1:].replace("T", "") if _ISO.match(text.strip()) else text
    parts = [(amount, _WORDS.get(unit.lower(), unit.lower())) for amount, unit in _split(words)]
    meant = "".join(f"{amount}{unit}" for amount, unit in parts)
    if meant and seconds_in(meant) is not None:
        return f"write {meant}"
    return _FIX_MILLISECONDS if milliseconds else FIX


def _as_units(first: str, second: str, third: str | None) -> str:
    """Say how to write a time with colons; of two parts nobody knows the units."""
    one, two = int(first), int(second)
    if third is not None:
        return f"write {one}h{two}m{int(third)}s"
    return f"write {one}m{two}s, or {one}h{two}m if these are hours and minutes"


def _split(text: str) -> list[tuple[str, str]]:
    """Return the amounts and units that a text is made of, or nothing where there is more in it."""
    found, end = [], 0
    while part := _PARTS.match(text, end):
        found.append((part[1], part[2]))
        end = part.end()
    return found if not text[end:].strip() else []
